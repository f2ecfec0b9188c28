"""Where a run computes, and in which precision."""

from __future__ import annotations

import torch


def find_device() -> torch.device:
    """The GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def autocast_type(precision: str, device: torch.device) -> torch.dtype | None:
    """The type of the matrix products, None for that of the weights.

    Args:
        precision: ``float32``, ``bfloat16``, or ``auto`` for bfloat16 on GPUs that have it.
        device: where the run computes.
    """
    if precision == "bfloat16":
        return torch.bfloat16
    if precision == "auto" and device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return None
