"""TensorFlow's "tensor bundle" checkpoints, read without TensorFlow.

A checkpoint is ``PREFIX.index``, a table from names to types, shapes and places, and files of data
``PREFIX.data-00000-of-00001`` with the tensors' bytes in C order. What ``PREFIX.meta`` holds, the
graph, is not needed.

Source: ``core/util/tensor_bundle`` of TensorFlow.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertsmith.checkpoints.tensorflow.crc32c import masked_crc32c
from bertsmith.checkpoints.tensorflow.entries import Entry, Header, OldLayoutError
from bertsmith.checkpoints.tensorflow.prefix import index_of, is_old_layout, old_layout, shard_of
from bertsmith.checkpoints.tensorflow.sstable import read_table
from bertsmith.common.errors import ModelError

_HEADER = b""
_SLICE = b"\0"  # what the key of a slice of a tensor begins with
_COPY_AGAIN = "copy all files of the checkpoint again"


_SPARE_BYTES = 1 << 20


class TensorBundle:
    """A checkpoint whose index has been read; a tensor's bytes are read when asked for.

    Args:
        prefix: what the names of the files begin with, ``DIR/bert_model.ckpt`` for example.

    Attributes:
        prefix: the same.
        entries: name -> type, shape and place, in the order of the index.

    Raises:
        ModelError: the index is missing or damaged, or in a layout that is not read.
    """

    def __init__(self, prefix: Path) -> None:
        self.prefix = Path(prefix)
        self.entries: dict[str, Entry] = {}
        self._index = index_of(self.prefix)
        if not self._index.exists() and is_old_layout(self.prefix):
            raise old_layout(self.prefix)
        table = dict(read_table(self._index))
        self._shards = self._header(table.pop(_HEADER, b"")).shards
        for key, message in table.items():
            if not key.startswith(_SLICE):
                self._add(key, message)

    def read(self, name: str) -> NDArray[Any]:
        """A tensor in memory of its own, in C order, its checksum verified.

        ``bfloat16``, which numpy lacks, is widened to ``float32``, which has all its values.

        Raises:
            ModelError: the file of data is missing or short, the checksum does not agree, or the
                tensor is of a kind that is not read.
            KeyError: there is no such tensor.
        """
        entry = self.entries[name]
        stored = _stored_type(entry)
        if entry.sliced or stored is None:
            kind = "stored in slices" if entry.sliced else f"of the kind {entry.dtype}"
            raise ModelError(
                f"tensor {name} is {kind}, which is not read", file=self._index,
                mend="save the variable whole, and as numbers of a usual type",
            )  # fmt: skip
        if math.prod(entry.shape) * stored.itemsize != entry.size:
            raise ModelError(
                f"the index is damaged: tensor {name} has shape {list(entry.shape)} of "
                f"{entry.dtype}, but {entry.size} bytes", file=self._index, mend=_COPY_AGAIN,
            )  # fmt: skip
        data = self._bytes_of(name, entry).view(stored)
        if entry.dtype == "bfloat16":
            data = (data.astype("<u4") << 16).view("<f4")
        try:
            return data.reshape(entry.shape)
        except ValueError as error:
            raise ModelError(
                f"the shape of tensor {name} can not be: {error}", file=self._index
            ) from None

    def _header(self, message: bytes) -> Header:
        try:
            header = Header.parse(message)
        except OldLayoutError:
            raise old_layout(self._index) from None
        except ValueError as error:
            raise ModelError(
                f"the table is no index of a TensorFlow checkpoint: {error}", file=self._index
            ) from None
        if not header.is_readable:
            order = "big-endian" if header.big_endian else f"of version {header.needs}"
            raise ModelError(f"the checkpoint is {order}, which is not read", file=self._index)
        return header

    def _add(self, key: bytes, message: bytes) -> None:
        try:
            name = key.decode("utf-8")
            entry = Entry.parse(message)
        except ValueError as error:
            raise ModelError(
                f"the index is damaged: entry {key.decode('utf-8', 'backslashreplace')}: {error}",
                file=self._index, mend=_COPY_AGAIN,
            ) from None  # fmt: skip
        if entry.shard >= self._shards:
            raise ModelError(
                f"the index is damaged: tensor {name} is said to be in file {entry.shard} of "
                f"{self._shards}", file=self._index, mend=_COPY_AGAIN,
            )  # fmt: skip
        self.entries[name] = entry

    def check_total(self) -> None:
        """Refuse tensors that overlap: all of them would make much memory of a small file.

        Raises:
            ModelError: the tensors of the index are far larger than the files of data.
        """
        numbers = {entry.shard for entry in self.entries.values()}
        shards = [shard_of(self.prefix, number, self._shards) for number in numbers]
        if not all(shard.exists() for shard in shards):
            return  # named when a tensor is read
        said, there = (
            sum(entry.size for entry in self.entries.values()),
            sum(shard.stat().st_size for shard in shards),
        )
        if said > 2 * there + _SPARE_BYTES:  # less is named by its tensor
            raise ModelError(
                f"the tensors of the index are of {said:,} bytes, and the data of {there:,}",
                file=self._index, mend=_COPY_AGAIN,
            )  # fmt: skip

    def _bytes_of(self, name: str, entry: Entry) -> NDArray[np.uint8]:
        file = shard_of(self.prefix, entry.shard, self._shards)
        try:
            length = file.stat().st_size
            if entry.offset + entry.size > length:  # asked before any memory is taken
                raise ModelError(
                    f"the file is truncated: tensor {name} ends at byte "
                    f"{entry.offset + entry.size}, the file at {length}",
                    file=file, mend=_COPY_AGAIN,
                )  # fmt: skip
            data = np.fromfile(file, np.uint8, entry.size, offset=entry.offset)
        except FileNotFoundError:
            raise ModelError(
                f"a file of the checkpoint's data is missing, with tensor {name}",
                file=file, mend=_COPY_AGAIN,
            ) from None  # fmt: skip
        except OSError as error:
            raise ModelError(f"the file can not be read: {error.strerror}", file=file) from None
        if len(data) < entry.size or masked_crc32c(data) != entry.crc:
            raise ModelError(
                f"the file is damaged: the checksum of tensor {name} does not agree",
                file=file, mend=_COPY_AGAIN,
            )  # fmt: skip
        return data


def _stored_type(entry: Entry) -> np.dtype[Any] | None:
    """How numpy reads the tensor's bytes; None for a kind that it does not have."""
    if entry.dtype == "bfloat16":
        return np.dtype("<u2")
    if entry.dtype == "string" or entry.dtype.startswith("type "):
        return None
    return np.dtype(entry.dtype).newbyteorder("<")
