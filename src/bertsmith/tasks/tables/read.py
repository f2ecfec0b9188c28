"""A file as a table, by its suffix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.decode import read_text
from bertsmith.tasks.tables.objects import object_rows
from bertsmith.tasks.tables.parquet import parquet_rows
from bertsmith.tasks.tables.quoted import quoted_rows
from bertsmith.tasks.tables.rows import Row, Table

JSON, PARQUET = (".jsonl", ".jsonlines", ".ndjson", ".json"), (".parquet", ".pq")
TABBED = (".tsv", ".tab", ".txt", ".text", ".label", ".data", "")
# Suffixes that name a part: ``stsa.fine.train`` holds lines of text.
PARTS = (".train", ".dev", ".valid", ".val", ".validation", ".test")
SUFFIXES = (".csv", *TABBED, *PARTS, *JSON, *PARQUET)

Fields = Iterable[tuple[int, list[str]]]


def read_table(path: Path, settings: TaskSettings) -> Table:
    """Read a table; malformed rows are in it with their problem.

    ==================================  =============================================
    suffix                              rows
    ==================================  =============================================
    ``.csv``                            RFC 4180 quoting, none with ``quoting`` off
    ``.tsv .tab .txt``, none, and       tabs, no quoting: a quote is a character
    ``.train .dev .test`` ...
    ``.jsonl .jsonlines .ndjson .json`` an object a line, or one list of objects
    ``.parquet .pq``                    rows
    ==================================  =============================================

    With ``header`` off the columns of TSV and CSV are called 1, 2, ... A text file other than
    ``.tsv`` without a header and without any tab, of which a column 2 is asked for, has lines such
    as ``label some text``: the word before the first space is column 1, the rest column 2.

    Args:
        path: the file.
        settings: ``header``, ``quoting`` and ``encoding`` count.

    Raises:
        InputError: the file can not be read, has no rows, or is of no known kind.
        SettingsError: there is no such encoding.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        kinds = ".tsv, .csv, .jsonl, .parquet, .txt"
        raise InputError(
            "no table is known by this suffix", file=path, value=path.suffix,
            mend=f"make it one of {kinds} (decompress it first if it is compressed)",
        )  # fmt: skip
    if suffix in PARQUET:
        columns, rows = parquet_rows(path)
        table = Table(path, columns, rows)
    elif suffix in JSON:
        rows = list(object_rows(read_text(path, settings.encoding), path))
        names = dict.fromkeys(name for row in rows for name in row.cells)
        table = Table(path, tuple(names), rows)
    else:
        table = _fields(path, suffix, settings)
    if not table.rows:
        raise InputError("the file has no rows" + " after its header" * table.named, file=path)
    return table


def _fields(path: Path, suffix: str, settings: TaskSettings) -> Table:
    text = read_text(path, settings.encoding)
    notes: tuple[str, ...] = ()
    fields: Fields
    if suffix == ".csv" and settings.quoting:
        fields = quoted_rows(text, path)
    elif suffix == ".csv":
        fields = _split(text, ",")
    elif suffix not in (".tsv", ".tab") and "\t" not in text and _asks_two(settings):
        fields = _split(text, " ", most=1)
        notes = (f"{path.name}: no tabs: the first word of a line is column 1, the rest column 2",)
    else:
        fields = _split(text, "\t")
    return _named(path, fields, settings.header, notes)


def _asks_two(settings: TaskSettings) -> bool:
    asked = (settings.text_column, settings.pair_column, settings.label_column, settings.id_column)
    return not settings.header and "2" in asked


def _split(text: str, separator: str, most: int = -1) -> Iterator[tuple[int, list[str]]]:
    """Lines as fields. Only LF and CRLF end a line; empty lines at the very end are none."""
    lines = text.split("\n")
    while lines and not lines[-1].strip("\r"):
        del lines[-1]
    for number, line in enumerate(lines, 1):
        yield number, line.removesuffix("\r").split(separator, most)


def _named(path: Path, fields: Fields, header: bool, notes: tuple[str, ...]) -> Table:
    rows = list(fields)
    if not rows:
        raise InputError("the file is empty", file=path)
    if header:
        columns = tuple(name.strip() for name in rows.pop(0)[1])
    else:
        columns = tuple(str(at + 1) for at in range(_usual_width(rows)))
    return Table(path, columns, [_row(*one, columns) for one in rows], header, notes)


def _usual_width(rows: list[tuple[int, list[str]]]) -> int:
    """The number of fields that most rows have; of two as frequent the first."""
    widths = [len(cells) for _, cells in rows]
    return max(dict.fromkeys(widths), key=widths.count)


def _row(line: int, cells: list[str], columns: tuple[str, ...]) -> Row:
    if len(cells) != len(columns):
        return Row(line, problem=f"{len(cells)} fields instead of {len(columns)}")
    return Row(line, dict(zip(columns, cells, strict=True)))
