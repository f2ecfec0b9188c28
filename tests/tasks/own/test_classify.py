from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertsmith.common.errors import InputError
from bertsmith.model.task import Head
from bertsmith.tasks.own.classify import ClassifyTask
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Data, Encoded, Part
from bertsmith.tasks.text.examples import TextExample
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL
from tests.data import data

NUMBERED: dict[str, Any] = {"header": False, "label_column": "1", "text_column": "2"}


def task(**options: Any) -> ClassifyTask:
    return ClassifyTask(TaskSettings(**options))


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    return folder


def table(rows: list[tuple[str, str]]) -> str:
    return "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)


def sizes(read: Data[TextExample]) -> list[int]:
    assert read.train is not None
    return [len(one.examples) for one in (read.train, *read.dev, *read.test)]


def test_control_tokens_in_a_table_are_text(tmp_path: Path) -> None:
    """Case T08: exactly two [SEP] and no [MASK]."""
    write(tmp_path, test_tsv="text\tpair\nhello [SEP] world\t[MASK] hello\n")
    mine = task(pair_column="pair")
    [part] = mine.read(tmp_path, training=False).test
    words = Tokenizer([*SPECIAL, "hello", "world", "mask", "sep", "[", "]", "cls"])
    encoded = mine.encode(part, words, 64, Head("classes", ("a", "b")), training=False)
    [sequence] = encoded.features[0].sequences
    assert sequence == ([2, 5, 9, 8, 10, 6, 3, 9, 7, 10, 5, 3], [0] * 7 + [1] * 5)


def test_custom_file_with_mark_and_without_header(tmp_path: Path) -> None:
    """Case G07: the label is ``2``, not ``\\ufeff2``, and the first row is an example."""
    write(tmp_path, train_tsv="\ufeff2\tsome text\n1\tmore\n2\tagain\n", dev_tsv="\ufeff2\tx\n")
    read = task(**NUMBERED).read(tmp_path)
    assert sizes(read) == [3, 1]
    assert task(**NUMBERED).head(read) == Head("classes", ("1", "2"))
    assert read.dev[0].examples[0] == TextExample("0", "x", None, "2")


def test_the_same_labels_from_every_kind_of_file(tmp_path: Path) -> None:
    write(tmp_path, train_csv="text,label\na, 1\nb,0 \n", test_jsonl='{"text": "c", "label": 1}\n')
    pq.write_table(pa.table({"text": ["a", "b"], "label": [1, 0]}), tmp_path / "dev.parquet")
    read = task().read(tmp_path)
    assert read.train is not None
    parts = (read.train, *read.dev, *read.test)
    assert [[one.target for one in part.examples] for part in parts] == [
        ["1", "0"],
        ["1", "0"],
        ["1"],
    ]


def test_trec() -> None:
    folder = data("classification", "trec", "qc")
    with pytest.raises(InputError, match="--encoding latin-1") as caught:
        task(**NUMBERED).read(folder)
    raw = (folder / "train.txt").read_bytes()
    at = next(at for at, byte in enumerate(raw) if byte > 127)
    assert caught.value.message == f"byte {at} is not utf-8"
    mine = task(**NUMBERED, encoding="latin-1")
    read = mine.read(folder)
    assert read.train is not None
    assert sizes(read) == [4911, 541, 500]
    held = {one.text for one in read.dev[0].examples}
    assert not held & {one.text for one in read.train.examples}
    labels = mine.head(read).labels
    assert len(labels) == 50
    assert {label.split(":")[0] for label in labels} == {
        "ABBR",
        "DESC",
        "ENTY",
        "HUM",
        "LOC",
        "NUM",
    }
    # Every label with two rows or more is in both parts, in proportion.
    train, dev = (
        Counter(one.target for one in part.examples) for part in (read.train, read.dev[0])
    )
    assert set(train) == set(labels)
    assert all(dev[label] >= 1 for label in labels if train[label] + dev[label] > 1)
    # One row off by rounding; more where a text of the label stands several times.
    times = Counter((one.text, one.target) for one in read.train.examples + read.dev[0].examples)
    spare = Counter()
    for (_, label), count in times.items():
        spare[label] += count - 1
    assert all(
        abs(dev[label] - 0.1 * (train[label] + dev[label])) <= 1 + spare[label] for label in labels
    )
    assert any("541 of 5452 training rows are held back" in text for text in read.notes)
    assert "71 texts stand more than once: equal ones stay on one side" in read.notes
    again = mine.read(folder)
    assert again.dev[0].examples == read.dev[0].examples
    other = task(**NUMBERED, encoding="latin-1", split_seed=1).read(folder)
    assert other.dev[0].examples != read.dev[0].examples


