"""Task files: tables, GLUE, SQuAD, CoNLL; each row is read, counted as skipped, or refused."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertsmith.tasks.ner.conll import read_columns
from bertsmith.tasks.registry import make_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.examples import read_squad
from bertsmith.tasks.tables.read import read_table
from tests.fuzz.inputs import answer, damaged, fuzzed, odd_json

ROWS = [("a text", "good"), ("another, one", "bad"), ("a “third”", "good")]
TSV = ("text\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in ROWS)).encode()
CSV = ("text,label\r\n" + "".join(f'"{a}",{b}\r\n' for a, b in ROWS)).encode()
OBJECTS = [{"text": a, "label": b, "n": [1, {"x": 1.5}]} for a, b in ROWS]
COLA = b"gj04\t1\t\tA sentence.\ngj04\t0\t*\tSentence a.\n" * 4
CONLL = b"-DOCSTART- -X- O\n\nJohn NNP B-PER\nSmith NNP I-PER\n. . O\n\nParis NNP B-LOC\n\n"
SQUAD = {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{
    "context": "Paris is a city.", "qas": [
        {"id": "1", "question": "What?", "is_impossible": False,
         "answers": [{"text": "Paris", "answer_start": 0}]},
        {"id": "2", "question": "Who?", "is_impossible": True, "answers": []},
    ]}]}]}  # fmt: skip


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"text": [a for a, _ in ROWS], "label": [1.0, None, 2.0]}), out)
    return out.getvalue()


FILES = {
    ".tsv": damaged(TSV),
    ".csv": damaged(CSV, TSV),
    ".jsonl": damaged("\n".join(map(json.dumps, OBJECTS)).encode()) | odd_json(*OBJECTS, OBJECTS),
    ".parquet": damaged(parquet()),
}


@pytest.mark.parametrize("ending", FILES)
@fuzzed(120)
@given(data=st.data())
def test_tables(place: Path, ending: str, data: st.DataObject) -> None:
    file = place / f"train{ending}"
    file.write_bytes(data.draw(FILES[ending]))
    table = answer(lambda: read_table(file, TaskSettings()), file)
    task = make_task("classify", TaskSettings())
    read = answer(lambda: task.read(file, training=True), file)
    if table is not None and read is not None and read.train is not None:
        used = len(read.train.examples) + sum(len(part.examples) for part in read.dev)
        assert used + len(read.train.skipped) == len(table.rows)


@fuzzed(120)
@given(damaged(COLA))
def test_glue(place: Path, data: bytes) -> None:
    file = place / "train.tsv"
    file.write_bytes(data)
    read = answer(lambda: make_task("cola", TaskSettings()).read(file, training=True), file)
    if read is not None and read.train is not None:
        assert {one.target for one in read.train.examples} <= {"0", "1"}


@fuzzed(150)
@given(odd_json(SQUAD) | damaged(json.dumps(SQUAD).encode()))
def test_squad(place: Path, data: bytes) -> None:
    file = place / "train-v2.0.json"
    file.write_bytes(data)
    part = answer(lambda: read_squad([file], "train", strict=False), file)
    if part is not None:
        assert len({one.id for one in part.examples}) == len(part.examples)


@fuzzed(150)
@given(damaged(CONLL), st.booleans())
def test_conll(place: Path, data: bytes, whole: bool) -> None:
    file = place / "train.txt"
    file.write_bytes(data)
    found = answer(lambda: read_columns(file, "utf-8", whole=whole), file)
    if found is not None:
        text = data.decode("utf-8")
        for one in found.sentences:
            assert all(word and word in text for word in one.words)
            assert one.tags is None or len(one.tags) == len(one.words)
