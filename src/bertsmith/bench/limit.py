"""The limit of the machine: the rate that torch's matrix products sustain, in the same rounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from bertsmith.bench.work import Work

_TRIALS = 5  # of each size and way

Product = Callable[[Tensor, Tensor], Tensor]


def limit(
    folder: str,  # noqa: ARG001 - every side has one
    sizes: Sequence[int] = (1024, 1536, 2048),
    seconds: float = 1.0,
) -> Work:
    """Square products of float32 of the size, and by the way of torch's, that are fastest here.

    Which they are is decided once, by medians: the best of many measurements of each round would
    be the luckiest moment of that round, which no work of a second's length has.

    Args:
        folder: not used.
        sizes: rows of the factors.
        seconds: time for a round, at least one product.
    """
    trials = [
        (way, torch.randn(size, size), torch.randn(size, size))
        for size in sizes
        for way in available()
    ]
    with torch.inference_mode():
        rates = [[sustained(*one, seconds / 8) for one in trials] for _ in range(_TRIALS)]
    medians = [statistics.median(some) for some in zip(*rates, strict=True)]
    chosen = trials[max(range(len(trials)), key=medians.__getitem__)]

    def go() -> Mapping[str, float]:
        with torch.inference_mode():
            return {"rate": sustained(*chosen, seconds)}

    return Work(go, about=f"square products of {len(chosen[1])} rows")


def available() -> list[Product]:
    """The ways to multiply: plain, with a transposed second factor, and oneDNN's linear layer."""
    ways: list[Product] = [torch.mm, lambda x, w: torch.mm(x, w.t())]
    linear = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    if linear is not None:
        one = torch.ones(2, 2)
        try:
            linear(one, one, None, "none", [], "")
        except RuntimeError:  # built without oneDNN
            return ways
        ways.append(lambda x, w: linear(x, w, None, "none", [], ""))
    return ways


def sustained(way: Product, x: Tensor, w: Tensor, seconds: float) -> float:
    """Floating-point operations a second over ``seconds``: a product is ``2 n^3`` of them."""
    products, started = 0, time.perf_counter()
    while not products or time.perf_counter() < started + seconds:
        way(x, w)
        products += 1
    return 2.0 * x.shape[0] ** 3 * products / (time.perf_counter() - started)
