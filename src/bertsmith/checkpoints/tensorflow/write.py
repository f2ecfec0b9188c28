"""Writing a checkpoint that TensorFlow's Saver restores, without TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertsmith.checkpoints.tensorflow.crc32c import masked_crc32c
from bertsmith.checkpoints.tensorflow.entries import DTYPES, Entry, Header
from bertsmith.checkpoints.tensorflow.prefix import index_of, shard_of
from bertsmith.checkpoints.tensorflow.sstable import LONGEST_KEY, table_bytes
from bertsmith.common.errors import ModelError
from bertsmith.common.files import atomic_path

_WRITTEN = frozenset(DTYPES.values()) - {"string", "bfloat16"}  # types that numpy has


def write_bundle(prefix: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write ``PREFIX.data-00000-of-00001`` and then ``PREFIX.index``.

    Args:
        prefix: what the names of the files begin with.
        tensors: the variables by their TensorFlow names; types stay as they are.

    Raises:
        ModelError: a tensor is of a type that TensorFlow or this writer lacks, or a name can not
            be one of a variable.
    """
    prefix = Path(prefix)
    entries: dict[bytes, Entry] = {}
    keys = sorted((_key(prefix, name), name) for name in tensors)
    with atomic_path(shard_of(prefix, 0, 1)) as part, part.open("wb") as stream:
        for key, name in keys:
            given = tensors[name]
            dtype = given.dtype.name
            if dtype not in _WRITTEN:
                raise ModelError(
                    f"tensor {name} is of type {dtype}, which is not written", file=prefix
                )
            # Not ascontiguousarray, which would make a vector of a scalar.
            tensor = np.asarray(given, np.dtype(dtype).newbyteorder("<"), order="C")
            entries[key] = Entry(
                dtype, tensor.shape, 0, stream.tell(), tensor.nbytes, masked_crc32c(tensor)
            )
            stream.write(tensor.reshape(-1).view(np.uint8).data)
    table = [(b"", Header(shards=1).message())]
    table += [(key, entry.message()) for key, entry in entries.items()]
    with atomic_path(index_of(prefix)) as part:
        part.write_bytes(table_bytes(table))


def _key(prefix: Path, name: str) -> bytes:
    try:
        key = name.encode("utf-8")
    except UnicodeEncodeError:
        key = b""
    if not key or b"\0" in key or len(key) > LONGEST_KEY:
        raise ModelError("a variable can not have this name", file=prefix, value=name)
    return key
