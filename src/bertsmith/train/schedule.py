"""Learning-rate schedule and budgets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bertsmith.common.errors import SettingsError


def linear_with_warmup(progress: float, warmup: float) -> float:
    """Share of the peak learning rate when ``progress`` (0 to 1) of the budget is done.

    Rises linearly from 0 to 1 over the first ``warmup`` (a share of the budget), then falls
    linearly to 0 at its end. The 2018 ``optimization.py`` decays from step 0 on and replaces the
    first steps by the warm-up, so its rate jumps from 1 to ``1 - warmup`` where warm-up ends; here
    it is continuous.
    """
    progress = min(max(progress, 0.0), 1.0)
    if progress < warmup:
        return progress / warmup
    return (1 - progress) / (1 - warmup) if warmup < 1 else 1.0


@dataclass(frozen=True)
class Budget:
    """The length of a run: exactly one of steps, tokens and minutes of training.

    Raises:
        SettingsError: none or several are given, or one that is not above 0.
    """

    steps: int | None = None
    tokens: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.steps, self.tokens, self.minutes) if value is not None]
        if len(given) != 1 or not 0 < given[0] < math.inf:
            raise SettingsError(
                "a run has exactly one budget, a finite number above 0",
                value=given or None,
                mend="give one of steps, tokens and minutes",
            )

    def progress(self, step: float, tokens: float, seconds: float) -> float:
        """Share of the budget that is done, from 0; at least 1 when the run is over."""
        if self.steps is not None:
            return step / self.steps
        if self.tokens is not None:
            return tokens / self.tokens
        assert self.minutes is not None
        return seconds / (60 * self.minutes)

    def done(self, step: int, tokens: int, seconds: float) -> bool:
        """Whether the run is over."""
        return self.progress(step, tokens, seconds) >= 1
