"""From a model's outputs to words and values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bertsmith.tasks.task import Head, Output


class Word(str):
    """A predicted label: a plain word that also knows its probability.

    Attributes:
        probability: what the model gives it, from 0 to 1.
    """

    __slots__ = ("probability",)
    probability: float

    def __new__(cls, label: str, probability: float) -> Word:
        """``label`` with its probability."""
        made = super().__new__(cls, label)
        made.probability = probability
        return made

    def __reduce__(self) -> tuple[type[Word], tuple[str, float]]:
        return Word, (str(self), self.probability)


def decide(
    outputs: Sequence[Output], head: Head
) -> list[Word] | list[tuple[Word, ...]] | list[float]:
    """A prediction an output: a word; the words above one half; or a float, as it is.

    Args:
        outputs: one ``[n]`` array of logits an example.
        head: its kind is ``classes``, ``labels`` or ``value``.
    """
    if head.kind == "value":
        return [float(one[0]) for one in outputs]
    if not outputs:
        return []
    logits = np.stack(outputs).astype(np.float64)  # [N, n]
    if head.kind == "classes":
        chances = softmax(logits)
        return [
            Word(head.labels[one], float(row[one]))
            for row, one in zip(chances, chances.argmax(-1).tolist(), strict=True)
        ]
    return [
        tuple(
            Word(label, chance)
            for label, chance in zip(head.labels, row, strict=True)
            if chance > 0.5
        )
        for row in sigmoid(logits).tolist()
    ]


def softmax(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """[N, n] logits -> [N, n] probabilities, each row adding up to 1."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    shares: npt.NDArray[np.float64] = powers / powers.sum(-1, keepdims=True)
    return shares


def sigmoid(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each logit as a probability of its own; no logit is too large for it."""
    chances: npt.NDArray[np.float64] = 0.5 * (1 + np.tanh(logits / 2))
    return chances
