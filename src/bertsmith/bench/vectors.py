"""What the vectors of several tools have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NUMBERS = 8


def sample(vectors: Sequence[np.ndarray] | np.ndarray) -> tuple[float, ...]:
    """Some numbers of the first and the last vector, both at length 1: the same on every side."""
    ends = np.stack([vectors[0], vectors[-1]]).astype(np.float64)
    ends /= np.linalg.norm(ends, axis=1, keepdims=True)
    return tuple(round(float(one), 6) for one in ends[:, :_NUMBERS].reshape(-1))


def masked_mean(states: np.ndarray, lengths: Sequence[int]) -> list[np.ndarray]:
    """The mean over the real tokens of each text.

    Args:
        states: [texts, longest, width], padded on the right.
        lengths: tokens of each text.
    """
    return [row[:length].mean(0) for row, length in zip(states, lengths, strict=True)]
