"""The loss in pieces is the loss of all logits at once."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bertsmith.model import vocabulary_loss as module
from bertsmith.model.vocabulary_loss import vocabulary_loss


def at_once(hidden: Tensor, matrix: Tensor, bias: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    logits = hidden @ matrix.T + bias
    correct = (logits.argmax(1) == labels).sum()
    return F.cross_entropy(logits, labels, reduction="sum"), correct


def measure(function: object, hidden: Tensor, matrix: Tensor, bias: Tensor, labels: Tensor):  # type: ignore[no-untyped-def]
    leaves = [one.clone().requires_grad_() for one in (hidden, matrix, bias)]
    loss, correct = function(*leaves, labels)  # type: ignore[operator]
    (loss * 0.37).backward()
    return float(loss.detach()), int(correct), [one.grad for one in leaves]


@pytest.mark.parametrize("masked", [1, 7, 300])
@pytest.mark.parametrize("entries", [5, 256, 1000, 5001])
@pytest.mark.parametrize("scale", [0.05, 30.0])  # logits near 0, and of more than 100
def test_loss_gradients_and_right_predictions(
    masked: int, entries: int, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PIECE", 300 * 256)
    torch.manual_seed(entries + masked)
    hidden, matrix = scale * torch.randn(masked, 16).double(), torch.randn(entries, 16).double()
    bias, labels = torch.randn(entries).double(), torch.randint(entries, (masked,))
    labels[: masked // 2] = (hidden @ matrix.T + bias).argmax(1)[: masked // 2]
    loss, correct, grads = measure(vocabulary_loss, hidden, matrix, bias, labels)
    right_loss, right_correct, right_grads = measure(at_once, hidden, matrix, bias, labels)
    assert loss == pytest.approx(right_loss, rel=1e-12, abs=1e-11)
    assert correct == right_correct >= masked // 2
    for mine, right in zip(grads, right_grads, strict=True):
        assert (mine - right).abs().max() <= 1e-13 * float(
            hidden.abs().max() + right.abs().max() + 1
        )


def test_of_equal_scores_the_first_counts() -> None:
    matrix, bias = torch.zeros(1000, 4), torch.zeros(1000)
    hidden, labels = torch.ones(3, 4), torch.tensor([0, 1, 999])
    assert int(vocabulary_loss(hidden, matrix, bias, labels)[1]) == 1


def test_nothing_masked_costs_exactly_0() -> None:
    matrix = torch.randn(1000, 4, requires_grad=True)
    none = torch.empty(0, dtype=torch.int64)
    loss, correct = vocabulary_loss(torch.empty(0, 4), matrix, torch.zeros(1000), none)
    loss.backward()
    assert (float(loss.detach()), int(correct)) == (0.0, 0)
    assert torch.equal(matrix.grad, torch.zeros(1000, 4))


def test_a_number_that_is_not_finite_is_seen_in_the_loss() -> None:
    matrix = torch.randn(1000, 4)
    matrix[700, 2] = torch.nan
    loss, _ = vocabulary_loss(torch.ones(2, 4), matrix, torch.zeros(1000), torch.tensor([1, 2]))
    assert not torch.isfinite(loss)


def test_the_gradient_can_be_taken_again_with_the_same_result() -> None:
    hidden = torch.randn(5, 4, requires_grad=True)
    loss, _ = vocabulary_loss(hidden, torch.randn(900, 4), torch.zeros(900), torch.arange(5))
    loss.backward(retain_graph=True)
    first = hidden.grad.clone()
    loss.backward()
    assert torch.equal(hidden.grad, 2 * first)
