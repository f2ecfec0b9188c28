"""Processor cores: how many this process may use, and how its threads wait on them."""

from __future__ import annotations

import os
import time
from pathlib import Path

# Turns of a loop for which GNU OpenMP has a thread wait awake; the library's own value is 300,000.
# Steps or texts a second on 2 cores, alone, and two programs beside each other together:
#            a text at a time       steps of a tiny model, thousands of tokens
#       0      76       167                9.3      17.1
#   3,000     104       115               12.6      13.2
#  10,000     126        76               15.3       8.1
# 300,000     126        72               16.8       8.3
# Of two, the first with 10,000 and the second with 1,000: 109 and 11.1.
_ALONE, _BESIDE_OTHERS = "10000", "1000"

_STAT = Path("/proc/stat")
_LOOK_S = 0.05
_HALF_A_CORE = 0.5


def cores() -> int:
    """Cores that this process may use."""
    return len(_allowed())


def threads() -> int:
    """Threads that the user wants: OMP_NUM_THREADS, or one a core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdigit() and int(given) else cores()


def share_cores() -> None:
    """Let threads that wait sleep soon, and sooner where other programs work on the same cores.

    GNU OpenMP, which torch's CPU kernels use, has waiting threads spin for milliseconds. Alone that
    is fastest; two programs on the same cores then wait for each other's spinning threads, and both
    become many times slower. What the user has set stays. Only before torch is imported, and for
    the whole life of the process: what begins later is not seen.
    """
    if {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
        return
    wanted = threads()
    crowded = wanted > 1 and wanted + used_by_others() > cores() + _HALF_A_CORE
    os.environ["GOMP_SPINCOUNT"] = _BESIDE_OTHERS if crowded else _ALONE


def used_by_others() -> float:
    """Of the cores that this process may use, how many are at work; looks for 50 milliseconds.

    0 where the system does not say, as on macOS.
    """
    before, started = _seconds_at_work(), time.perf_counter()
    time.sleep(_LOOK_S)
    after, passed = _seconds_at_work(), time.perf_counter() - started
    return (after - before) / passed


def _allowed() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(os.cpu_count() or 1))


def _seconds_at_work() -> float:
    """Seconds of work of all allowed cores since the system's start; 0 where nobody counts."""
    try:
        lines = _STAT.read_text("ascii").splitlines()
    except OSError:
        return 0.0
    names = {f"cpu{number}" for number in _allowed()}
    rows = [fields for fields in map(str.split, lines) if fields and fields[0] in names]
    # cpuN user nice system idle iowait irq softirq ...
    ticks = sum(int(fields[at]) for fields in rows for at in (1, 2, 3, 6, 7))
    return ticks / os.sysconf("SC_CLK_TCK")
