"""The two losses of pre-training: masked LM and next sentence (paper, section 3.1)."""

from __future__ import annotations

import torch
from torch.nn import functional

from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.batches import PretrainingBatch
from bertsmith.train.loop import Sums


def pretraining_sums(model: torch.nn.Module, batch: PretrainingBatch) -> Sums:
    """Summed losses of one micro-batch, and how many predictions were right.

    A micro-batch without a masked position has a masked-LM loss of exactly 0.
    """
    assert isinstance(model, BertForPreTraining)
    device = next(model.parameters()).device
    loss, right, neighbours = model.losses(
        batch.packed.to(device), batch.masked_positions.to(device), batch.masked_labels.to(device)
    )
    losses, correct = {"masked_lm": loss}, {"masked_lm": right}
    if batch.pairs:
        assert neighbours is not None, "pairs need a model with a next-sentence head"
        next_labels = batch.next_labels.to(device)
        losses["next_sentence"] = functional.cross_entropy(
            neighbours.float(), next_labels, reduction="sum"
        )
        correct["next_sentence"] = (neighbours.detach().argmax(-1) == next_labels).sum()
    return Sums(losses, correct)
