"""Low-rank adapters of queries and values (LoRA: Hu et al. 2021, arXiv 2106.09685)."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter

from bertsmith.model.dropout import dropout
from bertsmith.model.encoder import Encoder, Layer
from bertsmith.model.task import BertForTask


class LoraDelta(nn.Module):
    """What is added to a layer's queries and values: ``scale * x A^T B^T``, A and B of low rank.

    A starts at random as in the ``peft`` library, B at 0: at first nothing is added.

    Args:
        width: hidden size.
        rank: rows of A.
        alpha: the scale is ``alpha / rank``.
        dropout_p: dropout of the input.
    """

    def __init__(self, width: int, rank: int, alpha: float, dropout_p: float) -> None:
        super().__init__()
        self.scale, self._dropout_p = alpha / rank, dropout_p
        self.query_a = Parameter(torch.empty(rank, width))
        self.query_b = Parameter(torch.zeros(width, rank))
        self.value_a = Parameter(torch.empty(rank, width))
        self.value_b = Parameter(torch.zeros(width, rank))
        for weights in (self.query_a, self.value_a):
            nn.init.kaiming_uniform_(weights, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """[T, width] -> [T, 3 * width] for queries, keys (0) and values."""
        x = dropout(x, self._dropout_p, self.training)
        query = x @ self.query_a.T @ self.query_b.T
        value = x @ self.value_a.T @ self.value_b.T
        return self.scale * torch.cat([query, torch.zeros_like(query), value], dim=1)

    def weights(self) -> Tensor:
        """[3 * width, width] what it adds to the joined matrix."""
        query, value = self.query_b @ self.query_a, self.value_b @ self.value_a
        return self.scale * torch.cat([query, torch.zeros_like(query), value])


def add_lora(encoder: Encoder, rank: int, alpha: float, dropout_p: float) -> None:
    """Give every layer an adapter, and let nothing else of the encoder learn."""
    encoder.requires_grad_(False)
    for layer in encoder.layers:
        layer.lora = LoraDelta(encoder.config.hidden_size, rank, alpha, dropout_p)


@torch.no_grad()
def merged(model: BertForTask) -> BertForTask:
    """A model without adapters that computes the same: they are added to its matrices.

    A model without adapters is returned as it is.
    """
    if all(layer.lora is None for layer in model.encoder.layers):
        return model
    plain = copy.deepcopy(model)
    for layer in plain.encoder.layers:
        assert isinstance(layer, Layer)
        assert isinstance(layer.lora, LoraDelta)
        layer.qkv.weight += layer.lora.weights()
        layer.lora = None
    return plain
