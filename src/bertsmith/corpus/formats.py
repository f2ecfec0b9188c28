"""Documents from files: what a document is in each format, and how the format is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, pairwise
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from bertsmith.common.errors import InputError
from bertsmith.corpus.lines import LONGEST_LINE, cut_line, read_lines
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source

Document = list[str]  # its lines: each a sentence, or a paragraph to be split
_LONGEST_DOCUMENT = 4_000_000  # characters; a longer one is cut, so that memory stays flat
_LINE_END = re.compile(r"\r\n|\n|\r")
_LOOK_AT_LINES, _LOOK_AT_SIZE = 2000, 1 << 20  # of a text file, to tell its layout; characters
_NARROWEST_WRAPPED, _WIDEST_WRAPPED = 40, 120  # characters
_ENDS = re.compile(r"[.!?…。！？؟।:;][\"'”’»)\]]*$")
_INNER_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+[\"'“‘«(\[]*[^\W\d_a-z]|[。！？]")


def read_documents(source: Source, settings: CorpusSettings) -> Iterator[tuple[str, Document]]:
    """The documents of one file with the format they were read in; a file ends its last document.

    A document is a list of lines: sentences in the format ``sentences``, else paragraphs. White
    space around lines is dropped, empty lines are. What is longer than a long book is cut into
    several documents, so that no file is ever in memory as a whole.

    Args:
        source: the file.
        settings: the settings in force.

    Raises:
        InputError: the file is malformed; the message names the line or byte.
    """
    text_kinds = ("sentences", "paragraphs", "wrapped")
    kind = {**dict.fromkeys(text_kinds, "text"), "auto": source.kind}.get(
        settings.format, settings.format
    )
    if kind == "text":
        yield from _text(source, settings)
        return
    texts = _parquet(source, settings) if kind == "parquet" else _jsonl(source, settings)
    for text in texts:
        lines = (piece for line in _LINE_END.split(text) for piece in cut_line(line))
        empty = True
        for document in _cut(_filled(lines)):
            empty = False
            yield "paragraphs", document
        if empty:
            yield "paragraphs", []  # to be counted


def _text(source: Source, settings: CorpusSettings) -> Iterator[tuple[str, Document]]:
    with source.open() as stream:
        lines = read_lines(stream, source.url, settings.encoding, settings.errors, cut=True)
        head = _head(lines)
        form = detect(head) if settings.format == "auto" else settings.format
        split = {"sentences": _blocks, "paragraphs": _whole, "wrapped": _unwrapped}[form]
        for long_document in split(chain(head, lines)):
            for document in _cut(long_document):
                yield form, document


def _head(lines: Iterator[str]) -> list[str]:
    head: list[str] = []
    size = 0
    for line in lines:
        head.append(line)
        size += len(line)
        if len(head) >= _LOOK_AT_LINES or size >= _LOOK_AT_SIZE:
            break
    return head


def detect(lines: list[str]) -> str:
    """The layout of plain text, told from its first lines (2000 lines or a million characters).

    ``wrapped``: lines are at most 120 characters wide, and of the lines that another one follows
    fewer than six in ten end like a sentence, and either seven in ten are nearly as wide as the
    widest (prose), or five in ten end in a comma or go on in lower case (verse).
    ``paragraphs``: lines hold 1.3 sentences or more on average. Else ``sentences``, the layout of
    2018.
    """
    full = [line.strip() for line in lines if line.strip()]
    if not full:
        return "sentences"
    if _is_wrapped(lines, sorted(map(len, full))[int(0.95 * (len(full) - 1))]):
        return "wrapped"
    sentences = sum(1 + len(_INNER_END.findall(line)) for line in full)
    return "paragraphs" if sentences / len(full) >= 1.3 else "sentences"


def _is_wrapped(lines: list[str], widest: int) -> bool:
    followed = [
        (line.strip(), after.strip())
        for line, after in pairwise(lines)
        if line.strip() and after.strip()
    ]
    if not followed or not _NARROWEST_WRAPPED <= widest <= _WIDEST_WRAPPED:
        return False
    ended = sum(bool(_ENDS.search(line)) for line, _ in followed)
    wide = sum(len(line) >= 0.6 * widest for line, _ in followed)
    goes_on = sum(line[-1] in ",;-—" or after[0].islower() for line, after in followed)
    count = len(followed)
    return ended < 0.6 * count and (wide >= 0.7 * count or goes_on >= 0.5 * count)


def _filled(lines: Iterable[str]) -> Iterator[str]:
    return (line for raw in lines if (line := raw.strip()))


def _blocks(lines: Iterable[str]) -> Iterator[Iterator[str]]:
    """A document a block of lines between blank lines."""
    for filled, block in groupby((line.strip() for line in lines), key=bool):
        if filled:
            yield block


def _whole(lines: Iterable[str]) -> Iterator[Iterator[str]]:
    """One document a file, a paragraph a line."""
    yield _filled(lines)


def _unwrapped(lines: Iterable[str]) -> Iterator[Iterator[str]]:
    """One document a file; the lines between blank lines are one paragraph."""
    yield (paragraph for block in _blocks(lines) for paragraph in _joined(block))


def _joined(block: Iterable[str]) -> Iterator[str]:
    """The lines as one paragraph; as several where they are too long for one."""
    waiting: list[str] = []
    size = 0
    for line in block:
        if waiting and size + len(line) > LONGEST_LINE:
            yield " ".join(waiting)
            waiting, size = [], 0
        waiting.append(line)
        size += len(line)
    yield " ".join(waiting)


def _cut(lines: Iterable[str]) -> Iterator[Document]:
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


def _jsonl(source: Source, settings: CorpusSettings) -> Iterator[str]:
    with source.open() as stream:
        lines = read_lines(stream, source.url, settings.encoding, settings.errors)
        yield from _fields(lines, source.url, settings.text_column)


def _fields(lines: Iterable[str], name: str, column: str) -> Iterator[str]:
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
        with source.open() as stream, _parquet_file(stream) as table:
            names = table.schema_arrow.names
            if column not in names:
                raise InputError(
                    f"the file has no column {column!r}", file=source.url,
                    mend=f"give --text-column; the columns are {', '.join(names)}",
                )  # fmt: skip
            left = table.metadata.num_rows
            for batch in table.iter_batches(batch_size=256, columns=[column]):
                left -= batch.num_rows
                for text in batch.column(0).to_pylist():
                    if text is not None and not isinstance(text, str):
                        raise InputError(f"column {column!r} is not text", file=source.url)
                    yield text or ""
            if left:
                raise InputError(
                    f"the file says that it has {table.metadata.num_rows:,} rows, and {left:,} of "
                    "them are not there", file=source.url, mend="copy the file again",
                )  # fmt: skip
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"the file is not Parquet: {error}", file=source.url) from None


def _parquet_file(stream: BinaryIO) -> pq.ParquetFile:
    # Row groups can be as large as the file: read through a buffer, not ahead.
    return pq.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
