"""Dropout that does not slow a CPU down."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


class _CpuDropout(torch.autograd.Function):
    """Multiplication by a mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        mask = dropout_mask(x, p)
        ctx.save_for_backward(mask)
        return (x * mask).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (mask,) = ctx.saved_tensors
        return (grads[0] * mask).to(grads[0].dtype), None


class _CpuDropoutAdd(torch.autograd.Function):
    """``y * mask + x`` in the memory of ``y``."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, x: Tensor, p: float) -> Tensor:
        mask = dropout_mask(y, p)
        ctx.save_for_backward(mask)
        ctx.mark_dirty(y)
        return y.mul_(mask).add_(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (mask,) = ctx.saved_tensors
        return (grads[0] * mask).to(grads[0].dtype), grads[0], None


def dropout_mask(x: Tensor, p: float) -> Tensor:
    """A tensor shaped like ``x`` that holds 0 with probability ``p``, and 1 / (1 - p) otherwise.

    A mask of floats costs memory, but multiplies several times faster than a boolean one. For
    half precision it is float32: 1 / (1 - p) rounded to bfloat16 would be off by 0.2 %.
    """
    return coins(x, p).mul_(1 / (1 - p))


def coins(x: Tensor, p: float) -> Tensor:
    """Independent zeros and ones, shaped like ``x``, each zero with probability ``p``.

    They are float32 where ``x`` is of half precision. On the CPU ``p`` is rounded to a multiple of
    1/65536: a 64-bit word holds four coins. numpy's SFC64, seeded from torch's global generator,
    makes words twice as fast as that generator itself.
    """
    dtype = x.dtype if x.element_size() >= 4 else torch.float32
    if x.device.type != "cpu" or x.numel() == 0:
        return torch.empty_like(x, dtype=dtype).bernoulli_(1 - p)
    seed = int(torch.empty((), dtype=torch.int64).random_())
    words = np.random.Generator(np.random.SFC64(seed)).integers(
        -(2**63), 2**63, (x.numel() + 3) // 4, np.int64
    )
    lanes = torch.from_numpy(words).view(torch.int16)[: x.numel()]  # uniform in -32768..32767
    kept = torch.empty(x.shape, dtype=dtype)
    return torch.ge(lanes.view(x.shape), round(p * 65536) - 32768, out=kept)


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Set a share ``p`` of ``x`` to 0 and scale the rest by ``1 / (1 - p)``, while training.

    The draw follows torch's global generator of the device. On the CPU the probability is rounded
    to 1/65536 and its scale is exactly ``1 / (1 - p)``. A few times faster there than
    ``torch.nn.functional.dropout``; elsewhere it is that function.
    """
    if not training or p == 0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p, training=True)
    return _CpuDropout.apply(x, p)  # type: ignore[no-any-return, no-untyped-call]


def dropout_add(y: Tensor, x: Tensor, p: float, training: bool) -> Tensor:
    """``dropout(y) + x``: what stands before every LayerNorm; ``y`` may be overwritten."""
    if not training or p == 0:
        return y.add_(x) if y.dtype == x.dtype else y + x
    if y.device.type == "cpu" and y.dtype == x.dtype:
        return _CpuDropoutAdd.apply(y, x, p)  # type: ignore[no-any-return, no-untyped-call]
    return dropout(y, p, training) + x
