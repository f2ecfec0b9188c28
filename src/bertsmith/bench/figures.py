"""What the times of the rounds say: medians, and ratios of the same rounds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertsmith.bench.rows import LIMIT


@dataclass(frozen=True)
class Spread:
    """The middle of some numbers, the least and the most."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Spread:
        """Of at least one number."""
        return cls(statistics.median(numbers), min(numbers), max(numbers))


@dataclass(frozen=True)
class Figures:
    """The figures of a side.

    Attributes:
        seconds: a unit of work.
        ratio: seconds a unit over those of the first side, round by round; None for that side.
        limit: operations a second over the limit's rate, round by round.
        tokens_per_second: real tokens.
        memory: bytes at the peak.
        memory_ratio: over that of the first side; None for that side.
        rate: operations a second, of the limit alone.
    """

    seconds: Spread | None = None
    ratio: Spread | None = None
    limit: Spread | None = None
    tokens_per_second: Spread | None = None
    memory: int = 0
    memory_ratio: float | None = None
    rate: Spread | None = None


def figures(sides: Mapping[str, Mapping[str, Any]]) -> dict[str, Figures]:
    """The figures of the sides that were measured; the first of all is the one to compare with."""
    first = next(iter(sides))
    found = {name: one for name, one in sides.items() if "missing" not in one}
    base = found.get(first)
    rates = found.get(LIMIT, {}).get("rates")
    # Sides that do the same work need the same operations; only one has to count them.
    flops = max((one["flops"] / one["count"] for one in found.values()), default=0.0)
    return {
        name: _of_limit(one)
        if name == LIMIT
        else _of_side(one, None if name == first else base, flops, rates)
        for name, one in found.items()
    }


def _of_limit(side: Mapping[str, Any]) -> Figures:
    return Figures(rate=Spread.of(side["rates"]), memory=side["memory"])


def _of_side(
    side: Mapping[str, Any],
    base: Mapping[str, Any] | None,
    flops: float,
    rates: Sequence[float] | None,
) -> Figures:
    seconds = per_unit(side)
    ratio = memory_ratio = limit = tokens = None
    if base is not None:
        ratio = Spread.of(paired(seconds, per_unit(base)))
        memory_ratio = side["memory"] / base["memory"]
    if rates and flops:
        limit = Spread.of([flops / one / rate for one, rate in zip(seconds, rates, strict=True)])
    if side["tokens"]:
        tokens = Spread.of([side["tokens"] / side["count"] / one for one in seconds])
    return Figures(Spread.of(seconds), ratio, limit, tokens, side["memory"], memory_ratio)


def per_unit(side: Mapping[str, Any]) -> list[float]:
    """Seconds a unit of work, round by round."""
    return [one / side["count"] for one in side["round_seconds"]]


def paired(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """How many times longer, round by round."""
    return [one / other for one, other in zip(theirs, ours, strict=True)]


def disagreement(sides: Mapping[str, Mapping[str, Any]]) -> float | None:
    """The largest difference of the sides' check numbers; None where fewer than two have some.

    Infinite where two sides have different numbers of them.
    """
    checks: list[list[float]] = [one["check"] for one in sides.values() if one.get("check")]
    if len(checks) < 2:
        return None
    if len({len(one) for one in checks}) > 1:
        return float("inf")
    return max((float(max(some) - min(some)) for some in zip(*checks, strict=True)), default=0.0)
