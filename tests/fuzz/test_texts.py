"""Corpus inputs: every document of a file that is read is in it; else the file is named."""

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bertsmith.common.errors import SettingsError
from bertsmith.corpus.formats import read_documents
from bertsmith.corpus.lines import LONGEST_LINE, cut_line
from bertsmith.corpus.settings import FORMATS, CorpusSettings
from bertsmith.corpus.sources import Source
from tests.fuzz.inputs import answer, damaged, fuzzed, odd_json

TEXT = "A sentence.\nAnother one. And more!\r\n\n\nÜber “all”…\n".encode()
LINES = b'{"text": "A paragraph.\\nMore."}\n{"text": null}\n{"text": "B", "n": [1]}\n'
KINDS = {".txt": "text", ".jsonl": "jsonl", ".parquet": "parquet"}


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"text": ["A text.", None, "B"] * 9, "n": list(range(27))}), out)
    return out.getvalue()


def read(file: Path, kind: str, settings: CorpusSettings) -> list[list[str]] | None:
    source = Source(str(file), kind, file.stat().st_size)
    return answer(lambda: [lines for _, lines in read_documents(source, settings)], file)


@fuzzed(200)
@given(damaged(TEXT, LINES), st.sampled_from(FORMATS), st.sampled_from(["strict", "replace"]))
def test_text(place: Path, data: bytes, form: str, errors: str) -> None:
    file = place / "a.txt"
    file.write_bytes(data)
    found = read(file, "text", CorpusSettings(format=form, errors=errors))
    if found is not None and form in ("sentences", "paragraphs", "wrapped"):
        text = data.decode("utf-8", errors).removeprefix("\ufeff")
        assert "".join("".join(one) for one in found).split() or not text.strip()
        assert "".join("".join("".join(one).split()) for one in found) == "".join(text.split())


@fuzzed(200)
@given(damaged(LINES) | odd_json({"text": "A", "n": 1}, ["text"]))
def test_json_lines(place: Path, data: bytes) -> None:
    file = place / "a.jsonl"
    file.write_bytes(data)
    found = read(file, "jsonl", CorpusSettings())
    packed = place / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(data))
    assert read(packed, "jsonl", CorpusSettings()) == found
    if found is not None:
        texts = "".join(json.loads(one)["text"] or "" for one in lines_of(data))
        assert "".join("".join("".join(one).split()) for one in found) == "".join(texts.split())


def lines_of(data: bytes) -> list[str]:
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    return [one for one in text.split("\n") if one.strip()]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@fuzzed(100)
@given(data=st.data())
def test_packed(place: Path, ending: str, data: st.DataObject) -> None:
    codec = {".gz": "gzip", ".zst": "zstd"}[ending]
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, codec) as stream:
        stream.write(LINES)
    whole = out.getvalue().to_pybytes()
    file = place / f"b.jsonl{ending}"
    file.write_bytes(whole)
    assert read(file, "jsonl", CorpusSettings()) == [["A paragraph.", "More."], [], ["B"]]
    file.write_bytes(data.draw(damaged(whole)))
    answer(lambda: read(file, "jsonl", CorpusSettings()), file)


@fuzzed(150)
@given(damaged(parquet()))
def test_parquet(place: Path, data: bytes) -> None:
    file = place / "a.parquet"
    file.write_bytes(data)
    read(file, "parquet", CorpusSettings())


@given(st.lists(st.sampled_from(["a", " ", "bc" * 70_000]), max_size=9).map("".join))
@fuzzed(30)
@example("x" * (40 * LONGEST_LINE))
def test_a_long_line_is_cut_and_stays_whole(line: str) -> None:
    pieces = list(cut_line(line))
    assert "".join(pieces) == line
    assert all(len(one) <= LONGEST_LINE for one in pieces)


def test_text_of_parquet_that_is_not_utf8_is_refused(place: Path) -> None:
    file = place / "wrong.parquet"
    wrong = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    pq.write_table(pa.table({"text": wrong}), file)
    assert read(file, "parquet", CorpusSettings()) is None


@pytest.mark.parametrize("name", ["base64", "zlib", "rot13", "a\0b", "no-such"])
def test_encodings_that_give_no_text_are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="no such encoding"):
        CorpusSettings(encoding=name)
