"""Ctrl-C and SIGTERM end a run after the step under way, with a checkpoint."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from bertsmith.common.console import note
from bertsmith.train.processes import Processes


class Stopped(SystemExit):
    """Raised when a run was asked to stop and has saved its state; exit status 130 or 0."""


class Interrupt:
    """Turns SIGINT and SIGTERM into a question that the loop asks between steps.

    A second SIGINT is an ordinary KeyboardInterrupt, for those who can not wait.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.asked = number

    def asked_of_any(self, processes: Processes) -> int:
        """The signal that any process of the run has got, 0 for none: all stop at the same step."""
        return processes.most(self.asked)

    def leave(self, asked: int, folder: Path, step: int) -> None:
        """End the process: status 0 after SIGTERM (a preempted machine), 130 after SIGINT."""
        note(f"stopped after step {step:,}; the same command goes on from there ({folder})")
        raise Stopped(0 if asked == signal.SIGTERM else 130)