def test_sst5() -> None:
    mine = task(**NUMBERED)
    read = mine.read(data("classification", "sst5"))
    assert sizes(read) == [8544, 1101, 2210]
    assert mine.head(read).labels == ("0", "1", "2", "3", "4")
    assert read.train is not None
    assert read.train.examples[1].text == (
        "apparently reassembled from the cutting-room floor of any given daytime soap ."
    )


def test_agnews() -> None:
    """Quoted, without a header; a backslash is a character."""
    mine = task(**NUMBERED, pair_column="3", dev_percent=20)
    read = mine.read(data("classification", "agnews", "test.csv"))
    assert sizes(read) == [6080, 1520]
    assert Counter(one.target for one in read.dev[0].examples) == dict.fromkeys("1234", 380)
    assert read.train is not None
    by_id = {one.id: one for one in (*read.train.examples, *read.dev[0].examples)}
    assert str(by_id["1"].pair).startswith("SPACE.com - TORONTO, Canada -- A second\\team of")
    assert str(by_id["6"].pair).startswith('\\\\"Sven Jaschan, self-confessed author')
    assert not read.train.skipped


def test_chnsenticorp() -> None:
    folder = data("classification", "chnsenticorp")
    with pytest.raises(InputError, match="no column 'text'") as caught:
        task().read(folder)
    assert "--text-column text_a" in str(caught.value.mend)
    mine = task(text_column="text_a")
    read = mine.read(folder)
    assert sizes(read) == [2000, 1200]
    assert mine.head(read).labels == ("0", "1")
    assert read.notes == []


def test_one_class_less_in_dev(tmp_path: Path) -> None:
    """Ten classes to learn, nine in dev: ten outputs, and figures of what is there."""
    rows = [(f"w{label}", str(label)) for label in range(10)] * 3
    write(
        tmp_path, train_tsv=table(rows), dev_tsv=table([one for one in rows[:10] if one[1] != "4"])
    )
    mine = task()
    read = mine.read(tmp_path)
    head = mine.head(read)
    assert head.outputs == 10
    words = Tokenizer([*SPECIAL, *(f"w{n}" for n in range(10))])
    encoded = mine.encode(read.dev[0], words, 16, head, training=False)
    assert len(encoded.features) == 9
    assert not encoded.counts
    outputs = [
        np.eye(10, dtype=np.float32)[head.labels.index(str(one.target))]
        for one in read.dev[0].examples
    ]
    predictions = mine.decide(read.dev[0], encoded, outputs, head, {})
    assert mine.score(read.dev[0], predictions) == {"accuracy": 1.0, "macro_f1": 1.0}


def test_label_in_dev_that_training_lacks(tmp_path: Path) -> None:
    write(
        tmp_path,
        train_tsv=table([("w0", "a"), ("w1", "b")]),
        dev_tsv=table([("w0", "a"), ("w1", "c")]),
    )
    mine = task()
    read = mine.read(tmp_path)
    head = mine.head(read)
    assert head.labels == ("a", "b")
    encoded = mine.encode(read.dev[0], Tokenizer([*SPECIAL, "w0", "w1"]), 16, head, training=False)
    assert len(encoded.features) == 2
    assert list(encoded.counts.values()) == [1]
    assert "'c'" in str(encoded.counts)
    assert mine.score(read.dev[0], ["a", "b"])["accuracy"] == 0.5


def test_test_file_without_labels(tmp_path: Path) -> None:
    write(tmp_path, train_tsv=table([("x", "a"), ("y", "b")] * 10), test_tsv="text\nz\n")
    read = task().read(tmp_path)
    assert sizes(read) == [18, 2, 1]  # one of each label held back
    assert not read.test[0].labelled
    assert read.dev[0].labelled
    assert [one.labelled for one in task().read(tmp_path, training=False).test] == [False]


