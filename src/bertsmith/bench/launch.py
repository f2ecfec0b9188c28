"""Programs that are started anew in every round."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bertsmith.bench.work import Work
from bertsmith.bench.worker import resident

_LOOK_EVERY_S = 0.005
_PATIENCE_S = 3600.0


class Launcher:
    """Runs a command and remembers the most memory that it had.

    Args:
        log: file for what the command says on stderr.
    """

    def __init__(self, log: Path) -> None:
        self.log, self.peak = log, 0

    def run(
        self, command: Sequence[str], until: Callable[[], bool] | None = None, ending: int = 0
    ) -> float:
        """Seconds until the command ends, or until ``until`` says so and it is ended.

        Args:
            command: the program and its arguments.
            until: asked every few milliseconds.
            ending: the signal that ends it then.

        Raises:
            RuntimeError: it fails, or ends before ``until`` says so.
        """
        with self.log.open("wb") as log:
            started = time.perf_counter()
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
            while until and not until() and process.poll() is None:
                time.sleep(_LOOK_EVERY_S)
                if time.perf_counter() - started > _PATIENCE_S:
                    process.kill()
            seconds = time.perf_counter() - started
            early = until is not None and process.returncode is not None
            if until and not early:
                process.send_signal(ending)
            if not early:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.peak = max(self.peak, resident(used.ru_maxrss))
        if early or (until is None and process.returncode):
            raise RuntimeError(f"{list(command)}: {self.log.read_text(errors='replace')[-1000:]}")
        return seconds if until else time.perf_counter() - started

    def work(self, command: Sequence[str]) -> Work:
        """A round is the command from its start to its end."""

        def go() -> dict[str, float]:
            return {"seconds": self.run(command)}

        return Work(go, memory=lambda: self.peak)


KILL, STOP = signal.SIGKILL, signal.SIGINT
