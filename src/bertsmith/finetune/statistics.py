"""Whether a run learnt anything at all, and how the scores of several are spread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

_LEAST_DROP = 0.02  # share by which the training loss has to fall in a run that learns


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
