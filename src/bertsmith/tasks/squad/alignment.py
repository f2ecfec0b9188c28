"""From the characters of an answer to the tokens that cover it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Aligned:
    """The tokens of an answer, and whether they are exactly its characters."""

    first: int
    last: int
    exact: bool


def align(context: str, offsets: npt.NDArray[np.int64], answer: str, start: int) -> Aligned | None:
    """The fewest tokens that cover an answer.

    Args:
        context: the text.
        offsets: [tokens, 2] first character and character after the last of each token.
        answer: the answer's text.
        start: its first character.

    Returns:
        None where the text does not hold the answer there, or no token touches it.
    """
    stop = start + len(answer)
    if start < 0 or not answer or context[start:stop] != answer:
        return None
    touched = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < stop))
    if not len(touched):
        return None
    first, last = int(touched[0]), int(touched[-1])
    exact = bool(offsets[first, 0] == start and offsets[last, 1] == stop)
    return Aligned(first, last, exact)
