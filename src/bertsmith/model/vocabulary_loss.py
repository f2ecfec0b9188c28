"""Cross-entropy over a large vocabulary, in pieces that stay in a processor's cache."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from bertsmith.model.linear import linear

# Logits of a piece: 2 MB, which the second- and third-level caches of common processors hold.
_PIECE = 1 << 19


def vocabulary_loss(
    hidden: Tensor, matrix: Tensor, bias: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor]:
    """The summed cross-entropy of ``softmax(hidden matrix^T + bias)``, and the right predictions.

    The same as the loss of all logits at once, to float rounding. Those are the largest tensor of
    a pre-training step: made, normalised and turned into their gradient in one go each, they would
    travel between memory and processor about ten times; here it is twice.

    Args:
        hidden: [M, hidden]; M may be 0.
        matrix: [V, hidden] the decoder's weights.
        bias: [V].
        labels: [M] int64, the right entries.

    Returns:
        The loss, a scalar with a gradient; the number of labels that have the highest score, int64,
        the first of equal ones counting.
    """
    loss, correct = _VocabularyLoss.apply(hidden, matrix, bias, labels)  # type: ignore[no-untyped-call]
    return loss, correct


class _VocabularyLoss(torch.autograd.Function):
    """Keeps, for each piece of columns, ``e = exp(logits - top)`` with the piece's own maxima.

    The softmax of a piece is ``e * f`` with one ``f = exp(top - norm)`` a row, so that the way back
    scales the small factors of the products, never the piece.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, matrix: Tensor, bias: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor]:
        width = max(256, _PIECE // max(1, len(hidden)))  # columns of a piece
        right = hidden.new_empty(len(labels))  # [M] the logits of the labels
        leads = torch.zeros_like(labels, dtype=torch.bool)  # whether they lead their piece
        pieces, tops, totals = [], [], []
        for part, part_bias, (rows, columns) in zip(
            torch.split(matrix, width), torch.split(bias, width),
            _labels_by_piece(labels, width, len(matrix)), strict=True,
        ):  # fmt: skip
            logits = linear(hidden, part, part_bias)  # [M, columns]
            if len(rows):
                right[rows] = logits[rows, columns]
                leads[rows] = logits[rows].argmax(1) == columns
            tops.append(logits.amax(1))
            pieces.append(logits.sub_(tops[-1][:, None]).exp_())
            totals.append(logits.sum(1))
        top, total = torch.stack(tops, 1), torch.stack(totals, 1)  # [M, pieces]
        highest = top.amax(1, keepdim=True)
        norm = highest[:, 0] + (total * (top - highest).exp()).sum(1).log()  # [M]
        correct = (leads & (top.argmax(1) == labels // width)).sum()
        ctx.pieces, ctx.width = pieces, width
        ctx.save_for_backward(hidden, matrix, labels, (top - norm[:, None]).exp())
        ctx.mark_non_differentiable(correct)
        return (norm - right).sum(), correct

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        hidden, matrix, labels, factors = ctx.saved_tensors
        width, scale = ctx.width, grads[0]
        d_hidden = matrix.index_select(0, labels).neg_()
        d_matrix, d_bias = torch.empty_like(matrix), matrix.new_empty(len(matrix))
        parts = zip(
            ctx.pieces, torch.split(matrix, width), torch.split(d_matrix, width),
            torch.split(d_bias, width), factors.unbind(1), strict=True,
        )  # fmt: skip
        for piece, part, d_part, d_part_bias, factor in parts:
            d_hidden.addcmul_(piece @ part, factor[:, None])
            torch.mm(piece.t(), hidden * (factor * scale)[:, None], out=d_part)
            torch.mv(piece.t(), factor * scale, out=d_part_bias)
        d_matrix.index_add_(0, labels, hidden * -scale)
        d_bias.index_add_(0, labels, -scale.expand(len(labels)))
        return d_hidden.mul_(scale), d_matrix, d_bias, None


def _labels_by_piece(labels: Tensor, width: int, size: int) -> list[tuple[Tensor, Tensor]]:
    """For each piece the rows whose label lies in it, and the columns of the piece they name."""
    pieces = -(-size // width)
    order = torch.argsort(labels, stable=True)
    counts = torch.bincount(labels // width, minlength=pieces).tolist()
    rows_by_piece = torch.split(order, counts)
    return [(rows, labels[rows] - number * width) for number, rows in enumerate(rows_by_piece)]
