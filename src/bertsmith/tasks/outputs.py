"""What a model says about features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from bertsmith.model.task import BertForTask
from bertsmith.tasks.batch import TaskBatch, pieces
from bertsmith.tasks.task import Feature, Head, Output


def model_outputs(
    model: BertForTask,
    features: Sequence[Feature],
    head: Head,
    micro_tokens: int,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Output]:
    """The outputs for each feature, see :class:`~bertsmith.model.task.Head`.

    Sequences of about the same length go through the model together, which is fastest and changes
    nothing: there is no padding. The model's mode is left as it was.

    Args:
        model: on any device.
        features: in any order; the outputs come in the same.
        head: the model's head.
        micro_tokens: most tokens at once.
        advance: told the number of features done, for a progress bar.
    """
    order = sorted(range(len(features)), key=lambda one: -features[one].tokens)
    found: list[Output] = [np.empty(0, np.float32)] * len(features)
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    try:
        with torch.inference_mode():
            for start, stop in pieces([features[one].tokens for one in order], micro_tokens):
                some = order[start:stop]
                batch = TaskBatch.of([features[one] for one in some], head)
                logits = model(batch.packed.to(device)).float().cpu()
                for one, output in zip(some, split_outputs(logits, batch), strict=True):
                    found[one] = output.numpy()
                advance(stop - start)
    finally:
        model.train(was_training)
    return found


def split_outputs(logits: torch.Tensor, batch: TaskBatch) -> list[torch.Tensor]:
    """[B, n] or [T, n] logits of a batch -> one tensor an item."""
    if batch.head.kind == "choice":
        return list(torch.split(logits[:, 0], batch.groups.tolist()))
    if batch.head.kind in ("tokens", "span"):
        return list(torch.split(logits, batch.packed.lengths.tolist()))
    return list(logits.unbind())
