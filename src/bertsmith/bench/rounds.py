"""Rounds: every side in turn, again and again, so that what disturbs one disturbs all."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertsmith.bench.process import SideProcess
from bertsmith.bench.rows import Row
from bertsmith.common.console import Bar

_SETTLE_S = 0.05  # threads of the side before are asleep by then


def measure(
    row: Row, rounds: int, folder: Path, environment: Mapping[str, str], before: str
) -> dict[str, dict[str, Any]]:
    """All sides of a row, each in a process of its own that lives through all rounds.

    Args:
        row: what to measure.
        rounds: times that every side does its work, after one time that does not count.
        folder: for the sides' files.
        environment: that of all sides.
        before: ``module:function`` that bertsmith's own sides call first, with their verb.

    Returns:
        By side: what it said of its work, ``round_seconds`` and, for the limit, ``rates``, one a
        round, and ``memory`` in bytes; or only ``missing``, the package that is not installed.

    Raises:
        BertsmithError: a side refused its arguments or died.
    """
    running: dict[str, SideProcess] = {}
    try:
        with Bar(row.name, len(row.sides) * (rounds + 1)) as bar:
            for name, side in row.sides.items():
                bar.advance(0, f"setting up {name}")
                running[name] = SideProcess(name, side, folder / name, environment, before)
                bar.advance(1, f"{name} is set up")
            live = [name for name, one in running.items() if not one.missing]
            found = _go_round(live, running, rounds, bar)
        return {
            name: {"missing": one.missing}
            if one.missing
            else {**one.facts, **found[name], "memory": one.end()}
            for name, one in running.items()
        }
    finally:
        for one in running.values():
            one.kill()


def _go_round(
    live: list[str], sides: Mapping[str, SideProcess], rounds: int, bar: Bar
) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {name: {"round_seconds": []} for name in live}
    for number in range(rounds):
        for name in rotated(live, number):
            time.sleep(_SETTLE_S)
            said = sides[name].go()
            found[name]["round_seconds"].append(said["seconds"])
            if "rate" in said:
                found[name].setdefault("rates", []).append(said["rate"])
            bar.advance(1, f"round {number + 1}: {name} {said['seconds']:.3g} s")
    return found


def rotated(names: list[str], number: int) -> list[str]:
    """The order of a round: each begins with another side."""
    start = number % len(names) if names else 0
    return names[start:] + names[:start]
