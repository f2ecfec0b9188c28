from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.choice.encode import encode_choices
from bertsmith.tasks.choice.examples import ChoiceExample
from bertsmith.tasks.choice.task import SwagTask
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Encoded, Head, Part
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data

HEADER = ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3"
ROW = '0,v1,10,"A man, tired, sits. He","A man, tired, sits.",He,gold,sleeps.,"says ""hi"".",runs.,eats.'
EXAMPLE = ChoiceExample(
    "0", "A man, tired, sits.", ("sleeps.", 'says "hi".', "runs.", "eats."), "He", 1, 2
)


def task(**options: object) -> SwagTask:
    return SwagTask(TaskSettings(**options))  # type: ignore[arg-type]


def write(folder: Path, name: str, header: str, *rows: str) -> Path:
    (folder / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return folder / name


def test_a_row(tmp_path: Path) -> None:
    """Case S01: four pairs of ``sent1`` and ``sent2 ending``; label 1."""
    path = write(tmp_path, "test.csv", HEADER + ",label", ROW + ",1")
    [part] = task().read(path, training=False).test
    assert part.examples == [EXAMPLE]
    assert part.labelled
    assert [EXAMPLE.second(one) for one in EXAMPLE.choices] == [
        "He sleeps.", 'He says "hi".', "He runs.", "He eats.",
    ]  # fmt: skip


def test_scores_of_an_example_stay_together() -> None:
    """Case S01: flat scores of two examples are rows of four, so the choices are 1 and 3."""
    logits = np.array([0.1, 0.9, 0.2, 0.3, 2, 1, 0, 3], np.float32)
    part = Part("test", [EXAMPLE, EXAMPLE])
    got = task().decide(part, Encoded([]), [logits[:4], logits[4:]], Head("choice"), {})
    assert [(one.index, one.text) for one in got] == [(1, 'says "hi".'), (3, "eats.")]
    assert [sum(one.probabilities) for one in got] == pytest.approx([1, 1])
    assert task().score(part, got) == {"accuracy": 0.5}
    assert task().scorer(part, got)(np.array([0, 0, 0, 1])) == 0.75


def test_without_labels_there_are_predictions_only(tmp_path: Path) -> None:
    """Case S01: a test file without the label column."""
    [part] = task().read(write(tmp_path, "test.csv", HEADER, ROW), training=False).test
    assert part.examples[0].label is None
    assert not part.labelled
    write(tmp_path, "train.csv", HEADER + ",label", ROW + ",1", ROW + ",0")
    read = task().read(tmp_path)
    assert not read.test[0].labelled
    assert read.train is not None
    assert read.train.labelled


def test_placeholders_are_no_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "test.csv", HEADER + ",label", ROW + ",-1", ROW + ",")
    [part] = task().read(path, training=False).test
    assert [one.label for one in part.examples] == [None, None]
    assert not part.labelled


def test_missing_columns_are_named(tmp_path: Path) -> None:
    """Case S01: all of them."""
    path = write(tmp_path, "train.csv", ",sent1,ending0,ending1,ending2", "0,a,b,c,d")
    with pytest.raises(InputError, match="are missing: sent2, ending3, label") as caught:
        task().read(path)
    assert "'sent1', 'ending0'" in str(caught.value.mend)


def test_full_format_is_told(tmp_path: Path) -> None:
    """Case S01: the full-format file has other columns."""
    header = "video-id,fold-ind,startphrase,gold-ending,distractor-0,sent1,sent2"
    with pytest.raises(InputError, match=r"full format; take train\.csv"):
        task().read(write(tmp_path, "train_full.csv", header, "v,1,a,b,c,d,e"))


def test_wrong_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "train.csv",
        HEADER + ",label",
        ROW + ",1",
        ROW + ",4",
        ROW,
        ROW + ",",
        *[ROW + ",2"] * 2,
    )
    read = task().read(path)
    assert read.train is not None
    assert [one.split(": ", 1)[1] for one in read.train.skipped] == [
        "the label is not from 0 to 3 (got '4')", "11 fields instead of 12",
        "the label is not from 0 to 3 (got '')",
    ]  # fmt: skip
    assert read.train.skipped[0].startswith(f"{path}:3:")
    with pytest.raises(InputError, match="mend the file") as caught:
        task().read(path, training=False)
    assert caught.value.line == 3
    with pytest.raises(InputError, match="--strict"):
        task(strict=True).read(path)


def test_sample_of_the_real_layout() -> None:
    """Case S01: the real columns; each second segment begins with ``sent2``."""
    [part] = task().read(data("swag", "sample.csv"), training=False).test
    assert len(part.examples) == 11
    assert {len(one.choices) for one in part.examples} == {4}
    first = part.examples[0]
    assert (first.id, first.context, first.start, first.label) == (
        "0", "Students lower their eyes nervously.", "She", 2,
    )  # fmt: skip
    assert first.second(first.choices[1]) == "She turns with two students."


def test_codah() -> None:
    read = task().read(data("swag", "codah"))
    assert read.train is not None
    parts = [read.train, *read.dev, *read.test]
    assert [(one.name, len(one.examples)) for one in parts] == [
        ("train", 1665),
        ("dev", 556),
        ("test", 555),
    ]
    assert all(one.labelled and not one.skipped for one in parts)
    tokenizer = Tokenizer.load(data("vocab", "bert-base-uncased", "vocab.txt"), lowercase=True)
    sequences, counts = encode_choices(read.dev[0].examples, tokenizer, 128)
    assert {len(one) for one in sequences} == {4}
    assert "truncated examples" not in counts
    short, counts = encode_choices(read.dev[0].examples, tokenizer, 24)
    assert max(len(ids) for one in short for ids, _ in one) == 24
    assert counts["truncated examples"] > 100
