"""Tensors as Hugging Face's weight files store them: safetensors and pickles, whole and sharded."""

from __future__ import annotations

import json
import pickle
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from bertsmith.checkpoints.checksums import check_tensors
from bertsmith.checkpoints.locate import Location, shards_of
from bertsmith.checkpoints.pickles import COPY_AGAIN, check_pickle
from bertsmith.common.errors import ModelError

# How torch's loader of weights names what it does not let a pickle call.
_GLOBAL = re.compile(r"Unsupported (?:global|class)\S*:? (?:GLOBAL )?(\S+)")
# Of safetensors' types, those that torch has; its format allows headers up to this size.
_KNOWN_TYPES = (
    "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL",
    "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "C64",
)  # fmt: skip
_LONGEST_HEADER = 100_000_000
# What training scripts put around the weights.
_WRAPPERS = ("state_dict", "model_state_dict", "model")


def read_stored(location: Location) -> dict[str, Tensor]:
    """All tensors of a checkpoint in Hugging Face's layout, by the names they are stored under.

    Raises:
        ModelError: a file is missing or damaged, holds code, or lacks a tensor of the index.
    """
    read = read_safetensors if "safetensors" in location.layout else read_pickle
    if location.weights.suffix == ".json":
        return _read_shards(location.weights, read)
    return read(location.weights)


def read_safetensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, checked where it has checksums."""
    try:
        tensors = load_file(file)
        check_tensors(file, tensors)
        return tensors
    except FileNotFoundError:
        raise ModelError("there is no such weight file", file=file) from None
    # An unknown type is any of these, depending on which library does not know it.
    except (SafetensorError, OSError, KeyError, AttributeError, TypeError) as error:
        _check_header(file)
        raise ModelError(
            f"the weight file is damaged: {error}", file=file, mend=COPY_AGAIN
        ) from None


def _check_header(file: Path) -> None:
    """Say which tensor can not be read, where a file that failed is whole."""
    try:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(size)) if size <= _LONGEST_HEADER else {}
        kinds = {name: one["dtype"] for name, one in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    for name, kind in kinds.items():
        if kind not in _KNOWN_TYPES:
            raise ModelError(
                f"tensor {name} is of a type that is not read", file=file, value=kind,
                mend="take the model's float32 weights; if they are these, the file is damaged",
            ) from None  # fmt: skip


def read_pickle(file: Path) -> dict[str, Tensor]:
    """The tensors of a ``pytorch_model.bin``, read by torch's loader of weights only.

    No code of the file is run: one that asks for anything but tensors is refused.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the pickle is of another version than usual
            check_pickle(file)
            raw = torch.load(
                file, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(file)
            )
    except ModelError:
        raise
    except FileNotFoundError:
        raise ModelError("there is no such weight file", file=file) from None
    except pickle.UnpicklingError as error:
        asked = _GLOBAL.search(str(error))
        if asked is None:
            raise ModelError(
                "the weight file is damaged, or was not written by torch", file=file,
                mend=COPY_AGAIN,
            ) from None  # fmt: skip
        raise ModelError(
            "the file asks for more than tensors, which would run its code: it is refused",
            file=file,
            value=asked[1],
            mend="get the weights as model.safetensors from someone you trust",
        ) from None
    except Exception as error:  # torch's reader raises whatever damaged bytes lead it to
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"the weight file is damaged: {first}", file=file, mend=COPY_AGAIN
        ) from None
    return _tensors(raw, file)


def _tensors(raw: Any, file: Path) -> dict[str, Tensor]:
    """The mapping from names to tensors in what a pickle holds."""
    for name in _WRAPPERS:
        if isinstance(raw, dict) and isinstance(raw.get(name), dict):
            raw = raw[name]
    if not isinstance(raw, dict) or not raw:
        raise ModelError("the file holds no mapping from names to tensors", file=file)
    for name, value in raw.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise ModelError(
                "an entry of the file is not a tensor under a name", file=file, value=name
            )
        _check_plain(name, value, file)
    storages = [value.untyped_storage() for value in raw.values()]
    if sum({one.data_ptr(): one.nbytes() for one in storages}.values()) > file.stat().st_size:
        raise ModelError("the tensors of the file are larger than it is", file=file)
    return {name: value.detach() for name, value in raw.items()}


def _check_plain(name: str, tensor: Tensor, file: Path) -> None:
    """Refuse tensors without numbers of their own: a small file can name a large one so."""
    plain = tensor.layout == torch.strided and tensor.device.type == "cpu" and not tensor.is_nested
    if plain and tensor.untyped_storage().nbytes() >= tensor.numel() * tensor.element_size():
        return
    raise ModelError(
        "a tensor of the file is sparse, nested, without numbers or one number many times",
        file=file, value=name, mend="take weights that were saved as plain tensors",
    )  # fmt: skip


def _read_shards(index: Path, read: Callable[[Path], dict[str, Tensor]]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    places = shards_of(index)
    for shard in sorted(set(places.values())):
        found = read(index.parent / shard)
        for name in found:
            if name in tensors:
                raise ModelError(
                    "a tensor stands in two shards", file=index.parent / shard, value=name
                )
        tensors.update(found)
        lost = [name for name, place in places.items() if place == shard and name not in found]
        if lost:
            raise ModelError(
                f"the shard lacks tensor {lost[0]}, which the index says it has",
                file=index.parent / shard, mend="take all files from one download",
            )  # fmt: skip
    return tensors
