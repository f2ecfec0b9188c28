"""What a model says about features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from bertsmith.model.task import BertForTask
from bertsmith.tasks.batch import TaskBatch, pieces
from bertsmith.tasks.task import Feature, Head, Output
from bertsmith.train.processes import ALONE, Processes, dealt


def model_outputs(
    model: BertForTask,
    features: Sequence[Feature],
    head: Head,
    micro_tokens: int,
    advance: Callable[[int], None] = lambda _: None,
    processes: Processes = ALONE,
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
        processes: those of the run; every feature goes through the model of one.
    """
    order = sorted(range(len(features)), key=lambda one: -features[one].tokens)
    found: dict[int, Output] = {}
    parts = list(pieces([features[one].tokens for one in order], micro_tokens))
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    try:
        with torch.inference_mode():
            for (start, stop), counts in dealt(parts, processes):
                some = order[start:stop]
                batch = TaskBatch.of([features[one] for one in some], head)
                logits = model(batch.packed.to(device)).float().cpu()
                if counts:
                    outputs = split_outputs(logits, batch)
                    found.update(zip(some, (one.numpy() for one in outputs), strict=True))
                advance((stop - start) * processes.size)
    finally:
        model.train(was_training)
    every = {number: output for part in processes.gather(found) for number, output in part.items()}
    return [every[number] for number in range(len(features))]


def split_outputs(logits: torch.Tensor, batch: TaskBatch) -> list[torch.Tensor]:
    """[B, n] or [T, n] logits of a batch -> one tensor an item."""
    if batch.head.kind == "choice":
        return list(torch.split(logits[:, 0], batch.groups.tolist()))
    if batch.head.kind in ("tokens", "span"):
        return list(torch.split(logits, batch.packed.lengths.tolist()))
    return list(logits.unbind())
