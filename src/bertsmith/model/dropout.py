"""Dropout that does not slow a CPU down."""

from __future__ import annotations

from typing import Any

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


def dropout_mask(x: Tensor, p: float) -> Tensor:
    """A tensor shaped like ``x`` that holds 0 with probability ``p``, and 1 / (1 - p) otherwise.

    A mask of floats costs memory, but multiplies several times faster than a boolean one. For
    half precision it is float32: 1 / (1 - p) rounded to bfloat16 would be off by 0.2 %.
    """
    dtype = x.dtype if x.element_size() >= 4 else torch.float32
    if x.device.type != "cpu":
        return F.dropout(torch.ones_like(x, dtype=dtype), p, training=True)
    return coins(x.numel(), p, dtype).mul_(1 / (1 - p)).view(x.shape)


def coins(count: int, p: float, dtype: torch.dtype) -> Tensor:
    """[count] independent zeros and ones on the CPU, each zero with probability ``p``.

    ``p`` is rounded to a multiple of 1/65536. torch draws whole 64-bit words faster than it draws
    Bernoulli values, and one word holds four coins.
    """
    # The full range: the default range of int64 leaves the top bit 0, which would bias one coin
    # in four.
    words = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    lanes = words.view(torch.int16)[:count]  # [count] uniform in -32768..32767
    kept = torch.empty(count, dtype=dtype)
    return torch.ge(lanes, round(p * 65536) - 32768, out=kept)


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
