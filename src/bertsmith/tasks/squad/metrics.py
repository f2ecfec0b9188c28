"""Exact match and F1 by the official rules of each version (evaluate-v1.1, evaluate-v2.0)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)  # ASCII only: that is the rule

Floats = npt.NDArray[np.float64]


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact(answer: str, gold: str) -> float:
    """1 where both are the same after normalisation."""
    return float(normalise(answer) == normalise(gold))


def f1(answer: str, gold: str, *, version_2: bool) -> float:
    """F1 of the words; where one side has none, version 2.0 asks whether both have none."""
    found, known = normalise(answer).split(), normalise(gold).split()
    if version_2 and not (found and known):
        return float(found == known)
    shared = sum((Counter(found) & Counter(known)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(found), shared / len(known)
    return 2 * precision * recall / (precision + recall)


def best_scores(answer: str, golds: Sequence[str], *, version_2: bool) -> tuple[float, float]:
    """Exact match and F1 against the best of the gold answers.

    Args:
        answer: the prediction; empty for "no answer".
        golds: the gold answers; none where there is no answer.
        version_2: by the rules of version 2.0, which leaves out golds that normalise to nothing.
    """
    known = list(golds)
    if version_2:
        known = [one for one in golds if normalise(one)] or [""]
    if not known:
        return 0.0, 0.0
    return (
        max(exact(answer, one) for one in known),
        max(f1(answer, one, version_2=version_2) for one in known),
    )


def best_threshold(null_odds: Floats, gain: Floats) -> float:
    """The threshold above which a question is given no answer, for the best mean F1.

    Args:
        null_odds: [N] score of "no answer" less that of the best answer.
        gain: [N] F1 of the best answer less F1 of no answer, for each question.

    Returns:
        The lowest threshold of the best ones; questions with these odds are still answered. As the
        official ``find_best_thresh`` finds it, with two exceptions. Questions of equal odds, which
        no threshold can tell apart, are taken together. Where it is best to answer nothing it is
        below all odds; the official 0 would still answer questions with odds below 0.
    """
    values, place = np.unique(null_odds, return_inverse=True)
    totals = np.concatenate([[0.0], np.cumsum(np.bincount(place, gain, len(values)))])
    best = int((totals > totals.max() - 1e-9).argmax())
    return float(values[best - 1]) if best else float(values[0] - 1.0)