def test_file_with_some_labels(tmp_path: Path) -> None:
    write(tmp_path, test_tsv=table([("x", "a"), ("y", ""), ("z", "b")]))
    [part] = task().read(tmp_path, training=False).test
    assert not part.labelled
    assert part.counts == {"labels not used, since other rows have none": 2}


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_label_column_that_is_missing(tmp_path: Path, missing: str) -> None:
    good, bad = table([("x", "a"), ("y", "b")]), "text\tgold\nx\ta\n"
    write(
        tmp_path,
        train_tsv=bad if missing == "train" else good,
        dev_tsv=bad if missing == "dev" else good,
    )
    with pytest.raises(InputError, match="no column 'label'") as caught:
        task().read(tmp_path)
    assert str(caught.value.file).endswith(f"{missing}.tsv")
    assert "'text', 'gold'; name one with --label-column" in str(caught.value.mend)


def test_malformed_rows(tmp_path: Path) -> None:
    content = "text\tlabel\nx\ta\nonly\ny\t\nz\tb\tc\nw\tb\n"
    write(tmp_path, train_tsv=content, dev_tsv=content)
    path = tmp_path / "train.tsv"
    read = task().read(tmp_path)
    assert sizes(read) == [2, 2]
    assert read.train is not None
    assert read.train.skipped == [
        f"{path}:3: 1 fields instead of 2", f"{path}:4: no label in column 'label'",
        f"{path}:5: 3 fields instead of 2",
    ]  # fmt: skip
    assert [one.id for one in read.train.examples] == ["0", "4"]
    assert read.notes == [
        "train (train.tsv): 3 malformed rows skipped",
        "dev (dev.tsv): 3 malformed rows skipped",
    ]
    with pytest.raises(InputError, match="1 fields instead of 2") as caught:
        task(strict=True).read(tmp_path)
    assert caught.value.line == 3
    with pytest.raises(InputError, match="ids would shift") as caught:
        task().read(tmp_path, training=False)
    assert caught.value.line == 3
    write(tmp_path, test_tsv="text\nx\ny\tz\n")
    with pytest.raises(InputError, match=r"test\.tsv:3: 2 fields instead of 1"):
        task().read(tmp_path)


def test_no_row_can_be_used(tmp_path: Path) -> None:
    write(tmp_path, train_tsv="text\tlabel\nx\ny\n")
    with pytest.raises(InputError, match=r"none of the 2 rows can be used .*1 fields instead of 2"):
        task().read(tmp_path)


def test_nulls(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"text": ["a", None, "c", "d"], "label": ["x", "y", None, "y"]}),
        tmp_path / "train.parquet",
    )
    write(tmp_path, dev_jsonl='{"text": "a", "label": "x"}\n')
    read = task().read(tmp_path)
    assert sizes(read) == [2, 1]
    assert read.train is not None
    assert [one.split(": ")[1] for one in read.train.skipped] == [
        "nothing in column 'text'",
        "no label in column 'label'",
    ]


def test_ids(tmp_path: Path) -> None:
    write(
        tmp_path, train_csv="id,text,label\np,x,a\nq,y,b\np,z,a\n", dev_csv="id,text,label\nr,x,a\n"
    )
    read = task(id_column="id").read(tmp_path)
    assert read.train is not None
    assert [one.id for one in read.train.examples] == ["p", "q", "p"]
    assert read.notes == ["train (train.csv): 1 ids stand more than once: 'p' in lines 2, 4"]
    with pytest.raises(InputError, match=r"no column 'key'[\s\S]*--id-column"):
        task(id_column="key").read(tmp_path)


def test_shards_are_one_part(tmp_path: Path) -> None:
    for number, texts in enumerate((["a", "b"], ["c"])):
        path = tmp_path / f"train-0000{number}-of-00002.parquet"
        pq.write_table(pa.table({"text": texts, "label": ["x"] * len(texts)}), path)
    write(tmp_path, dev_tsv=table([("a", "x")]))
    read = task().read(tmp_path)
    assert read.train is not None
    assert [(one.id, one.text) for one in read.train.examples] == [
        ("0", "a"),
        ("1", "b"),
        ("2", "c"),
    ]
    assert len(read.train.files) == 2


