"""The process of one side: sets up, warms up, then does a round whenever it is told to.

    python -m bertsmith.bench.worker ORDER

ORDER is a JSON object with ``factory`` (``module:function``), its ``arguments``, and ``before``, a
function to call first with its argument, or null. Answers are JSON objects, one a line, on stdout;
what a tool itself prints goes to stderr.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from bertsmith.bench.work import Work
from bertsmith.common.errors import BertsmithError

GO = "go"


def main(order: Mapping[str, Any]) -> None:
    """Do what the coordinator says until it says no more."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(value: Mapping[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    if order["before"]:
        function, verb = order["before"]
        find(function)(verb)
    try:
        work: Work = find(order["factory"])(**order["arguments"])
        one_round(work)
    except ModuleNotFoundError as error:
        if (error.name or "bertsmith").startswith("bertsmith"):
            raise
        answer({"missing": error.name})
        return
    except BertsmithError as error:
        answer({"refused": str(error)})
        return
    answer(described(work))
    for line in sys.stdin:
        if line.strip() != GO:
            break
        answer(one_round(work))
    answer({"memory": work.memory() if work.memory else peak_memory()})


def find(name: str) -> Callable[..., Any]:
    """The function that ``module:function`` names."""
    module, function = name.split(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def one_round(work: Work) -> dict[str, float]:
    """Do one round; its seconds, and what the work itself says."""
    started = time.perf_counter()
    said = work.go()
    return {"seconds": time.perf_counter() - started, **(said or {})}


def described(work: Work) -> dict[str, Any]:
    """What does not change from round to round."""
    torch = sys.modules.get("torch")
    return {
        "count": work.count,
        "flops": work.flops,
        "tokens": work.tokens,
        "check": list(work.check),
        "about": work.about,
        "threads": torch.get_num_threads() if torch else None,
        **work.facts,
    }


def peak_memory() -> int:
    """Bytes that this process had in memory at most; what it started does not count."""
    return resident(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def largest_process() -> int:
    """Bytes that this process, or the largest of those it started, had in memory at most."""
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(peak_memory(), resident(started))


def resident(maxrss: int) -> int:
    """Bytes of a ``ru_maxrss``, which Linux counts in KiB and macOS in bytes."""
    return maxrss if sys.platform == "darwin" else maxrss * 1024


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
