"""Pre-training batches from shapes alone: the same numbers for every side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SPECIAL = 5
_MASKED = 0.15
BATCHES = 4  # different ones, used in turn


@dataclass(frozen=True)
class FullBatch:
    """``B`` sequences that all have ``N`` tokens.

    Attributes:
        ids: [B, N] int64.
        segments: [B, N] int64, 0 for the first half of a sequence, 1 for the second.
        positions: [M] int64, sorted places of the masked tokens among the B x N.
        labels: [M] int64, the ids to predict there.
        neighbours: [B] int64, 0 or 1.
    """

    ids: np.ndarray
    segments: np.ndarray
    positions: np.ndarray
    labels: np.ndarray
    neighbours: np.ndarray


def full_batches(vocabulary: int, sequences: int, length: int) -> list[FullBatch]:
    """Batches of random ids, 15 % of all places masked."""
    rng = np.random.default_rng(0)
    tokens = sequences * length
    masked = max(1, round(_MASKED * tokens))
    segments = np.tile(np.arange(length) >= length // 2, (sequences, 1)).astype(np.int64)
    return [
        FullBatch(
            rng.integers(_SPECIAL, vocabulary, (sequences, length)),
            segments,
            np.sort(rng.choice(tokens, masked, replace=False)),
            rng.integers(_SPECIAL, vocabulary, masked),
            rng.integers(0, 2, sequences),
        )
        for _ in range(BATCHES)
    ]
