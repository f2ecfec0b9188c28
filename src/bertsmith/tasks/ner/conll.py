"""CoNLL column files: a word a line with its tag last, an empty line between sentences.

The layout of the shared tasks of 2002 and 2003 (Tjong Kim Sang and De Meulder, cs/0306050).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.tables.decode import read_text

MARK = "-DOCSTART-"
_BLANK = " \t"  # no other white space: words may be no-break spaces or line separators
_SPLIT = re.compile(f"[{_BLANK}]+")
EMPTY_DOCUMENTS = "documents without sentences"


@dataclass
class ColumnFile:
    """What a column file holds.

    Attributes:
        path: the file.
        sentences: in its order.
        labelled: whether it has tags: at least half of its rows have more than one column.
        skipped: ``file:line: reason`` for each malformed sentence that was left out.
        documents: number of document markers.
        counts: what else is odd.
        notes: the same with places.
    """

    path: Path
    sentences: list[TaggedSentence] = field(default_factory=list)
    labelled: bool = True
    skipped: list[str] = field(default_factory=list)
    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def read_columns(path: Path, encoding: str, *, whole: bool) -> ColumnFile:
    """The sentences of a file; the first column is the word, the last one the tag.

    Columns are set apart by tabs where most rows have one (words may then hold spaces), else by
    spaces. In a file without tags the whole row is the word. ``-DOCSTART-`` rows begin a document
    and end a sentence, with or without empty lines around; they are never data.

    Args:
        path: the file; a byte order mark, CRLF and a missing last line end do no harm.
        encoding: how its bytes spell characters.
        whole: refuse malformed rows; else their sentences are skipped and listed.

    Raises:
        InputError: the file can not be read, is in another encoding (names the byte), has no
            words, or has a malformed row that may not be skipped; names the line.
        SettingsError: there is no such encoding.
    """
    lines = _lines(read_text(path, encoding))
    rows = [line for line in lines if line and not is_mark(line)]
    if not rows:
        raise InputError("the file has no words", file=path)
    split = _splitter(rows)
    found = ColumnFile(path, labelled=2 * sum(len(split(row)) > 1 for row in rows) >= len(rows))
    documents_with_words = set()
    for document, first, sentence in _sentences(lines):
        found.documents = max(found.documents, document)
        if not sentence:
            continue
        documents_with_words.add(document)
        cells = [split(row) if found.labelled else [row.strip(_BLANK)] for row in sentence]
        problem = _problem(cells, found.labelled)
        if problem is None:
            found.sentences.append(_sentence(cells, found.labelled, document, first))
            continue
        at, text = problem
        if whole:
            raise refusal(path, first + at, text)
        found.skipped.append(f"{path}:{first + at}: {text}; the sentence is left out")
    found.counts[EMPTY_DOCUMENTS] = found.documents - len(documents_with_words - {0})
    _note_widths(found, lines, split)
    return found


def refusal(path: Path, line: int, problem: str) -> InputError:
    """The error for a malformed row that may not be skipped."""
    return InputError(
        problem, file=path, line=line,
        mend="mend the row: the word comes first, its tag last; malformed sentences are skipped "
        "only in training and without --strict",
    )  # fmt: skip


def is_mark(line: str) -> bool:
    """Whether a row begins a document instead of holding a word."""
    return _SPLIT.split(line.strip(_BLANK), maxsplit=1)[0] == MARK


def _lines(text: str) -> list[str]:
    """Lines without blanks at their end. Only line ends end a line, so U+2028 may be a word."""
    text = text.replace("\r\n", "\n")
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return [line.rstrip(_BLANK) for line in text.split("\n")]


class _Splitter:
    def __init__(self, by_tabs: bool) -> None:
        self.by_tabs = by_tabs

    def __call__(self, row: str) -> list[str]:
        if self.by_tabs:
            return [cell.strip(_BLANK) for cell in row.split("\t")]
        return _SPLIT.split(row.strip(_BLANK))


def _splitter(rows: list[str]) -> _Splitter:
    return _Splitter(2 * sum("\t" in row for row in rows) > len(rows))


def _sentences(lines: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Document, first line and rows of each sentence; at each marker also an empty sentence."""
    document, first, rows = 0, 1, list[str]()
    for number, line in enumerate(lines, 1):
        if line and not is_mark(line):
            first = first if rows else number
            rows.append(line)
            continue
        if rows:
            yield document, first, rows
            rows = []
        if line:
            document += 1
            yield document, number, []
    if rows:
        yield document, first, rows


def _problem(cells: list[list[str]], labelled: bool) -> tuple[int, str] | None:
    """The first malformed row of a sentence and what is wrong with it."""
    for at, row in enumerate(cells):
        if not row[0]:
            return at, "the row has no word"
        if labelled and len(row) == 1:
            return at, f"the row has no tag, only {row[0][:40]!r}"
    return None


def _sentence(cells: list[list[str]], labelled: bool, document: int, line: int) -> TaggedSentence:
    words = tuple(row[0] for row in cells)
    tags = tuple(row[-1] for row in cells) if labelled else None
    return TaggedSentence(words, tags, document, line)


def _note_widths(found: ColumnFile, lines: list[str], split: _Splitter) -> None:
    """Rows with more or fewer columns than most may have been split in the wrong place."""
    widths = [
        (number, len(split(line)))
        for number, line in enumerate(lines, 1)
        if line and not is_mark(line)
    ]
    if not found.labelled:
        found.counts["rows of several columns taken for a word"] = sum(
            width > 1 for _, width in widths
        )
        return
    usual = Counter(width for _, width in widths).most_common(1)[0][0]
    odd = [(number, width) for number, width in widths if width not in (1, usual)]
    if odd:
        found.counts["rows with an odd number of columns"] = len(odd)
        found.notes.append(
            f"{found.path}:{odd[0][0]}: {odd[0][1]} columns where most rows have {usual}"
            + (f", and {len(odd) - 1} more rows" if len(odd) > 1 else "")
        )
