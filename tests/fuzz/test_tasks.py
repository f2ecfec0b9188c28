"""Task files: tables, GLUE, SQuAD, CoNLL; each row is read, counted as skipped, or refused."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertsmith.tasks.ner.conll import read_columns
from bertsmith.tasks.registry import make_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.encode import UNANSWERED, UNFIT, WRONG, SquadEncoder
from bertsmith.tasks.squad.examples import SquadExample, read_squad
from bertsmith.tasks.tables.read import read_table
from bertsmith.tasks.task import Feature
from bertsmith.text.tokenizer import Tokenizer
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


SQUAD_PIECES = Tokenizer(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paris", "is", "a", "city", "what", "e", "##e",
     "ab", "##b", ".", "?"]
)  # fmt: skip
CONTEXT = "".join(f"{word} " * 3 for word in ("Paris", "é", "e\u0301e", "abb", ".", "\U0001f600"))


@st.composite
def squad(draw: st.DrawFn) -> bytes:
    """Sound JSON whose answers stand where it says, nearby, elsewhere or nowhere."""
    words = st.sampled_from(
        ["Paris", "é", "e\u0301", "abb", "\U0001f600", "\ud800", "\n", " ", "", "."]
    )
    context = draw(st.sampled_from([CONTEXT, "".join(draw(st.lists(words, max_size=40)))]))
    questions = []
    for number in range(draw(st.integers(1, 3))):
        start, length = draw(st.integers(0, len(context))), draw(st.integers(0, 30))
        answer = {"text": context[start : start + length]}
        answer["answer_start"] = start + draw(st.sampled_from([0, 0, 0, 1, -1, 7, -len(context)]))
        none = draw(st.sampled_from([None, False, True]))
        answers = [answer, {"text": "is", "answer_start": 0}][: draw(st.integers(0, 2))]
        questions.append(
            {"id": number, "question": "What?", "answers": answers, "is_impossible": none}
        )
    data = [{"title": "", "paragraphs": [{"context": context, "qas": questions}]}]
    return json.dumps({"version": draw(st.sampled_from(["1.1", "2.0"])), "data": data}).encode()


@fuzzed(300)
@given(odd_json(SQUAD) | damaged(json.dumps(SQUAD).encode()) | squad(), st.sampled_from([12, 40]))
def test_squad(place: Path, data: bytes, longest: int) -> None:
    """What is kept is what the file says; what is learnt is where the answer stands."""
    file = place / "train-v2.0.json"
    file.write_bytes(data)
    part = answer(lambda: read_squad([file], "train", strict=False), file)
    if part is None:
        return
    assert [as_said(one) for one in part.examples] == said(json.loads(data.decode("utf-8-sig")))
    encoder = SquadEncoder(SQUAD_PIECES, longest, max_query_length=3, stride=2)
    encoded = encoder.encode(part.examples, training=True)
    found: dict[int, list[bool]] = {}
    for window in encoded.features:
        one = part.examples[window.example]
        found.setdefault(window.example, []).append(window.target != (0, 0))
        if window.target != (0, 0):
            assert_covered(one, window)
    counts = encoded.counts
    assert counts[UNFIT] == sum(not any(found[n]) for n in found if not part.examples[n].impossible)
    assert counts[WRONG] == len(encoder.wrong)
    assert len(part.examples) == len(found) + counts[WRONG] + counts[UNANSWERED]
    for one in part.examples:
        text, start = one.answers[0] if one.answers else ("", 0)
        if text.strip() and one.id in encoder.wrong:
            there = start >= 0 and one.context[start : start + len(text)] == text
            assert not there or not SQUAD_PIECES.encode(text).ids


def said(raw: dict[str, Any]) -> list[tuple[object, ...]]:
    """The questions of a file, each id once."""
    found = {}
    for article in raw["data"]:
        for paragraph in article["paragraphs"]:
            for one in paragraph["qas"]:
                answers = () if one.get("is_impossible") else one.get("answers") or ()
                places = tuple((each["text"], each["answer_start"]) for each in answers)
                found.setdefault(str(one["id"]), (one["question"], paragraph["context"], places))
    return [(name, *rest) for name, rest in found.items()]


def as_said(one: SquadExample) -> tuple[object, ...]:
    return one.id, one.question, one.context, one.answers


def assert_covered(one: SquadExample, window: Feature) -> None:
    """The answer stands in the text, and the tokens to find are the fewest that cover it."""
    text, start = one.answers[0]
    assert one.context[start : start + len(text)] == text
    first, last = (place - window.about.first for place in window.target)
    offsets = window.about.offsets
    assert 0 <= first <= last < window.about.length
    touched = [offsets[n][1] > start and offsets[n][0] < start + len(text) for n in (first, last)]
    assert all(touched)
    assert first == 0 or offsets[first - 1][1] <= start
    assert last == len(offsets) - 1 or offsets[last + 1][0] >= start + len(text)


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
