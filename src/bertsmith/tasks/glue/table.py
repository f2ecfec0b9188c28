"""TSV files as GLUE has them: no quoting rules, lines ended by LF or CRLF, perhaps a BOM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bertsmith.common.errors import InputError

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the number of its line in the file, from 1, and its fields."""

    line: int
    fields: list[str]


@dataclass(frozen=True)
class Table:
    """A file: the names of its columns, and all rows, whatever their number of fields."""

    path: Path
    columns: tuple[str, ...]
    rows: list[Row]

    def find(self, names: Sequence[str]) -> int | None:
        """The place of the first of these columns that is there."""
        return next((self.columns.index(name) for name in names if name in self.columns), None)

    def need(self, names: Sequence[str]) -> int:
        """As :meth:`find`.

        Raises:
            InputError: none of them is there.
        """
        at = self.find(names)
        if at is None:
            raise InputError(
                f"there is no column {' or '.join(map(repr, names))}", file=self.path, line=1,
                mend=f"the file has the columns {', '.join(map(repr, self.columns))}",
            )  # fmt: skip
        return at


def read_table(path: Path, columns: Sequence[str] = ()) -> Table:
    """Read a TSV file.

    Only LF and CRLF end a line: a lone carriage return, U+2028 and their like are text. Quotes
    are text. Empty lines at the very end are no rows.

    Args:
        path: the file, UTF-8.
        columns: names of the columns of a file without a header; else its first line has them.

    Raises:
        InputError: the file can not be read, is not UTF-8, or has no header.
    """
    lines = [line.removesuffix("\r") for line in _text(path).split("\n")]
    while lines and not lines[-1]:
        del lines[-1]
    if not lines and not columns:
        raise InputError("the file is empty", file=path)
    rows = [Row(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    if columns:
        return Table(path, tuple(columns), rows)
    return Table(path, tuple(rows[0].fields), rows[1:])


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise InputError(f"the file can not be read: {error.strerror}", file=path) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "the file is not UTF-8", file=path, line=raw[: error.start].count(b"\n") + 1,
            value=raw[error.start : error.start + 4],
        ) from None  # fmt: skip
