"""The speed limit: how fast this machine multiplies matrices, and how much BERT has to multiply."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

# A GPU needs larger products than a processor to reach its peak.
_SIZES = {"cpu": (1024, 1536, 2048), "cuda": (2048, 4096, 8192)}


def matmul_peak(device: torch.device, dtype: torch.dtype, seconds: float = 0.5) -> float:
    """Floating-point operations a second of the fastest square matrix product seen.

    Args:
        device: where to measure.
        dtype: precision of the factors.
        seconds: time to spend, about. A machine that needs longer for one product of the smallest
            size is measured on that alone.
    """
    sizes = _SIZES.get(device.type, _SIZES["cpu"])
    best, started = 0.0, time.perf_counter()
    for number, size in enumerate(sizes, start=1):
        best = max(best, _speed(device, dtype, size, started + seconds * number / len(sizes)))
        if time.perf_counter() > started + seconds:
            break
    return best


def _speed(device: torch.device, dtype: torch.dtype, size: int, end: float) -> float:
    """The best of the products of one size until ``end`` (of ``perf_counter``), the first apart."""
    a = torch.randn(size, size, device=device).to(dtype)
    b = torch.randn(size, size, device=device).to(dtype)
    out = torch.mm(a, b)  # warms up: threads, caches, choice of the kernel
    best = 0.0
    while not best or time.perf_counter() < end:
        _wait(device)
        started = time.perf_counter()
        torch.mm(a, b, out=out)
        _wait(device)
        best = max(best, 2 * size**3 / (time.perf_counter() - started))
    return best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def encoder_flops(*, layers: int, hidden: int, intermediate: int, lengths: Sequence[int]) -> float:
    """Floating-point operations of the matrix products of an encoder, forward.

    Counted from the shapes, for the real tokens only; a product of ``m x k`` and ``k x n`` is
    ``2 m k n`` operations. With ``H`` = hidden, ``I`` = intermediate:

    - a token, in each layer: ``8 H^2`` (query, key, value, output) + ``4 H I`` (feed-forward);
    - a sequence of ``n`` tokens, in each layer: ``4 n^2 H`` (scores, then the weighted sum).

    Args:
        layers: number of layers.
        hidden: hidden size.
        intermediate: size of the feed-forward layer.
        lengths: tokens of each sequence.
    """
    linear = layers * (8 * hidden**2 + 4 * hidden * intermediate) * sum(lengths)
    return float(linear + layers * 4 * hidden * sum(n * n for n in lengths))


def pretraining_flops(
    *,
    layers: int,
    hidden: int,
    intermediate: int,
    vocabulary: int,
    lengths: Sequence[int],
    masked: int,
) -> float:
    """Operations of one pre-training step, counted as in :func:`encoder_flops`.

    With ``V`` = vocabulary, beside the encoder: a masked position ``2 H^2 + 2 H V`` (masked-LM
    head), a sequence ``2 H^2 + 4 H`` (pooler, next-sentence head). The backward pass has two
    products for each forward one, hence three times the sum.

    Args:
        layers: number of layers.
        hidden: hidden size.
        intermediate: size of the feed-forward layer.
        vocabulary: number of pieces.
        lengths: tokens of each sequence.
        masked: positions to predict, over all sequences.
    """
    encoder = encoder_flops(
        layers=layers, hidden=hidden, intermediate=intermediate, lengths=lengths
    )
    head = (2 * hidden**2 + 2 * hidden * vocabulary) * masked
    pairs = (2 * hidden**2 + 4 * hidden) * len(lengths)
    return 3.0 * (encoder + head + pairs)
