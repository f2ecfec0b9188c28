from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertsmith.common.errors import InputError
from bertsmith.corpus.formats import detect, read_documents
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import find_sources
from tests.data import data

BYTES = (
    b"\xef\xbb\xbfred fox runs\r\nblue bird sings\r\n\r\n   \r\n\r\ngreen frog jumps\r\n"
    b"white\xe2\x80\xa8owl sleeps"
)


def read(path: Path | str, **settings) -> list[list[str]]:
    made = CorpusSettings(**settings)
    return [
        lines for source in find_sources([str(path)]) for _, lines in read_documents(source, made)
    ]


def put(tmp_path: Path, content: bytes, name: str = "text.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_bytes_of_every_kind(tmp_path) -> None:
    """Case C03: BOM, CRLF, blank-ish lines, U+2028 and a last line without end."""
    expected = [["red fox runs", "blue bird sings"], ["green frog jumps", "white\u2028owl sleeps"]]
    assert read(put(tmp_path, BYTES)) == expected
    put(tmp_path, b"black cat\n", "z.txt")
    assert read(tmp_path) == [*expected, ["black cat"]]


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_blocks_do_not_matter(tmp_path, monkeypatch, block: int) -> None:
    """Case C03: the same lines when a block ends inside a character or between CR and LF."""
    monkeypatch.setattr("bertsmith.corpus.lines._BLOCK", block)
    assert [len(document) for document in read(put(tmp_path, BYTES))] == [2, 2]
    assert read(put(tmp_path, b"a\rb\r\n\r\nc\r")) == [["a", "b"], ["c"]]


def test_wrong_bytes_are_named(tmp_path) -> None:
    content = b"fine\n" + "é".encode() * 10 + b"\nbad \xe9 byte\n"
    path = put(tmp_path, content)
    at = content.index(b"\xe9 byte")
    with pytest.raises(InputError, match=rf"text\.txt: the byte at offset {at} \(0xe9\)") as found:
        read(path)
    assert "--encoding" in str(found.value)
    assert read(path, errors="replace")[0][2] == "bad \ufffd byte"
    assert read(path, errors="ignore")[0][2] == "bad  byte"
    assert read(path, encoding="latin-1")[0][2] == "bad é byte"


def test_a_wrong_byte_far_inside_a_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("bertsmith.corpus.lines._BLOCK", 64)
    content = ("ä" * 40 + "\n").encode() * 20 + b"\xff\n"
    with pytest.raises(InputError, match=f"offset {len(content) - 2:,} "):
        read(put(tmp_path, content))


RECORDS = [{"text": "One. Two.\nThree."}, {"text": ""}, {"text": "Four \ud83d."}, {"text": None}]
JSONL = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
EXPECTED = [["One. Two.", "Three."], [], ["Four \ud83d."], []]


def test_json_lines_plain_and_compressed(tmp_path) -> None:
    assert read(put(tmp_path, JSONL, "a.jsonl")) == EXPECTED
    assert read(put(tmp_path, gzip.compress(JSONL), "b.jsonl.gz")) == EXPECTED
    assert read(put(tmp_path, bz2.compress(JSONL), "b.jsonl.bz2")) == EXPECTED
    packed = pa.Codec("zstd").compress(JSONL, asbytes=True)
    assert read(put(tmp_path, packed, "c.jsonl.zst")) == EXPECTED
    assert read(put(tmp_path, gzip.compress(BYTES), "d.txt.gz"))[0][0] == "red fox runs"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{not json}", r"a\.jsonl:2: the line is not JSON"),
        (b'{"body": "x"}', "no field 'text'.*\n.*body"),
        (b"[1]", "no field 'text'"),
        (b'{"text": 3}', "is not text"),
    ],
)
def test_bad_json_lines(tmp_path, line: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(put(tmp_path, b'{"text": "x"}\n' + line + b"\n", "a.jsonl"))


def test_parquet(tmp_path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"body": ["One.\nTwo.", None, "Three."], "n": [1, 2, 3]}), path)
    assert read(path, text_column="body") == [["One.", "Two."], [], ["Three."]]
    with pytest.raises(InputError, match=r"no column 'text'.*\n.*body, n"):
        read(path)
    with pytest.raises(InputError, match="is not text"):
        read(path, text_column="n")
    with pytest.raises(InputError, match="not Parquet"):
        read(put(tmp_path, b"hello", "b.parquet"))


WRAPPED = """It was the best of times, it was the worst of times, it was the age of
wisdom, it was the age of foolishness, it was the epoch of belief, it was
the epoch of incredulity, it was the season of Light.

There were a king with a large jaw and a queen with a plain face, on the
throne of England; there were a king with a large jaw and a queen."""


def test_layouts_are_told_apart(tmp_path) -> None:
    assert detect(WRAPPED.split("\n")) == "wrapped"
    assert detect(WRAPPED.replace("\n\n", "@").replace("\n", " ").split("@")) == "sentences"
    assert (
        detect(["One is here. Two is here. Three is.", "", "Four is here. Five is."])
        == "paragraphs"
    )
    assert detect(["red fox runs", "blue bird sings", "", "green frog jumps"]) == "sentences"
    assert detect([]) == "sentences"
    document = read(put(tmp_path, WRAPPED.encode()))
    assert len(document) == 1
    assert [line.split()[-1] for line in document[0]] == ["Light.", "queen."]


def test_layouts_of_real_files() -> None:
    kinds = {
        "books/Charlotte_Bronte_Villette.txt": "paragraphs",
        "google-sample/sample_text.txt": "sentences",
        "wikitext-2": "paragraphs",
        "gutenberg": "wrapped",
    }
    for name, kind in kinds.items():
        path = data("pretrain", *name.split("/"))
        for source in find_sources([str(path)]):
            settings = CorpusSettings(errors="replace")
            form, _ = next(read_documents(source, settings))
            assert form == kind, source.url


def test_inputs_that_are_not_there(tmp_path) -> None:
    with pytest.raises(InputError, match="no such file"):
        find_sources([str(tmp_path / "nothing")])
    with pytest.raises(InputError, match="no file to read"):
        find_sources([str(tmp_path)])
    with pytest.raises(InputError, match="no such file"):
        find_sources([str(tmp_path / "*.txt")])


def test_globs_folders_and_urls(tmp_path) -> None:
    for name in ("b.txt", "a.txt", "c.jsonl", "d.pdf"):
        put(tmp_path, b"x\n", name)
    names = [Path(s.url).name for s in find_sources([str(tmp_path)])]
    assert names == ["a.txt", "b.txt", "c.jsonl"]
    assert len(find_sources([str(tmp_path / "*.txt")])) == 2
    assert find_sources([f"file://{tmp_path}/a.txt"])[0].size == 2
    assert len(find_sources([str(tmp_path / "a.txt"), str(tmp_path)])) == 3
