from __future__ import annotations

from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.tables.folder import find_files


def folder(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).write_text("x\n")
    return path


def names(path: Path, training: bool = True) -> list[list[str]]:
    found = find_files(path, training=training)
    return [[one.name for one in some] for some in (found.train, found.dev, found.test)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["train.tsv", "dev.tsv", "test.tsv", "README.md", "README"], [["train.tsv"], ["dev.tsv"], ["test.tsv"]]),
        (["train.csv", "val.csv"], [["train.csv"], ["val.csv"], []]),
        (["Train.CSV", "Validation.csv"], [["Train.CSV"], ["Validation.csv"], []]),
        (["stsa.fine.train", "stsa.fine.dev", "stsa.fine.test"], [["stsa.fine.train"], ["stsa.fine.dev"], ["stsa.fine.test"]]),
        (["my-train_2.jsonl", "my-valid.jsonl"], [["my-train_2.jsonl"], ["my-valid.jsonl"], []]),
        (["train.csv", "train_full.csv"], [["train.csv"], [], []]),
        (["train_5500.label", "trainer.txt", "latest.txt"], [["train_5500.label"], [], []]),
        (["train.csv", "train_test.csv", ".test.csv"], [["train.csv"], [], []]),
        (["train-00001-of-00002.parquet", "train-00000-of-00002.parquet", "test-00000-of-00001.parquet"],
         [["train-00000-of-00002.parquet", "train-00001-of-00002.parquet"], [], ["test-00000-of-00001.parquet"]]),
    ],
)  # fmt: skip
def test_parts_by_name(tmp_path: Path, files: list[str], expected: list[list[str]]) -> None:
    assert names(folder(tmp_path, *files)) == expected


@pytest.mark.parametrize(
    ("name", "training", "place"),
    [("a.tsv", True, 0), ("a.tsv", False, 2), ("my.dev.tsv", False, 1), ("test.csv", True, 0)],
)
def test_one_file(tmp_path: Path, name: str, training: bool, place: int) -> None:
    path = folder(tmp_path, name) / name
    assert names(path, training)[place] == [name]
    assert sum(map(len, names(path, training))) == 1


@pytest.mark.parametrize(
    ("files", "training", "message"),
    [
        (["train.csv", "train.tsv"], True, "several files might be the train part"),
        (["stsa.fine.train", "stsa.binary.train"], True, "several files might be the train part"),
        (["test.csv"], True, r"no file train\.\*"),
        (["train.csv"], False, r"no file dev\.\* or test\.\*"),
        ([], True, r"no file train\.\*"),
    ],
)
def test_what_is_refused(tmp_path: Path, files: list[str], training: bool, message: str) -> None:
    with pytest.raises(InputError, match=message):
        names(folder(tmp_path, *files), training)


def test_no_such_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        names(tmp_path / "absent")
