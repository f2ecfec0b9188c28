"""Vectors of the texts of a file, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bertsmith.common.console import Bar
from bertsmith.common.errors import InputError, SettingsError
from bertsmith.common.files import atomic_path
from bertsmith.predict.embed import Embedded, Embedder
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.decode import decode
from bertsmith.tasks.tables.read import read_table
from bertsmith.tasks.tables.rows import BadRow, Row

_BLOCK = 1024  # texts between two writes


def read_texts(path: Path, settings: TaskSettings) -> list[str]:
    """The texts of a table, one a row; of a ``.txt`` file, one a line, empty ones too.

    Args:
        path: the file.
        settings: ``text_column``, and how tables are read.

    Raises:
        InputError: the file can not be read, lacks the column, or a row has no text in it.
    """
    if path.suffix.lower() in (".txt", ".text", ""):
        return lines_of(path.read_bytes() if path.is_file() else None, path, settings.encoding)
    table = read_table(path, settings)
    column = table.need(settings.text_column, "--text-column")
    return [_text(row, column, path) for row in table.rows]


def _text(row: Row, column: str, path: Path) -> str:
    try:
        if row.problem:
            raise BadRow(row.problem)
        return row.need(column)
    except BadRow as error:
        raise InputError(str(error), file=path, line=row.line, mend="mend the row") from None


def lines_of(
    data: bytes | None, name: Path | str, encoding: str = "utf-8", flag: str = "--encoding"
) -> list[str]:
    r"""The lines of a text, without their ends; only ``\n`` and ``\r\n`` end a line.

    Raises:
        InputError, SettingsError: there is no file; or see
            :func:`~bertsmith.tasks.tables.decode.decode`.
    """
    if data is None:
        raise InputError("there is no such file", file=name)
    lines = decode(data, encoding, name, flag).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def embed_to_parquet(
    embedder: Embedder, texts: Sequence[str], target: Path, pooling: str, **options: Any
) -> dict[str, Any]:
    """Write one row a text (``row``, ``text``, ``vector``), or one a token (``row``, ``position``,
    ``token``, ``vector``) where ``pooling`` is ``tokens``.

    Args:
        embedder: the model.
        texts: the texts.
        target: the Parquet file; whole or absent.
        pooling: see :meth:`~bertsmith.predict.embed.Embedder.embed`.
        options: more of its arguments.

    Returns:
        How many texts and vectors there are, how wide they are, and what was cut.
    """
    if not texts:
        raise InputError("there is no text to embed")
    if target.is_dir():
        raise SettingsError("this is a folder", file=target, mend="give --out FILE")
    rows = written = width = 0
    found = embedder.embed(texts, pooling, **options)
    with atomic_path(target) as part, Bar("embedding", len(texts)) as bar:
        writer: pq.ParquetWriter | None = None
        for block in _blocks(found):
            table = _table(block, texts[rows : rows + len(block)], rows, pooling == "tokens")
            writer = writer or pq.ParquetWriter(part, table.schema)
            writer.write_table(table)
            rows, written = rows + len(block), written + table.num_rows
            width = block[0].vectors.shape[-1]
            bar.advance(len(block))
        assert writer is not None
        writer.close()
    return {"texts": rows, "vectors": written, "width": width, **embedder.counts}


def _blocks(found: Iterator[Embedded]) -> Iterator[list[Embedded]]:
    block: list[Embedded] = []
    for one in found:
        block.append(one)
        if len(block) == _BLOCK:
            yield block
            block = []
    if block:
        yield block


def _table(block: list[Embedded], texts: Sequence[str], first: int, per_token: bool) -> pa.Table:
    numbers = np.arange(first, first + len(block))
    if not per_token:
        matrix = np.stack([one.vectors for one in block])
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return pa.table({"row": numbers, "text": clean, "vector": _fixed(matrix)})
    counts = [len(one.tokens) for one in block]
    return pa.table(
        {
            "row": np.repeat(numbers, counts),
            "position": np.concatenate([np.arange(count, dtype=np.int32) for count in counts]),
            "token": [token for one in block for token in one.tokens],
            "vector": _fixed(np.concatenate([one.vectors for one in block])),
        }
    )


def _fixed(matrix: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])
