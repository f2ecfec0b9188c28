"""First weights."""

from __future__ import annotations

import torch
from torch import nn


@torch.no_grad()
def initialise(model: nn.Module, deviation: float) -> None:
    """Draw all matrices of ``model`` anew, from torch's global generator; biases become 0.

    A normal distribution cut at two standard deviations (2018 modeling.py, ``create_initializer``);
    LayerNorms keep their 1 and 0.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(module.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.zero_()
