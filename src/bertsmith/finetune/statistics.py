"""Honest figures: an interval for a dev score, and whether a run learnt anything at all."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from bertsmith.common.randomness import BOOTSTRAP, stream
from bertsmith.tasks.parts import Judged
from bertsmith.tasks.task import Task

_SAMPLES = 300
_LEAST_DROP = 0.02  # share by which the training loss has to fall in a run that learns


def bootstrap(task: Task[Any], judged: Judged, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % interval of a part's score when its examples are drawn again with replacement.

    300 samples (Efron 1979); the bounds are the 2.5 % and 97.5 % quantiles. It tells how much of
    the score is the choice of the dev examples, not how much is the seed of the run.

    Returns:
        The bounds; None where the score is undefined or the part has fewer than two examples.
    """
    count = len(judged.part.examples)
    if count < 2 or judged.figures.get(task.metric) is None:
        return None
    score = task.scorer(judged.part, judged.predictions)
    drawn = [
        score(stream(seed, BOOTSTRAP, number).integers(0, count, count))
        for number in range(_SAMPLES)
    ]
    known = [value for value in drawn if value is not None]
    if not known:
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def degenerate(losses: Sequence[float], constant: bool) -> str | None:
    """Why a run learnt nothing, or None where it learnt.

    Args:
        losses: of the logged steps, in their order.
        constant: whether all predictions on dev are the same.
    """
    if constant:
        return "it predicts the same for every dev example"
    tenth = max(1, len(losses) // 10)
    first, last = _mean(losses[:tenth]), _mean(losses[-tenth:])
    if len(losses) >= 10 and last > first * (1 - _LEAST_DROP):
        return f"its training loss stayed flat, {first:.3f} at first and {last:.3f} at last"
    return None


def spread(scores: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation (n - 1), median, least and greatest of the scores of runs."""
    return {
        "runs": len(scores),
        "mean": statistics.fmean(scores),
        "standard_deviation": statistics.stdev(scores) if len(scores) > 1 else 0.0,
        "median": statistics.median(scores),
        "least": min(scores),
        "greatest": max(scores),
    }


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else math.nan
