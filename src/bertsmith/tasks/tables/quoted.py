"""Comma-separated rows, with the quoting rules of RFC 4180."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from bertsmith.common.errors import InputError

_MOST_LINES = 1000  # that a cell may span
_LEAST_ROWS = 5  # inside one cell that make it look like rows swallowed by a quote
_MEND = "double the quotes inside quoted cells, or give --no-quoting if quotes are plain characters"


def quoted_rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV text with the line each begins on; blank lines are none.

    A cell that begins with a quote goes on, over line ends, to the next single quote, which has to
    be followed by a comma or a line end. An odd quote in a file without quoting would so make one
    cell of many rows, in silence. It is refused where the rule about what follows is broken, where
    the file ends inside quotes, where a cell spans more than 1000 lines, and where all lines inside
    a cell, five or more, have as many commas as a row.

    Raises:
        InputError: such a cell; names the line on which its row begins.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start, columns = 1, 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"the quotes of the row do not fit together: {error}", file=path, line=start,
                mend=_MEND,
            ) from None  # fmt: skip
        if cells:
            columns = columns or len(cells)
            if reader.line_num > start:
                _check(cells, columns, path, start)
            yield start, cells
        start = reader.line_num + 1


def _check(cells: list[str], columns: int, path: Path, line: int) -> None:
    for cell in cells:
        inside = cell.split("\n")[1:-1]
        rows = columns > 1 and all(one.count(",") == columns - 1 for one in inside)
        if len(inside) >= _MOST_LINES or (rows and len(inside) >= _LEAST_ROWS):
            raise InputError(
                f"one cell of the row spans {len(inside) + 2} lines: a quote that is not closed?",
                file=path, line=line, value=cell[:40], mend=_MEND,
            )  # fmt: skip
