"""Parquet as rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bertsmith.common.errors import InputError
from bertsmith.tasks.tables.objects import plain
from bertsmith.tasks.tables.rows import Row


def parquet_rows(path: Path) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows of a Parquet file.

    A column of whole floats is one of whole numbers that had to make room for nulls: the label
    1.0 is ``1`` there, as it was before.

    Raises:
        InputError: the file can not be read.
    """
    try:
        file = pq.ParquetFile(path)
        table = file.read()
        if table.num_rows != file.metadata.num_rows:
            raise ValueError(f"{file.metadata.num_rows:,} rows are said, {table.num_rows:,} there")
        columns = [_spelled(_values(table.column(at))) for at in range(table.num_columns)]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"the Parquet file can not be read: {error}", file=path) from None
    names = tuple(table.column_names)
    rows = [
        Row(number, {
            name: value for name, value in zip(names, values, strict=True) if value is not None
        })
        for number, values in enumerate(zip(*columns, strict=True), 1)
    ]  # fmt: skip
    return names, rows


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The cells; what Python has no type for (nanoseconds, years of five digits), as Arrow spells
    it."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return list(column.cast(pa.string()).to_pylist())


def _spelled(values: list[Any]) -> list[object]:
    floats = [one for one in values if isinstance(one, float) and math.isfinite(one)]
    whole = all(one.is_integer() for one in floats)
    return [plain(_words(one, whole)) for one in values]


def _words(value: Any, whole: bool) -> Any:
    """Numbers, times and bytes as text; lists and objects stay what they are."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return _number(value, whole)
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, list):
        return [_words(one, False) for one in value]
    if isinstance(value, dict):
        return {name: _words(one, False) for name, one in value.items()}
    return str(value)


def _decoded(value: bytes) -> str | bytes:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value  # a picture, say: no text, which matters only if the column is asked for


def _number(value: float, whole: bool) -> str | None:
    if math.isnan(value):
        return None
    return str(int(value)) if whole and math.isfinite(value) else repr(value)
