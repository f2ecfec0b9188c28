"""Self-attention over a packed batch: the only place that knows where sequences end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from bertsmith.model.dropout import coins
from bertsmith.model.layout import Layout
from bertsmith.model.packed import PackedBatch

# Sequences of this mean length go through torch's own CPU kernel one by one: it never holds the
# L x L scores. It can not drop out, and its calls cost too much for many short sequences; so few of
# them are cheaper that way than putting them into a bucket and taking them out.
_LONG = 256
_FEW = 3


def attend(qkv: Tensor, batch: PackedBatch, dropout_p: float = 0.0) -> Tensor:
    """Scaled dot-product attention of every token over its own sequence, in both directions.

    softmax(q k^T / sqrt(D)) v, with dropout on the probabilities (Vaswani et al. 2017, section
    3.2.1; ``attention_layer`` in the 2018 modeling.py). On CUDA in half precision one flash kernel
    serves the whole batch, without padding; elsewhere sequences go in buckets of nearly equal
    length, padded inside attention only, or one by one.

    Args:
        qkv: [T, 3, H, D] queries, keys and values of H heads with D numbers each.
        batch: says which tokens form a sequence.
        dropout_p: share of the probabilities that is dropped; 0 outside training.

    Returns:
        [T, H, D] in the order of the tokens.
    """
    if _has_flash(qkv):
        q, k, v = qkv.unbind(1)  # [T, H, D]
        if dropout_p == 0:
            return _attend_varlen(q, k, v, batch)
        return attend_ragged(q, k, v, batch, dropout_p)
    if dropout_p == 0 and (len(batch) <= _FEW or batch.token_count >= _LONG * len(batch)):
        return _attend_each(qkv, batch)
    layout = batch.layout(qkv.shape[2])
    out: Tensor = _BucketAttention.apply(qkv, layout, dropout_p)  # type: ignore[no-untyped-call]
    return out


def _has_flash(qkv: Tensor) -> bool:
    """Whether torch's flash kernels take ``qkv``: half precision, Ampere or later."""
    return (
        qkv.device.type == "cuda"
        and qkv.dtype in (torch.bfloat16, torch.float16)
        and qkv.shape[-1] <= 256
        and qkv.shape[-1] % 8 == 0
        and torch.cuda.get_device_capability(qkv.device) >= (8, 0)
    )


def _attend_varlen(q: Tensor, k: Tensor, v: Tensor, batch: PackedBatch) -> Tensor:
    """One kernel for the whole batch; it has no dropout."""
    from torch.nn.attention.varlen import varlen_attn

    ends, longest = batch.offsets_int32, batch.max_length
    out = varlen_attn(q, k, v, ends, ends, longest, longest)
    assert isinstance(out, Tensor)
    return out


def attend_ragged(q: Tensor, k: Tensor, v: Tensor, batch: PackedBatch, dropout_p: float) -> Tensor:
    """One kernel for the whole batch, with dropout, by way of torch's ragged ("jagged") tensors.

    Args:
        q: [T, H, D] queries.
        k: [T, H, D] keys.
        v: [T, H, D] values. On a CPU, which has no flash kernel, all three are contiguous.
        batch: says which tokens form a sequence.
        dropout_p: share of the probabilities that is dropped.
    """
    # The bounds are hints: without them torch asks the device. No sequence is shorter than 1.
    q, k, v = (
        torch.nested.nested_tensor_from_jagged(
            one, batch.offsets, min_seqlen=1, max_seqlen=batch.max_length
        ).transpose(1, 2)
        for one in (q, k, v)
    )  # [B, H, L (ragged), D]
    out = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
    return out.transpose(1, 2).values()


def _attend_each(qkv: Tensor, batch: PackedBatch) -> Tensor:
    """One call for each sequence."""
    parts = []
    for part in torch.split(qkv, batch.lengths.tolist()) if len(batch) > 1 else [qkv]:
        q, k, v = part.permute(1, 2, 0, 3)[:, None]  # [1, H, L, D]
        parts.append(F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1))
    return torch.cat(parts) if len(parts) > 1 else parts[0]


