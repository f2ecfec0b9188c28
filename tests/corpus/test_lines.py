from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.corpus import formats, lines
from bertsmith.corpus.formats import read_documents
from bertsmith.corpus.lines import cut_line, read_lines
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import find_sources


class Dribble(io.BytesIO):
    """A stream that gives fewer bytes than asked for, as remote ones do."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 1, 700))


def test_long_lines_are_cut_at_spaces_wherever_blocks_end(monkeypatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    text = " ".join(str(number) for number in range(5000)) + "\n" + "x" * 2500
    data = text.encode()
    found = list(read_lines(io.BytesIO(data), "a", "utf-8", "strict", cut=True))
    assert list(read_lines(Dribble(data), "a", "utf-8", "strict", cut=True)) == found
    assert max(map(len, found)) == 1000
    assert "".join(found) == text.replace("\n", "")
    assert " ".join(found[:-3]).split() == text.split("\n")[0].split()
    assert list(cut_line("short")) == ["short"]


def test_a_record_too_long_for_memory_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_RECORD", 1000)
    with pytest.raises(InputError, match="longer than 1,000"):
        list(read_lines(Dribble(b"x" * 5000), "a", "utf-8", "strict"))


@pytest.mark.parametrize("form", ["sentences", "paragraphs", "wrapped"])
def test_documents_too_long_for_memory_are_cut(tmp_path: Path, monkeypatch, form: str) -> None:
    monkeypatch.setattr(formats, "_LONGEST_DOCUMENT", 1000)
    monkeypatch.setattr(formats, "LONGEST_LINE", 200)
    path = tmp_path / "a.txt"
    path.write_text("ten chars.\n" * 1000)
    documents = [
        d for _, d in read_documents(*find_sources([str(path)]), CorpusSettings(format=form))
    ]
    assert len(documents) >= 10
    assert " ".join(line for d in documents for line in d) == " ".join(["ten chars."] * 1000)


def test_a_cut_archive_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "x"}\n' * 1000)[:-20])
    with pytest.raises(InputError, match=r"a\.jsonl\.gz"):
        list(read_documents(*find_sources([str(path)]), CorpusSettings()))


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("eins äöü\n\nzwei", encoding="utf-16")
    settings = CorpusSettings(encoding="utf-16")
    assert [d for _, d in read_documents(*find_sources([str(path)]), settings)] == [
        ["eins äöü"], ["zwei"],
    ]  # fmt: skip
    path.write_bytes(b"no BOM, not utf-16 at all")
    with pytest.raises(InputError, match="not utf-16"):
        list(read_documents(*find_sources([str(path)]), settings))
