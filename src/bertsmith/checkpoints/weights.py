"""Weights in a safetensors file under Hugging Face's names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from bertsmith.checkpoints.architectures import Model, table_of
from bertsmith.checkpoints.names import (
    ALIASES,
    BUFFERS,
    Table,
    from_hugging_face,
    to_hugging_face,
)
from bertsmith.common.errors import ModelError


@dataclass(frozen=True)
class LoadReport:
    """What became of the tensors of a file, and of the parameters of a model."""

    found: tuple[str, ...]  # tensors of the file that are now in the model, or copies of such
    missing: tuple[str, ...]  # tensors that the file lacks
    new: tuple[str, ...]  # parameters of the model, by our names, that keep their initial values
    ignored: tuple[str, ...]  # tensors of the file that no parameter takes


def write_weights(file: Path, model: Model) -> None:
    """Write the parameters, each stored once: the decoder is the word embedding and has no copy."""
    with torch.no_grad():
        named = to_hugging_face(model.state_dict(), table_of(model))
        # Copies: parts of a joined matrix share memory, which safetensors refuses.
        whole = {name: tensor.cpu().clone() for name, tensor in named.items()}
    save_file(whole, file, metadata={"format": "pt"})


def load_weights(model: torch.nn.Module, file: Path, table: Table) -> LoadReport:
    """Put the tensors of ``file`` into ``model``; what the file lacks keeps its initial values.

    An encoder saved without heads, whose names lack the ``bert.`` prefix, is taken as well.

    Args:
        model: whose parameters are filled.
        file: a safetensors file.
        table: the parameters to fill, by our names, with theirs.

    Raises:
        ModelError: the file is missing or damaged, or a tensor has another shape than the
            configuration says, or the decoder differs from the word embedding.
    """
    tensors = _read(file)
    _check_aliases(tensors, file)
    ours = from_hugging_face(tensors, table)
    state = model.state_dict()
    _check_shapes(tensors, to_hugging_face(state, table), file)
    with torch.no_grad():
        for name, tensor in ours.items():
            state[name].copy_(tensor)
    known = [part for parts in table.values() for part in parts]
    taken = {part for name in ours for part in table[name]} | set(BUFFERS)
    taken |= {copy for copy, original in ALIASES.items() if copy in tensors and original in taken}
    return LoadReport(
        found=tuple(name for name in tensors if name in taken),
        missing=tuple(name for name in known if name not in tensors),
        new=tuple(name for name in table if name not in ours),
        ignored=tuple(name for name in tensors if name not in taken),
    )


def _read(file: Path) -> dict[str, Tensor]:
    mend = "copy the file again, or take an earlier checkpoint"
    try:
        tensors = load_file(file)
    except FileNotFoundError:
        raise ModelError("there is no such weight file", file=file) from None
    except (SafetensorError, OSError) as error:
        raise ModelError(f"the weight file is damaged: {error}", file=file, mend=mend) from None
    if "embeddings.word_embeddings.weight" in tensors:
        tensors = {f"bert.{name}": tensor for name, tensor in tensors.items()}
    return tensors


def _check_shapes(tensors: dict[str, Tensor], expected: dict[str, Tensor], file: Path) -> None:
    for name, tensor in expected.items():
        if name in tensors and tensors[name].shape != tensor.shape:
            raise ModelError(
                f"tensor {name} has shape {list(tensors[name].shape)}, but the configuration "
                f"says {list(tensor.shape)}",
                file=file,
                mend="config.json and the weights do not belong together: take both from one model",
            )


def _check_aliases(tensors: dict[str, Tensor], file: Path) -> None:
    for copy, original in ALIASES.items():
        if copy in tensors and original in tensors:
            a, b = tensors[copy], tensors[original]
            if a.shape != b.shape or not torch.equal(a, b):
                raise ModelError(
                    f"tensor {copy} differs from {original}: the model's decoder is not tied to "
                    "its embedding, which BERT's is",
                    file=file,
                )
