"""A table: named columns, and rows that know their line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bertsmith.common.errors import InputError, nearest

_SHOWN, _WIDE = 20, 40  # columns an error lists; characters of each


class BadRow(ValueError):
    """A row that is not as it should be; its text says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Attributes:
        line: where it begins in its file, from 1; for Parquet its number, from 1.
        cells: column -> text, spelled as in the file; lists and objects (JSON, Parquet) hold
            their texts. A null and a cell that is not there are no cell.
        problem: why the row is malformed; then it has no cells.
    """

    line: int
    cells: Mapping[str, object] = field(default_factory=dict)
    problem: str = ""

    def text(self, column: str) -> str | None:
        """The cell as text, None where there is none.

        Raises:
            BadRow: the cell is a list or an object.
        """
        value = self.cells.get(column)
        if value is None or isinstance(value, str):
            return value
        raise BadRow(f"column {column!r} holds {_kind(value)} instead of text")

    def texts(self, column: str) -> tuple[str, ...] | None:
        """The cell as a list of texts, None where there is none.

        Raises:
            BadRow: the cell is not a list, or not one of texts.
        """
        value = self.cells.get(column)
        if value is None:
            return None
        if not isinstance(value, list):
            raise BadRow(f"column {column!r} holds {_kind(value)} instead of a list")
        found = tuple(one for one in value if isinstance(one, str))
        if len(found) != len(value):
            raise BadRow(f"the list in column {column!r} holds something that is not text")
        return found

    def need(self, column: str) -> str:
        """As :meth:`text`; a cell that is not there is a :class:`BadRow`."""
        found = self.text(column)
        if found is None:
            raise BadRow(f"nothing in column {column!r}")
        return found


@dataclass(frozen=True)
class Table:
    """A file.

    Attributes:
        path: the file.
        columns: names of the columns in the order of the file.
        rows: all rows, malformed ones too, so that their numbers hold.
        named: whether the names come from a first row, which might have been data.
        notes: how the file was read where that is not plain.
    """

    path: Path
    columns: tuple[str, ...]
    rows: list[Row]
    named: bool = False
    notes: tuple[str, ...] = ()

    def need(self, column: str, flag: str) -> str:
        """The column, which is there exactly once.

        Args:
            column: its name.
            flag: the flag that gives the name, for the message; empty where there is none.

        Raises:
            InputError: it is not there, or twice.
        """
        count = self.columns.count(column)
        if count == 1:
            return column
        if not self.columns and self.rows and self.rows[0].problem:
            raise InputError(
                f"no row can be read: {self.rows[0].problem}", file=self.path,
                line=self.rows[0].line, mend="give a JSON object a line, or one list of objects",
            )  # fmt: skip
        if count > 1:
            raise InputError(
                f"{count} columns are {column!r}", file=self.path, line=1 if self.named else None,
                mend="call all but one of them something else",
            )  # fmt: skip
        wrong = f"there is no column {column!r}"
        raise InputError(
            wrong, file=self.path, line=1 if self.named else None, mend=self._mend(column, flag)
        )

    def has(self, column: str) -> bool:
        """Whether the column is there."""
        return column in self.columns

    def _mend(self, column: str, flag: str) -> str:
        names = [f"{one[:_WIDE]!r}" for one in self.columns[:_SHOWN]]
        more = len(self.columns) - _SHOWN
        text = f"the file has the columns {', '.join(names)}" + (f" and {more} more" * (more > 0))
        close = nearest(column, self.columns)
        other = [mark for mark in ";\t|," if self.columns and mark in self.columns[0]]
        if self.named and len(self.columns) == 1 and other:
            return (
                f"{text}: it looks set apart by {other[0]!r}; a .csv file has commas between its "
                "cells, a .tsv file tabs"
            )
        if flag:
            text += f"; name one with {flag}" + (f" {close}" if close else "")
            if self.named:
                text += ", or give --no-header if the first row is data"
        return text


def _kind(value: object) -> str:
    if isinstance(value, bytes):
        return "bytes that are not UTF-8"
    return "a list" if isinstance(value, list) else "an object"
