"""The official files themselves: rows, labels, traps."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from bertsmith.tasks.glue.tasks import PAPER_AVERAGE, PAPER_TABLE_1, find_glue, glue_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data

ROWS = {
    "cola": {"train": 8551, "dev": 1043, "test": 1063},
    "sst2": {"train": 67349, "dev": 872, "test": 1821},
    "mrpc": {"train": 3668, "dev": 408, "test": 1725},
    "stsb": {"train": 5749, "dev": 1500, "test": 1379},
    "rte": {"train": 2490, "dev": 277},
    "wnli": {"train": 635, "dev": 71, "test": 146},
    "qnli": {"train": 8999, "dev": 5463},
    "qqp": {"train": 4000, "dev": 1000},
    "mnli": {"train": 8999, "dev": 500, "dev_mismatched": 500, "ax": 1104},
}
MAJORITY = {"cola": 0.691, "sst2": 0.509, "mrpc": 0.684, "rte": 0.527, "wnli": 0.563, "qqp": 0.616}
STRICT = TaskSettings(strict=True)  # not one row of them is malformed


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_read(name: str) -> None:
    """Cases G01, G07: quotes, BOM, missing headers and missing final newlines cost no row."""
    task = glue_task(name, STRICT)
    found = task.read(data("glue"))
    assert found.train is not None
    parts = [found.train, *found.dev, *found.test]
    assert {part.name: len(part.examples) for part in parts} == ROWS[name]
    assert [part.labelled for part in parts] == [
        part.name.startswith(("train", "dev")) for part in parts
    ]
    for part in parts:
        assert part.skipped == []
        assert all(one.text for one in part.examples)
        assert all((one.pair is None) == (not task.layout.pair) for one in part.examples)
        if part.name != "train":
            assert len({one.id for one in part.examples}) == len(part.examples)
    for part in found.test:
        assert [one.id for one in part.examples] == [str(n) for n in range(len(part.examples))]


@pytest.mark.parametrize("name", ROWS)
def test_labels(name: str) -> None:
    task = glue_task(name, STRICT)
    found = task.read(data("glue"))
    assert found.train is not None
    for part in (found.train, *found.dev):
        targets = [one.target for one in part.examples]
        if name == "stsb":
            assert all(isinstance(one, float) and 0 <= one <= 5 for one in targets)
        else:
            assert set(targets) == set(task.head(found).labels)
    if name in MAJORITY:
        [(_, count)] = Counter(one.target for one in found.dev[0].examples).most_common(1)
        assert round(count / len(found.dev[0].examples), 3) == MAJORITY[name]


def test_texts_stand_in_the_right_columns() -> None:
    """Case G07: CoLA's text is the fourth column; Case G01: quotes are kept."""
    [dev] = glue_task("cola", STRICT).read(data("glue", "CoLA")).dev
    assert dev.examples[0].text == "The sailors rode the breeze clear of the rocks."
    [dev] = glue_task("mrpc", STRICT).read(data("glue", "MRPC")).dev
    first = dev.examples[0]
    assert first.text.startswith("He said the foodservice pie business doesn't fit")
    assert first.pair is not None
    assert first.pair.startswith('"The foodservice pie business does not fit')
    assert first.target == "1"
    train = glue_task("stsb", STRICT).read(data("glue", "STS-B")).train
    assert train is not None
    assert (train.examples[1].pair, train.examples[1].target) == ("A man is playing a flute.", 3.8)


def test_diagnostic_set_lies_beside_mnli() -> None:
    test = glue_task("mnli", STRICT).read(data("glue", "MNLI"), training=False).test
    assert [part.name for part in test] == ["ax"]
    assert test[0].examples[0].text == "The cat sat on the mat."


def test_folders_are_found_in_the_order_of_the_paper() -> None:
    root = data("glue")
    assert find_glue(root) == [
        ("mnli", root / "MNLI"), ("qqp", root / "QQP"), ("qnli", root / "QNLI"),
        ("sst2", root / "SST-2"), ("cola", root / "CoLA"), ("stsb", root / "STS-B"),
        ("mrpc", root / "MRPC"), ("rte", root / "RTE"), ("wnli", root / "WNLI"),
    ]  # fmt: skip


def test_the_paper_reports_tasks_that_are_here() -> None:
    """The numbers give the averages that the paper prints."""
    for one in PAPER_TABLE_1:
        assert one.figure in glue_task(one.task, STRICT).figure_names
    base, large = PAPER_AVERAGE
    assert round(sum(one.base for one in PAPER_TABLE_1) / 9, 1) == base
    assert round(sum(one.large for one in PAPER_TABLE_1) / 9, 1) == large


def test_written_rows_are_those_of_the_file(tmp_path: Path) -> None:
    """Case G06: a row of predictions for each row of the file, in its order."""
    task = glue_task("cola", STRICT)
    [test] = task.read(data("glue", "CoLA"), training=False).test
    [path] = task.write(tmp_path, test, ["1"] * 1063)
    lines = path.read_text().splitlines()
    assert lines == ["index\tprediction", *(f"{n}\t1" for n in range(1063))]


def test_encoding_a_large_part_takes_seconds() -> None:
    """67,349 rows; the bound leaves room for a busy machine."""
    tokenizer = Tokenizer.load(data("vocab", "bert-base-uncased", "vocab.txt"))
    task = glue_task("sst2", STRICT)
    found = task.read(data("glue", "SST-2"))
    assert found.train is not None
    start = time.process_time()
    encoded = task.encode(found.train, tokenizer, 128, task.head(found), training=True)
    assert time.process_time() - start < 40
    assert len(encoded.features) == 67349
    assert encoded.counts == {}
    ids, _ = encoded.features[0].sequences[0]
    assert " ".join(tokenizer.tokens[one] for one in ids) == (
        "[CLS] hide new secret ##ions from the parental units [SEP]"
    )
    assert encoded.features[0].target == 0
