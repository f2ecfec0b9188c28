"""A checkpoint in any layout, before a model is made of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from bertsmith.checkpoints.architectures import Assumed, complete
from bertsmith.checkpoints.canonical import canonical
from bertsmith.checkpoints.locate import TENSORFLOW, Location, locate
from bertsmith.checkpoints.stored import read_stored
from bertsmith.checkpoints.tensorflow import TensorBundle, to_hugging_face_names
from bertsmith.common.errors import ModelError
from bertsmith.model.config import BertConfig, parameter_count
from bertsmith.text.tokenizer import Tokenizer

# What a configuration may be larger than its weights: a wrong size is then named by its tensor.
_TIMES, _SPARE = 4, 10_000_000


@dataclass(frozen=True)
class Checkpoint:
    """What a model directory holds.

    Attributes:
        location: its files.
        config: the shape of the model.
        tensors: the weights under Hugging Face's present names, those of the encoder with their
            ``bert.``; in the types that they are stored in.
        renamed: stored name -> name in ``tensors``, where the two differ.
        skipped: stored name -> why it is no weight of the model.
        assumed: the class that was assumed; None where the configuration names one.
    """

    location: Location
    config: BertConfig
    tensors: dict[str, Tensor]
    renamed: dict[str, str]
    skipped: dict[str, str]
    assumed: Assumed | None = None

    @property
    def folder(self) -> Path:
        """Where configuration and tokenizer are."""
        return self.location.folder

    @property
    def layout(self) -> str:
        """The layout by name."""
        return self.location.layout

    @property
    def file(self) -> Path:
        """The weight file or its index, for messages."""
        return self.location.weights

    def has(self, prefix: str) -> bool:
        """Whether a tensor's name begins with ``prefix``."""
        return any(name.startswith(prefix) for name in self.tensors)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer beside the weights.

        Raises:
            InputError: there is none, or its files are malformed.
        """
        return self.location.read_tokenizer()


def open_checkpoint(path: Path) -> Checkpoint:
    """Read what is at ``path``; see :func:`~bertsmith.checkpoints.locate.locate` for what may be.

    Raises:
        ModelError: there is no model, or a file of it is damaged.
    """
    location = locate(path)
    config = location.read_config()
    tensors, renamed, skipped = _read(location)
    _check_size(location, config, tensors)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    extra, assumed = complete(config.extra, shapes)
    config = dataclasses.replace(config, extra=extra)
    return Checkpoint(location, config, tensors, renamed, skipped, assumed)


def _check_size(location: Location, config: BertConfig, tensors: dict[str, Tensor]) -> None:
    """Refuse a configuration far larger than the weights, before a model of its size is made."""
    stored = sum(tensor.numel() for tensor in tensors.values())
    said = parameter_count(config)
    if said > _TIMES * stored + _SPARE:
        raise ModelError(
            f"the configuration is of {said:,} parameters, but the weights are {stored:,} numbers",
            file=location.config,
            mend="configuration and weights do not belong together: take both from one model",
        )


def _read(location: Location) -> tuple[dict[str, Tensor], dict[str, str], dict[str, str]]:
    if location.layout == TENSORFLOW:
        bundle = TensorBundle(location.weights.with_suffix(""))
        arrays, renamed, skipped = to_hugging_face_names(bundle)
        return {name: torch.from_numpy(one) for name, one in arrays.items()}, renamed, skipped
    stored = read_stored(location)
    try:
        found = canonical(stored)
    except ValueError as error:
        raise ModelError(str(error), file=location.weights) from None
    tensors = {name: stored[one] for one, name in found.names.items()}
    return tensors, found.renamed, dict(found.skipped)
