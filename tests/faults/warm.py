"""Commands in processes of their own that have imported everything already.

Run as a program: reads a JSON request a line, answers with a JSON line. ``start`` forks a process
that runs ``bertsmith`` with the words, streams and folder given, and answers with its number;
``wait`` answers with its exit status. Nothing is computed before the fork, so that no thread is
lost by it.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import traceback
from typing import Any, NoReturn

IMPORTED = (
    "bertsmith.cli.main", "bertsmith.corpus.build", "bertsmith.pretrain.run",
    "bertsmith.pretrain.summary", "bertsmith.finetune.repeats", "bertsmith.finetune.prepare",
    "bertsmith.finetune.glue", "bertsmith.predict.fill", "bertsmith.predict.lines",
    "bertsmith.reports.html", "bertsmith.doctor.examine", "tensorboardX",
)  # fmt: skip


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                _become(request)
        print(json.dumps(answer), flush=True)


def _become(request: dict[str, Any]) -> NoReturn:
    """Run the command and end; the status is that of ``python -m bertsmith``."""
    status = 1
    try:
        os.chdir(request["folder"])
        os.environ.update(request["environment"])
        if request["room"] is not None:
            _limit(request["room"])
        for number, mode in enumerate("rww"):
            path = request["streams"][number]
            handle = os.open(path, os.O_RDONLY if mode == "r" else os.O_WRONLY | os.O_CREAT)
            os.dup2(handle, number)
        sys.stdin, sys.stdout, sys.stderr = (open(n, m) for n, m in enumerate("rww"))  # noqa: SIM115
        sys.argv = ["bertsmith", *request["words"]]
        status = importlib.import_module("bertsmith.cli.main").main(request["words"])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _limit(room: int) -> None:
    with open("/proc/self/statm") as figures:
        there = int(figures.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (there + room, there + room))


if __name__ == "__main__":
    main()