class _BucketAttention(torch.autograd.Function):
    """[T, 3, H, D] -> [T, H, D], bucket by bucket, for any device and type.

    The gradient is written out because on a CPU moving and allocating memory costs more than the
    products: this way tokens move once there and once back, and most L x L steps work in place.
    A spare slot gets no gradient, its key is masked and its query thrown away, so that the way
    back is a plain gather too. Below, n stands for b * H.
    """

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, layout: Layout, dropout_p: float) -> Tensor:
        heads, size = qkv.shape[2:]
        slots = qkv.reshape(-1, size).index_select(0, layout.fill)  # [3 * S * H, D]
        out = slots.new_empty((len(layout.fill_out), size))  # [S * H, D]
        saved: list[Tensor | None] = []
        scale = 1 / (1 - dropout_p)  # of what dropout leaves; part of the products
        with torch.autocast(qkv.device.type, enabled=False):
            for bucket, (q, k, v), mixed in _by_bucket(layout, heads, slots, out):
                scores = _product(q, k.transpose(1, 2), 1 / math.sqrt(size))  # [n, L, L]
                if bucket.bias is not None:
                    scores.view(bucket.count, heads, bucket.width, -1).add_(bucket.bias)
                chances = torch.softmax(scores, -1)
                kept, mask = chances, None
                if dropout_p > 0:
                    mask = coins(chances, dropout_p)
                    kept = torch.mul(chances, mask, out=scores)
                _product(kept, v, scale, out=mixed)
                saved += [chances, mask, kept]
        ctx.layout, ctx.shape, ctx.scale = layout, qkv.shape, scale
        ctx.save_for_backward(slots, *saved)
        return out.index_select(0, layout.empty_out).view(-1, heads, size)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        layout: Layout = ctx.layout
        heads, size = ctx.shape[2:]
        slots, *saved = ctx.saved_tensors
        rows = F.pad(grads[0].reshape(-1, size), (0, 0, 0, 1))  # a row of zeros for spare slots
        d_out = rows.index_select(0, layout.fill_out)  # [S * H, D]
        d_slots = torch.empty_like(slots)
        for number, (_, (q, k, v), d_mixed, (dq, dk, dv)) in enumerate(
            _by_bucket(layout, heads, slots, d_out, d_slots)
        ):
            chances, mask, kept = saved[3 * number : 3 * number + 3]
            _product(kept.transpose(1, 2), d_mixed, ctx.scale, out=dv)
            d = _product(d_mixed, v.transpose(1, 2), ctx.scale)  # [n, L, L]
            if mask is not None:
                d.mul_(mask)
            d = torch._softmax_backward_data(d, chances, -1, d.dtype)
            _product(d, k, 1 / math.sqrt(size), out=dq)
            _product(d.transpose(1, 2), q, 1 / math.sqrt(size), out=dk)
        return d_slots.index_select(0, layout.empty).view(ctx.shape), None, None


def _product(a: Tensor, b: Tensor, scale: float, out: Tensor | None = None) -> Tensor:
    """``scale * a b`` of matrices [n, i, k] and [n, k, j], in one pass."""
    if out is None:
        out = a.new_empty((len(a), a.shape[1], b.shape[2]))
    return torch.baddbmm(out, a, b, beta=0, alpha=scale, out=out)


def _by_bucket(layout: Layout, heads: int, *rows: Tensor) -> Iterator[tuple[Any, ...]]:
    """Each bucket with its own part of ``rows``, as views.

    [3 * S * H, D] rows come as [3, n, L, D], [S * H, D] rows as [n, L, D].
    """
    slots = len(layout.fill_out)
    for bucket in layout.buckets:
        first, count = bucket.first * heads, bucket.count * bucket.width * heads
        shape = (bucket.count * heads, bucket.width, rows[0].shape[-1])
        yield (
            bucket,
            *(
                one[first : first + count].view(shape)
                if len(one) == slots
                else one[3 * first : 3 * (first + count)].view(3, *shape)
                for one in rows
            ),
        )
