from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.own.tag import TagTask
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Data
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL


def task(**options: Any) -> TagTask:
    return TagTask(TaskSettings(**options))


def sentences(data: Data[Any]) -> list[tuple[tuple[str, ...], tuple[str, ...] | None]]:
    assert data.train is not None
    return [(one.words, one.tags) for one in data.train.examples]


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


ANA = '{"text": ["Ana", "lives"], "label": ["B-PER", "O"]}'


def test_lists_and_texts(tmp_path: Path) -> None:
    write(
        tmp_path / "train.jsonl", ANA, '{"text": "in  New York\\u00a0", "label": "O B-LOC\\tI-LOC"}'
    )
    write(tmp_path / "dev.jsonl", ANA)
    mine = task()
    data = mine.read(tmp_path)
    assert sentences(data) == [
        (("Ana", "lives"), ("B-PER", "O")),
        (("in", "New", "York\u00a0"), ("O", "B-LOC", "I-LOC")),
    ]
    head = mine.head(data)
    assert head.labels == ("O", "B-LOC", "B-PER", "I-LOC")
    assert mine.metric == "f1"
    words = Tokenizer([*SPECIAL, "ana", "lives"])
    encoded = mine.encode(data.dev[0], words, 16, head, training=True)
    assert encoded.features[0].target == [-100, 2, 0, -100]
    assert mine.score(data.dev[0], [["B-PER", "O"]])["f1"] == 1.0


def test_parquet_with_other_names(tmp_path: Path) -> None:
    table = pa.table({"tokens": [["a", "b"], ["c"]] * 10, "pos": [["X", "Y"], ["X"]] * 10})
    pq.write_table(table, tmp_path / "train.parquet")
    mine = task(text_column="tokens", label_column="pos")
    data = mine.read(tmp_path)
    assert (len(sentences(data)), len(data.dev[0].examples)) == (18, 2)
    assert mine.metric == "accuracy"
    assert mine.head(data).labels == ("X", "Y")


def test_other_schemes_become_iob2(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.jsonl",
        '{"text": "a b c d", "label": "I-PER I-PER O I-LOC"}',
        *['{"text": "a b", "label": "I-LOC B-LOC"}'] * 3,
    )
    data = task(dev_percent=20).read(path)
    assert data.train is not None
    found = {one.tags for one in (*data.train.examples, *data.dev[0].examples)}
    assert found == {("B-PER", "I-PER", "O", "B-LOC"), ("B-LOC", "B-LOC")}
    assert "train: tags in IOB1, read as IOB2" in data.notes


def test_malformed_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.jsonl", ANA, '{"text": ["a", "b"], "label": ["O"]}',
        '{"text": [], "label": []}', '{"text": "a", "label": [""]}', '{"text": "a"}', ANA,
    )  # fmt: skip
    data = task().read(path)
    assert data.train is not None
    assert data.train.skipped == [
        f"{path}:2: 1 tags for 2 words", f"{path}:3: no words in column 'text'",
        f"{path}:4: the tag of word 1 is empty", f"{path}:5: no tags in column 'label'",
    ]  # fmt: skip
    with pytest.raises(InputError, match="1 tags for 2 words"):
        task().read(path, training=False)


def test_a_tag_without_prefix_among_tags_of_entities(tmp_path: Path) -> None:
    path = write(tmp_path / "train.jsonl", ANA, ANA, '{"text": "a", "label": "PER"}', ANA)
    write(tmp_path / "dev.jsonl", ANA)
    with pytest.raises(InputError, match="neither O nor") as caught:
        task().read(tmp_path)
    assert (caught.value.file, caught.value.line, caught.value.value) == (str(path), 3, "PER")


def test_parts_of_different_kinds(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", ANA)
    write(tmp_path / "dev.jsonl", '{"text": "a b", "label": "X Y"}')
    with pytest.raises(InputError, match=r"neither O nor .* as those of other rows") as caught:
        task().read(tmp_path)
    assert str(caught.value.file).endswith("dev.jsonl")


def test_sentences_without_tags_are_predicted_on(tmp_path: Path) -> None:
    mine = task()
    data = mine.read(write(tmp_path / "new.jsonl", '{"text": "a b"}'), training=False)
    [part] = data.test
    assert not part.labelled
    assert part.examples[0].tags is None
    [path] = mine.write(tmp_path, part, [["O", "B-X"]])
    assert path.read_text() == "a O\nb B-X\n\n"


def test_columns(tmp_path: Path) -> None:
    write(tmp_path / "train.txt", "Ana B-PER", "lives O", "", "Rome B-LOC")
    write(tmp_path / "dev.txt", "Rome B-LOC")
    write(tmp_path / "labels.json", "[]")  # no part: does not make the folder one of tables
    data = task().read(tmp_path)
    assert sentences(data) == [(("Ana", "lives"), ("B-PER", "O")), (("Rome",), ("B-LOC",))]
