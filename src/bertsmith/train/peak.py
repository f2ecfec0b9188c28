"""The speed limit: how fast this machine multiplies matrices, and how much BERT has to multiply."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

_SIZES = (1024, 1536, 2048)


def matmul_peak(device: torch.device, dtype: torch.dtype, seconds: float = 0.5) -> float:
    """Floating-point operations a second of the fastest square matrix product seen."""
    best = 0.0
    for size in _SIZES:
        a = torch.randn(size, size, device=device, dtype=dtype)
        b = torch.randn(size, size, device=device, dtype=dtype)
        torch.mm(a, b)
        end = time.perf_counter() + seconds / len(_SIZES)
        while True:
            _wait(device)
            started = time.perf_counter()
            torch.mm(a, b)
            _wait(device)
            stopped = time.perf_counter()
            best = max(best, 2 * size**3 / (stopped - started))
            if stopped > end:
                break
    return best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def pretraining_flops(
    *,
    layers: int,
    hidden: int,
    intermediate: int,
    vocabulary: int,
    lengths: Sequence[int],
    masked: int,
) -> float:
    """Floating-point operations of the matrix products of one pre-training step.

    Counted from the shapes, for the real tokens only: a product of ``m x k`` and ``k x n`` is
    ``2 m k n`` operations. Forward, a token costs ``layers (8 hidden^2 + 4 hidden intermediate)``
    in linear layers; a sequence of ``n`` costs ``layers * 4 n^2 hidden`` in attention; a masked
    position costs ``2 hidden^2 + 2 hidden vocabulary`` in the masked-LM head; a sequence costs
    ``2 hidden^2`` in the pooler. The backward pass has two products for each of the forward one.
    """
    tokens = sum(lengths)
    linear = layers * (8 * hidden**2 + 4 * hidden * intermediate) * tokens
    attention = layers * 4 * hidden * sum(n * n for n in lengths)
    head = (2 * hidden**2 + 2 * hidden * vocabulary) * masked
    pooler = 2 * hidden**2 * len(lengths)
    return 3.0 * (linear + attention + head + pooler)
