"""Tokens a second and the share of the machine's matrix-multiply peak, while a run goes on."""

from __future__ import annotations

import torch

from bertsmith.model.config import BertConfig
from bertsmith.pretrain.batches import PretrainingBatch
from bertsmith.train.loop import Step
from bertsmith.train.peak import matmul_peak, pretraining_flops


class SpeedMeter:
    """Adds up steps and tells how fast they were.

    The peak is measured once, when the meter is made.
    """

    def __init__(
        self, config: BertConfig, device: torch.device, precision: torch.dtype | None
    ) -> None:
        self._config = config
        self._peak = matmul_peak(device, precision or torch.float32)
        self._tokens, self._flops, self._seconds = 0, 0.0, 0.0

    def add(self, step: Step, batch: PretrainingBatch) -> None:
        """Count one step."""
        self._tokens += step.tokens
        self._seconds += step.seconds
        config = self._config
        self._flops += pretraining_flops(
            layers=config.num_hidden_layers,
            hidden=config.hidden_size,
            intermediate=config.intermediate_size,
            vocabulary=config.vocab_size,
            lengths=batch.packed.lengths.tolist(),
            masked=batch.targets["masked_lm"],
        )

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
        for name, short in (("masked_lm", "mlm"), ("next_sentence", "nsp")):
            if name in step.losses:
                parts.append(f"{short} {step.losses[name]:.3f} {step.accuracies.get(name, 0):.0%}")
        if self._seconds:
            parts.append(f"{self._tokens / self._seconds:,.0f} tok/s")
            parts.append(f"{self._flops / self._seconds / self._peak:.0%} of peak")
        return "  ".join(parts)
