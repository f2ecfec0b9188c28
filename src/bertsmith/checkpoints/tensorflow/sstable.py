"""LevelDB's table: sorted keys with values in blocks with checksums, as TensorFlow stores an index.

A block is entries of (length shared with the key before, rest of the key, value), then the places
of the entries that share nothing, then a byte for its compression and a masked CRC-32C. Blocks of
data come first, then an empty one for filters, then one with the last key of each block of data
and its place, and a footer of fixed length with the places of those two.

Source: ``doc/table_format.md`` of LevelDB; ``core/lib/io/table`` of TensorFlow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bertsmith.checkpoints.tensorflow.crc32c import masked_crc32c
from bertsmith.checkpoints.tensorflow.protobuf import read_varint, write_varint
from bertsmith.common.errors import ModelError
from bertsmith.common.files import read_small

MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48
_TRAILER = 5  # a byte for the compression, four for the checksum
_STORED, _SNAPPY = 0, 1
_RESTART_EVERY = 16
_BLOCK_BYTES = 4096
LONGEST_KEY = 4096
# Keys are stored as what differs from the one before; whole again they may be this much larger than
# the file.
_TIMES, _SPARE = 16, 1 << 20


def read_table(file: Path) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a table in the order of the keys.

    Raises:
        ModelError: the file is missing, is no table, is compressed or damaged.
    """
    try:
        data = read_small(file)
    except FileNotFoundError:
        raise ModelError("there is no such index of a TensorFlow checkpoint", file=file) from None
    except OSError as error:
        raise ModelError(f"the index can not be read: {error.strerror}", file=file) from None
    if not data.endswith(MAGIC) or len(data) < _FOOTER:
        raise ModelError(
            "this is no index of a TensorFlow checkpoint, or its end is missing", file=file,
            mend="copy the file again, whole",
        )  # fmt: skip
    try:
        yield from _entries(data)
    except _Compressed as error:
        raise ModelError(
            f"a block of the index is compressed with {error}, which is not read", file=file,
            mend="write the checkpoint again with tf.train.Saver, which does not compress",
        ) from None  # fmt: skip
    except ValueError as error:
        raise ModelError(
            f"the index is damaged: {error}", file=file, mend="copy the file again, whole"
        ) from None


def table_bytes(entries: Iterable[tuple[bytes, bytes]], block_bytes: int = _BLOCK_BYTES) -> bytes:
    """A table of the given keys and values.

    Args:
        entries: keys in ascending order, each once and of at most LONGEST_KEY bytes, with values.
        block_bytes: where a block ends: after the entry that brings it to this size.
    """
    table = bytearray()
    blocks: list[tuple[bytes, bytes]] = []
    block = _BlockWriter(_RESTART_EVERY)
    for key, value in entries:
        block.add(key, value)
        if len(block.entries) >= block_bytes:
            blocks.append((key, _append(table, block)))
            block = _BlockWriter(_RESTART_EVERY)
    if block.entries:
        blocks.append((block.key, _append(table, block)))
    filters = _append(table, _BlockWriter(1))
    index = _BlockWriter(1)
    for last, place in blocks:
        index.add(last, place)
    places = filters + _append(table, index)
    return bytes(table) + places.ljust(_FOOTER - len(MAGIC), b"\0") + MAGIC


class _Compressed(Exception):
    """A block that is compressed; says with what."""


def _entries(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    footer = data[-_FOOTER : -len(MAGIC)]
    filters, at = _Place.read(footer, 0)
    index, _ = _Place.read(footer, at)
    if footer != (filters.stored + index.stored).ljust(len(footer), b"\0"):
        raise ValueError("the footer holds more than two places")
    filters.block_of(data)  # of no use, but its checksum tells of damage
    last = None
    left, room = len(data), _TIMES * len(data) + _SPARE
    for _, place in _block_entries(index.block_of(data)):
        block, _ = _Place.read(place, 0)
        left -= block.size
        if left < 0:
            raise ValueError("blocks overlap")
        for key, value in _block_entries(block.block_of(data)):
            if last is not None and key <= last:
                raise ValueError("the keys are not in order")
            last = key
            room -= len(key)
            if room < 0:
                raise ValueError("the keys are far larger than the file")
            yield key, value


@dataclass(frozen=True)
class _Place:
    """Where a block is: its offset and its size in bytes, without the trailer."""

    offset: int
    size: int

    @classmethod
    def read(cls, data: bytes, at: int) -> tuple[_Place, int]:
        offset, at = read_varint(data, at)
        size, at = read_varint(data, at)
        return cls(offset, size), at

    @property
    def stored(self) -> bytes:
        return write_varint(self.offset) + write_varint(self.size)

    def block_of(self, data: bytes) -> bytes:
        """The block's contents, once the checksum agrees."""
        end = self.offset + self.size
        trailer = data[end : end + _TRAILER]
        if len(trailer) < _TRAILER:
            raise ValueError("a block lies beyond the end of the file")
        if masked_crc32c(data[self.offset : end + 1]) != int.from_bytes(trailer[1:], "little"):
            raise ValueError("the checksum of a block does not agree")
        if trailer[0] != _STORED:
            raise _Compressed("snappy" if trailer[0] == _SNAPPY else f"method {trailer[0]}")
        return data[self.offset : end]


def _block_entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise ValueError("a block is too short")
    end = len(block) - 4 * (1 + int.from_bytes(block[-4:], "little"))
    if end < 0:
        raise ValueError("a block is too short")
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        own, at = read_varint(block, at)
        size, at = read_varint(block, at)
        # The limit on keys keeps a crafted chain of them from growing beyond any file's size.
        if shared > len(key) or at + own + size > end or shared + own > LONGEST_KEY:
            raise ValueError("an entry does not fit its block")
        key = key[:shared] + block[at : at + own]
        at += own + size
        yield key, block[at - size : at]


class _BlockWriter:
    """A block that grows by an entry at a time.

    Args:
        restart_every: after how many entries one is written with its whole key.
    """

    def __init__(self, restart_every: int) -> None:
        self.entries = bytearray()
        self.key = b""
        self._restarts = [0]
        self._since = 0
        self._every = restart_every

    def add(self, key: bytes, value: bytes) -> None:
        if self._since == self._every:
            self._restarts.append(len(self.entries))
            self._since = 0
        shared = _shared(self.key, key) if self._since else 0
        self.entries += write_varint(shared) + write_varint(len(key) - shared)
        self.entries += write_varint(len(value)) + key[shared:] + value
        self.key = key
        self._since += 1

    def contents(self) -> bytes:
        restarts = (*self._restarts, len(self._restarts))
        return bytes(self.entries) + struct.pack(f"<{len(restarts)}I", *restarts)


def _shared(a: bytes, b: bytes) -> int:
    """How many bytes both begin with."""
    length = min(len(a), len(b))
    return next((at for at in range(length) if a[at] != b[at]), length)


def _append(table: bytearray, block: _BlockWriter) -> bytes:
    """Put a block at the end of the table; gives its place as stored."""
    contents = block.contents()
    place = _Place(len(table), len(contents))
    contents += bytes([_STORED])
    table += contents + masked_crc32c(contents).to_bytes(4, "little")
    return place.stored
