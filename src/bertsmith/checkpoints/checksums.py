"""Safetensors files that hold a checksum of each tensor, so that damage is not taken for weights.

The format has none of its own. Ours stand in the header's metadata, which other programs pass over;
files of others have none and are taken as they are.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from bertsmith.common.errors import ModelError

_KEY = "bertsmith.crc32"
_MEND = (
    "copy the file again, from where it is whole; if another program changed its tensors on "
    f"purpose, have it leave {_KEY} out of the metadata"
)


def write_tensors(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write contiguous CPU tensors that share no memory, with their checksums.

    Raises:
        OSError, SafetensorError: the file can not be written.
    """
    sums = {name: _sum(tensor) for name, tensor in tensors.items()}
    save_file(dict(tensors), file, metadata={"format": "pt", _KEY: json.dumps(sums)})
    _in_order(file)


def check_tensors(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Compare the tensors read from ``file`` with the checksums in it, where it has them.

    Raises:
        ModelError: a tensor is not the one that was written, or there are others.
    """
    with safe_open(file, "pt") as opened:
        stored = (opened.metadata() or {}).get(_KEY)
    if stored is None:
        return
    try:
        sums = json.loads(stored)
        if not isinstance(sums, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise ModelError(
            "the weight file is damaged: its checksums can not be read", file=file, mend=_MEND
        ) from None
    for name in sorted(sums.keys() | tensors.keys()):
        if name not in tensors or name not in sums or _sum(tensors[name]) != sums[name]:
            raise ModelError(
                "the weight file is damaged: the checksum of a tensor does not agree",
                file=file, value=name, mend=_MEND,
            )  # fmt: skip


def _in_order(file: Path) -> None:
    """Sort the header, whose metadata the library writes in an order that differs by chance."""
    with file.open("r+b") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(size))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        stream.seek(8)
        stream.write(json.dumps(header, separators=(",", ":")).encode().ljust(size))


def _sum(tensor: Tensor) -> str:
    """CRC-32 of type, shape and numbers, in hexadecimal."""
    head = f"{tensor.dtype} {list(tensor.shape)}".encode()
    numbers = tensor.detach().reshape(-1).view(torch.uint8).numpy().data
    return f"{zlib.crc32(numbers, zlib.crc32(head)):08x}"
