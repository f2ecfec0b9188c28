"""The loss of each kind of head, summed over a micro-batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from bertsmith.model.task import BertForTask
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.task import IGNORE
from bertsmith.train.loop import Sums


def task_sums(model: torch.nn.Module, batch: TaskBatch) -> Sums:
    """The summed loss of one micro-batch, and where they can be right, how many answers are.

    Cross-entropy over classes, over the tokens of the text for spans (the mean of first and last)
    and over the choices; binary cross-entropy for each of several labels; squared error for values
    (2018 run_classifier.py and run_squad.py; paper, sections 4.1 to 4.4).
    """
    assert isinstance(model, BertForTask)
    device = next(model.parameters()).device
    logits = model(batch.packed.to(device)).float()
    target = batch.target(device)
    match batch.head.kind:
        case "value":
            return _sums(F.mse_loss(logits[:, 0], target, reduction="sum"))
        case "labels":
            loss = F.binary_cross_entropy_with_logits(logits, target, reduction="sum")
            return _sums(loss, ((logits.detach() > 0) == (target > 0.5)).sum())
        case "span":
            lengths = batch.packed.lengths.to(device)
            first = ragged_cross_entropy(logits[:, 0], lengths, target[:, 0])
            last = ragged_cross_entropy(logits[:, 1], lengths, target[:, 1])
            return _sums((first + last) / 2)
        case "choice":
            loss = ragged_cross_entropy(logits[:, 0], batch.groups.to(device), target)
            return _sums(loss)
    loss = F.cross_entropy(logits, target, reduction="sum", ignore_index=IGNORE)
    return _sums(loss, (logits.detach().argmax(-1) == target).sum())


def _sums(loss: Tensor, correct: Tensor | None = None) -> Sums:
    return Sums({"task": loss}, {} if correct is None else {"task": correct})


def ragged_cross_entropy(scores: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    """Summed cross-entropy of softmaxes over groups of different sizes.

    Args:
        scores: [N] the scores of all groups, end to end.
        lengths: [G] the size of each group.
        target: [G] the place of the right score in its group.
    """
    parts = torch.split(scores, lengths.tolist())
    padded = torch.nn.utils.rnn.pad_sequence(
        list(parts), batch_first=True, padding_value=-torch.inf
    )
    return F.cross_entropy(padded, target, reduction="sum")