def test_one_row_is_not_split(tmp_path: Path) -> None:
    write(tmp_path, train_tsv=table([("x", "a")]))
    read = task().read(tmp_path)
    assert sizes(read) == [1]
    assert read.notes == ["there is no dev file, and too few training rows to make one of"]


def test_labels_of_one_row_are_named(tmp_path: Path) -> None:
    write(tmp_path, train_tsv=table([("x", "a")] * 6 + [("y", "b")] * 6 + [("z", "c")]))
    read = task().read(tmp_path)
    assert sizes(read) == [12, 1]
    assert read.notes[-1] == "labels of a single row, which stays in training: 'c'"


def test_a_label_a_row_is_asked_about(tmp_path: Path) -> None:
    write(
        tmp_path, train_tsv=table([("x", str(at)) for at in range(30)]), dev_tsv=table([("x", "1")])
    )
    assert "30 different labels in 30 training rows" in task().read(tmp_path).notes[-1]


def test_several_labels(tmp_path: Path) -> None:
    write(
        tmp_path,
        train_jsonl='{"text": "x", "label": ["b", "a"]}\n{"text": "y", "label": "c; a;;a "}\n{"text": "z", "label": ""}\n{"text": "w"}\n',
        dev_csv="text,label\nx,a;c\n",
    )
    mine = task(label_separator=";")
    read = mine.read(tmp_path)
    assert read.train is not None
    assert [one.target for one in read.train.examples] == [("a", "b"), ("a", "c"), ()]
    assert len(read.train.skipped) == 1
    head = mine.head(read)
    assert head == Head("labels", ("a", "b", "c"))
    assert mine.metric == "micro_f1"
    logits = [np.array([2, -1, 0.5], np.float32)]
    predictions = mine.decide(read.dev[0], Encoded([]), logits, head, {})
    assert predictions == [("a", "c")]
    assert mine.score(read.dev[0], predictions) == {
        "micro_f1": 1.0,
        "macro_f1": 1.0,
        "accuracy": 1.0,
    }
    paths = mine.write(tmp_path / "out", read.dev[0], predictions)
    assert paths[0].read_text() == "id,prediction\n0,a;c\n"
    line = json.loads(paths[1].read_text())
    assert line["id"] == "0"
    assert line["labels"] == {
        "a": pytest.approx(1 / (1 + np.exp(-2))),
        "c": pytest.approx(1 / (1 + np.exp(-0.5))),
    }


def test_rare_labels_among_several_have_a_dev_row(tmp_path: Path) -> None:
    rows = [("x", "a;b" if at % 25 == 0 else "a") for at in range(100)]
    write(tmp_path, train_tsv=table(rows))
    read = task(label_separator=";").read(tmp_path)
    assert sizes(read) == [90, 10]
    assert sum("b" in (one.target or ()) for one in read.dev[0].examples) == 1  # type: ignore[operator]


def test_a_list_where_one_label_is_meant(tmp_path: Path) -> None:
    write(tmp_path, train_jsonl='{"text": "x", "label": ["a", "b"]}\n')
    with pytest.raises(InputError, match="holds a list instead of text"):
        task().read(tmp_path)


def test_files_of_predictions(tmp_path: Path) -> None:
    mine, head = task(), Head("classes", ("no", "yes, I do"))
    part = Part("test", [TextExample("a", "x"), TextExample("b,c", "y")])
    outputs = [np.array([0, 1], np.float32), np.array([3, 0], np.float32)]
    paths = mine.write(tmp_path, part, mine.decide(part, Encoded([]), outputs, head, {}))
    assert [path.name for path in paths] == ["test.csv", "test.jsonl"]
    assert paths[0].read_text() == 'id,prediction\na,"yes, I do"\n"b,c",no\n'
    lines = [json.loads(line) for line in paths[1].read_text().splitlines()]
    assert [(one["id"], one["label"]) for one in lines] == [("a", "yes, I do"), ("b,c", "no")]
    assert lines[0]["probability"] == pytest.approx(np.e / (1 + np.e))
