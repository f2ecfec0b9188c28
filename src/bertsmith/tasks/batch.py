"""Features as a packed batch with targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bertsmith.model.packed import PackedBatch
from bertsmith.tasks.task import IGNORE, Feature, Head


@dataclass(frozen=True)
class TaskBatch:
    """A batch, or a micro-batch of it.

    Attributes:
        features: the items.
        packed: their sequences, end to end: B of them with T tokens.
        groups: ``[features]`` int64, sequences of each item: 1, or its number of choices.
        head: what the targets are for.
        spare: whether the features only give a process something to compute, whose share of a
            batch is empty; they do not count.
    """

    features: Sequence[Feature]
    packed: PackedBatch
    groups: Tensor
    head: Head
    spare: bool = False

    @classmethod
    def of(cls, features: Sequence[Feature], head: Head, spare: bool = False) -> TaskBatch:
        """Pack features in their order."""
        sequences = [sequence for one in features for sequence in one.sequences]
        groups = torch.tensor([len(one.sequences) for one in features])
        return cls(features, PackedBatch.from_sequences(sequences), groups, head, spare)

    @property
    def tokens(self) -> int:
        """Tokens in the batch, special tokens counted in."""
        return 0 if self.spare else self.packed.token_count

    @property
    def targets(self) -> dict[str, int]:
        """Number of targets of the loss.

        A mean over it is the loss of transformers' models: over items, over items times labels for
        the several labels of an item, over labelled tokens for tagging.
        """
        if self.spare:
            return {"task": 0}
        count = len(self.features)
        if self.head.kind == "labels":
            count *= self.head.outputs
        if self.head.kind == "tokens":
            count = sum(label != IGNORE for one in self.features for label in one.target)
        return {"task": count}

    @property
    def counts(self) -> dict[str, int]:
        """Nothing is cut when a batch is made."""
        return {}

    def target(self, device: torch.device) -> Tensor:
        """The targets as one tensor: [B], [B, n], [B, 2] (float for values) or [T] for tokens."""
        found = [one.target for one in self.features]
        if self.head.kind == "tokens":
            found = [label for one in found for label in one]
        kind = torch.float32 if self.head.kind in ("value", "labels") else torch.int64
        return torch.tensor(found, dtype=kind, device=device)

    def micro_batches(self, most_tokens: int) -> Iterator[TaskBatch]:
        """The batch in pieces of whole items, each of at most ``most_tokens`` tokens.

        An item longer than that makes a piece of its own.
        """
        if self.tokens <= most_tokens:
            yield self
            return
        for start, stop in pieces([one.tokens for one in self.features], most_tokens):
            yield TaskBatch.of(self.features[start:stop], self.head)


def pieces(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of neighbours whose sizes add up to at most ``most``; one larger is a range alone."""
    start, size = 0, 0
    for index, one in enumerate(sizes):
        if index > start and size + one > most:
            yield start, index
            start, size = index, 0
        size += one
    if start < len(sizes):
        yield start, len(sizes)
