"""Documents from files: what a document is in each format, and how the format is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from bertsmith.common.errors import InputError
from bertsmith.corpus.lines import read_lines
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source

# A document: its lines (each a sentence, or a paragraph to be split), and whether they are sentences.
Document = list[str]
_LONGEST_DOCUMENT = 4_000_000  # characters; a longer one is cut, so that memory stays flat
_LOOK_AT = 2000  # lines
_WIDEST_WRAPPED = 120  # characters
_ENDS = re.compile(r"[.!?…。！？؟।:;][\"'”’»)\]]*$")
_INNER_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+[\"'“‘«(\[]*[^\W\d_a-z]|[。！？]")


def read_documents(source: Source, settings: CorpusSettings) -> Iterator[tuple[str, Document]]:
    """The documents of one file with the format they were read in; a file ends its last document.

    A document is a list of lines: sentences in the format ``sentences``, else paragraphs. White
    space around lines is dropped, empty lines are.
    """
    kind = settings.format if settings.format in ("jsonl", "parquet") else source.kind
    if settings.format in ("sentences", "paragraphs", "wrapped"):
        kind = "text"
    if kind == "parquet":
        documents = (text.split("\n") for text in _parquet(source, settings))
        yield from (("paragraphs", _stripped(document)) for document in documents)
        return
    with source.open() as stream:
        lines = read_lines(stream, source.url, settings.encoding, settings.errors)
        if kind == "jsonl":
            for text in _jsonl(lines, source.url, settings.text_column):
                yield "paragraphs", _stripped(re.split(r"\r\n|\n|\r", text))
            return
        head = list(islice(lines, _LOOK_AT))
        form = detect(head) if settings.format == "auto" else settings.format
        split = {"sentences": _blocks, "paragraphs": _whole, "wrapped": _unwrapped}[form]
        for document in split(_chain(head, lines)):
            for piece in _cut(document):
                yield form, piece


def detect(lines: list[str]) -> str:
    """The layout of plain text, told from its first lines.

    ``wrapped``: lines are at most 120 characters wide, most lines inside a block are nearly as wide
    as the widest, and fewer than six in ten end like a sentence. ``paragraphs``: lines hold more
    than one sentence on average (1.3 or more). Else ``sentences``, the layout of 2018.
    """
    full = [line.strip() for line in lines if line.strip()]
    if not full:
        return "sentences"
    widths = sorted(len(line) for line in full)
    widest = widths[int(0.95 * (len(widths) - 1))]
    inside = [
        line.strip() for line, after in zip(lines, lines[1:], strict=False)
        if line.strip() and after.strip()
    ]  # fmt: skip
    if 40 <= widest <= _WIDEST_WRAPPED and inside:
        wide = sum(len(line) >= 0.6 * widest for line in inside) / len(inside)
        ended = sum(bool(_ENDS.search(line)) for line in inside) / len(inside)
        if wide >= 0.7 and ended < 0.6:
            return "wrapped"
    sentences = sum(1 + len(_INNER_END.findall(line)) for line in full)
    return "paragraphs" if sentences / len(full) >= 1.3 else "sentences"


def _chain(head: list[str], rest: Iterable[str]) -> Iterator[str]:
    yield from head
    yield from rest


def _stripped(lines: Iterable[str]) -> Document:
    return [line for raw in lines if (line := raw.strip())]


def _blocks(lines: Iterable[str]) -> Iterator[Iterator[str]]:
    """A document a block of lines between blank lines."""
    block: list[str] = []
    for raw in lines:
        line = raw.strip()
        if line:
            block.append(line)
        elif block:
            yield iter(block)
            block = []
    if block:
        yield iter(block)


def _whole(lines: Iterable[str]) -> Iterator[Iterator[str]]:
    """One document a file, a paragraph a line."""
    yield (line for raw in lines if (line := raw.strip()))


def _unwrapped(lines: Iterable[str]) -> Iterator[Iterator[str]]:
    """One document a file; the lines between blank lines are one paragraph."""
    yield (" ".join(block) for block in _blocks(lines))


def _cut(lines: Iterator[str]) -> Iterator[Document]:
    """A document in pieces of at most so many characters; mostly one piece."""
    piece: list[str] = []
    size = 0
    for line in lines:
        if piece and size + len(line) > _LONGEST_DOCUMENT:
            yield piece
            piece, size = [], 0
        piece.append(line)
        size += len(line)
    if piece:
        yield piece


def _jsonl(lines: Iterable[str], name: str, column: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the line is not JSON: {error}", file=name, line=number) from None
        if not isinstance(record, dict) or column not in record:
            known = ", ".join(record) if isinstance(record, dict) else "none: it is no object"
            raise InputError(
                f"the line has no field {column!r}", file=name, line=number,
                mend=f"give --text-column; the fields are {known}",
            )  # fmt: skip
        text = record[column]
        if text is not None and not isinstance(text, str):
            raise InputError(f"field {column!r} is not text", file=name, line=number, value=text)
        yield text or ""


def _parquet(source: Source, settings: CorpusSettings) -> Iterator[str]:
    column = settings.text_column
    try:
        with source.open() as stream, pq.ParquetFile(stream) as table:
            names = table.schema_arrow.names
            if column not in names:
                raise InputError(
                    f"the file has no column {column!r}", file=source.url,
                    mend=f"give --text-column; the columns are {', '.join(names)}",
                )  # fmt: skip
            for batch in table.iter_batches(batch_size=256, columns=[column]):
                for text in batch.column(0).to_pylist():
                    if text is not None and not isinstance(text, str):
                        raise InputError(f"column {column!r} is not text", file=source.url)
                    yield text or ""
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        what = PurePosixPath(source.url).name
        raise InputError(f"{what} is not Parquet: {error}", file=source.url) from None
