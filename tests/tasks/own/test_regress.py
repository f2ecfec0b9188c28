from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertsmith.common.errors import InputError
from bertsmith.model.task import Head
from bertsmith.tasks.own.regress import RegressTask
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Encoded


def task(**options: Any) -> RegressTask:
    return RegressTask(TaskSettings(**options))


def test_values(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text('text,label\na,1\nb,-2.5\nc,"1,5"\nd,nan\ne,1e3\n')
    (tmp_path / "dev.jsonl").write_text('{"text": "a", "label": 1}\n{"text": "b", "label": 2.50}\n')
    mine = task()
    read = mine.read(tmp_path)
    assert read.train is not None
    assert [one.target for one in read.train.examples] == [1.0, -2.5, 1000.0]
    assert [one.split(": ")[1] for one in read.train.skipped] == [
        "'1,5' in column 'label' is not a number", "'nan' in column 'label' is not a finite number",
    ]  # fmt: skip
    assert [one.target for one in read.dev[0].examples] == [1.0, 2.5]
    assert mine.head(read) == Head("value")


def test_plain_split(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("text\tlabel\n" + "".join(f"t\t{at}\n" for at in range(40)))
    read = task(dev_percent=25).read(tmp_path)
    assert read.train is not None
    assert (len(read.train.examples), len(read.dev[0].examples)) == (30, 10)
    assert "(25 %, at random, seed 0)" in read.notes[0]
    both = {one.target for one in (*read.train.examples, *read.dev[0].examples)}
    assert both == set(map(float, range(40)))


def test_figures_and_files(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("text\tlabel\na\t1\nb\t2\nc\t4\n")
    mine = task()
    [part] = mine.read(tmp_path, training=False).test
    outputs = [np.array([one], np.float32) for one in (1, 2, 4.5)]
    predictions = mine.decide(part, Encoded([]), outputs, Head("value"), {})
    figures = mine.score(part, predictions)
    assert list(figures) == [
        "pearson", "spearman", "mean_squared_error", "root_mean_squared_error",
        "mean_absolute_error", "gold_standard_deviation",
    ]  # fmt: skip
    assert figures["root_mean_squared_error"] == pytest.approx((0.25 / 3) ** 0.5)
    assert figures["mean_absolute_error"] == pytest.approx(0.5 / 3)
    assert figures["gold_standard_deviation"] == pytest.approx((14 / 9) ** 0.5)
    assert figures["spearman"] == pytest.approx(1)
    assert figures["mean_squared_error"] == pytest.approx(0.25 / 3)
    paths = mine.write(tmp_path, part, predictions)
    assert paths[0].read_text() == "id,prediction\n0,1.0\n1,2.0\n2,4.5\n"
    assert json.loads(paths[1].read_text().splitlines()[2]) == {"id": "2", "value": 4.5}


def test_words_are_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("text\tlabel\na\tgood\n")
    with pytest.raises(InputError, match="'good' in column 'label' is not a number"):
        task().read(tmp_path)
