"""The layers of an encoder compiled by torch: their many small operations become a few."""

from __future__ import annotations

from importlib.util import find_spec
from types import MethodType

import torch

from bertsmith.model.encoder import Encoder, Layer


def can_compile(device: torch.device) -> bool:
    """Whether torch has here what it needs to compile for a GPU."""
    return device.type == "cuda" and find_spec("triton") is not None


def compile_layers(encoder: Encoder) -> None:
    """Compile what follows attention in each layer, in place.

    One compilation serves all layers and any number of tokens, since batches have no padding that
    would make them all as long. Attention stays as it is: it is one kernel of its own. Results are
    the same to rounding; dropout draws other masks.
    """
    finish = torch.compile(Layer.finish, dynamic=True, fullgraph=True)
    for layer in encoder.layers:
        assert isinstance(layer, Layer)
        layer.finish = MethodType(finish, layer)  # type: ignore[method-assign]
