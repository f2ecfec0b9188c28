"""How attention groups the sequences of a packed batch: buckets of almost equal length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Ints = npt.NDArray[np.int64]

# A bucket closes when its next sequence would be padded by more than this share, and more than
# this number of tokens: one more bucket costs as much as a few spare slots.
_WASTE = 0.125
_SPARE = 4


@dataclass(frozen=True, eq=False)
class Bucket:
    """``b`` sequences of almost equal length, in ``L`` slots each; L is the longest's length."""

    first: int  # its first slot, counted over all buckets
    count: int  # b
    width: int  # L
    bias: Tensor | None  # [b, 1, 1, L] 0 for real keys, -inf for spare ones; None without spare


@dataclass(frozen=True, eq=False)
class Layout:
    """The buckets of a batch, S slots in all, and the ways between them and its T tokens.

    A row is one head of one token. The rows of a bucket are ordered [3, b, H, L], that is queries,
    keys and values, or [b, H, L] for outputs; every way is one gather of rows, there and back.
    """

    buckets: tuple[Bucket, ...]
    fill: Tensor  # [3 * S * H] the row of [T, 3, H] in each slot; spare ones repeat a token
    empty: Tensor  # [T * 3 * H] where each row of [T, 3, H] lies in the slots
    fill_out: Tensor  # [S * H] the row of [T, H] in each slot; T * H in spare ones
    empty_out: Tensor  # [T * H] where each row of [T, H] lies in the slots


def plan_layout(lengths: Sequence[int], heads: int, device: torch.device) -> Layout:
    """Group sequences so that padding inside attention wastes little.

    Args:
        lengths: [B] tokens in each sequence.
        heads: H, attention heads.
        device: where the indices are needed.
    """
    sizes = np.asarray(lengths, np.int64)
    starts = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    head = np.arange(heads)[:, None]  # [H, 1]
    part = np.arange(3)[:, None, None, None]  # [3, 1, 1, 1]
    buckets, fill, fill_out, first = [], [], [], 0
    for group in _groups(sizes):
        width = int(sizes[group[0]])
        place = np.arange(width)
        token = starts[group, None] + np.minimum(place, sizes[group, None] - 1)  # [b, L]
        spare = place >= sizes[group, None]  # [b, L]
        token, gap = token[:, None, :], spare[:, None, :]  # [b, 1, L]
        fill.append(((token * 3 + part) * heads + head).ravel())
        fill_out.append(np.where(gap, total * heads, token * heads + head).ravel())
        bias = _bias(spare).to(device) if spare.any() else None
        buckets.append(Bucket(first, len(group), width, bias))
        first += len(group) * width
    rows, rows_out = np.concatenate(fill), np.concatenate(fill_out)
    indices = (rows, _inverse(rows), rows_out, _inverse(rows_out)[: total * heads])
    return Layout(tuple(buckets), *(torch.from_numpy(one).to(device) for one in indices))


def _bias(spare: npt.NDArray[np.bool_]) -> Tensor:
    """[b, L] -> [b, 1, 1, L]."""
    return torch.zeros(spare.shape).masked_fill_(torch.from_numpy(spare), -torch.inf)[:, None, None]


def _groups(sizes: Ints) -> list[list[int]]:
    """Sequence numbers by bucket, longest first."""
    groups: list[list[int]] = []
    for one in np.argsort(-sizes, kind="stable").tolist():
        longest = int(sizes[groups[-1][0]]) if groups else 0
        if groups and longest - sizes[one] <= max(_SPARE, _WASTE * longest):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _inverse(fill: Ints) -> Ints:
    """Where each row lies; a row in several slots counts where it came first, which is its own."""
    where = np.empty(int(fill.max()) + 1, np.int64)
    where[fill[::-1]] = np.arange(len(fill))[::-1]
    return where
