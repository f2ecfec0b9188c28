"""Tokens a second and the share of the machine's matrix-multiply peak, while a run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

import torch

from bertsmith.train.loop import B, Step
from bertsmith.train.peak import matmul_peak

_SHORT = {"masked_lm": "mlm", "next_sentence": "nsp", "task": "loss"}  # for the progress bar


class SpeedMeter(Generic[B]):
    """Adds up steps and tells how fast they were.

    The peak is measured once, when the meter is made.

    Args:
        flops: the floating-point operations that a step on a batch needs.
        device: where the steps are made.
        precision: of the matrix products, None for float32.
    """

    def __init__(
        self, flops: Callable[[B], float], device: torch.device, precision: torch.dtype | None
    ) -> None:
        self._count = flops
        self._peak = matmul_peak(device, precision or torch.float32)
        self._tokens, self._flops, self._seconds = 0, 0.0, 0.0

    def add(self, step: Step, batch: B) -> None:
        """Count one step."""
        self._tokens += step.tokens
        self._seconds += step.seconds
        self._flops += self._count(batch)

    def take(self) -> dict[str, float]:
        """Figures since the last call, for the log."""
        if not self._seconds:
            return {}
        result = {
            "tokens_per_second": self._tokens / self._seconds,
            "peak_share": self._flops / self._seconds / self._peak,
        }
        self._tokens, self._flops, self._seconds = 0, 0.0, 0.0
        return result

    def message(self, step: Step) -> str:
        """One line for the progress bar."""
        parts = []
        for name, loss in step.losses.items():
            share = f" {step.accuracies[name]:.0%}" if name in step.accuracies else ""
            parts.append(f"{_SHORT.get(name, name)} {loss:.3f}{share}")
        if self._seconds:
            parts.append(f"{self._tokens / self._seconds:,.0f} tok/s")
            parts.append(f"{self._flops / self._seconds / self._peak:.0%} of peak")
        return "  ".join(parts)
