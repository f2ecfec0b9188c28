import pytest
import torch

from bertsmith.model.dropout import coins, dropout, dropout_add


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rate_and_scale(p: float) -> None:
    torch.manual_seed(0)
    y = dropout(torch.ones(1000, 1001), p, training=True)
    zero = (y == 0).double()
    deviation = (p * (1 - p) / y.numel()) ** 0.5
    assert abs(zero.mean() - p) < 4 * deviation + 1 / 65536
    assert torch.all(y[y != 0] == torch.tensor(1 / (1 - p)))


def test_each_of_the_four_coins_of_a_word_is_fair() -> None:
    torch.manual_seed(1)
    lanes = coins(torch.empty(4 * 200_000), 0.1).view(-1, 4).double()
    assert torch.all((lanes.mean(0) - 0.9).abs() < 4 * (0.09 / 200_000) ** 0.5)
    correlation = torch.corrcoef(lanes.T) - torch.eye(4)
    assert correlation.abs().max() < 4 / 200_000**0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_gradient_uses_the_same_mask(dtype: torch.dtype) -> None:
    x = torch.ones(33, 7, dtype=dtype, requires_grad=True)
    y = dropout(x, 0.3, training=True)
    y.sum().backward()
    assert y.dtype == dtype
    assert torch.equal(x.grad, y.detach())


def test_follows_the_seed() -> None:
    x = torch.ones(100)
    torch.manual_seed(3)
    first = dropout(x, 0.5, training=True)
    assert not torch.equal(first, dropout(x, 0.5, training=True))
    torch.manual_seed(3)
    assert torch.equal(first, dropout(x, 0.5, training=True))


def test_identity_outside_training_and_for_0() -> None:
    x = torch.randn(5)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
    assert dropout(torch.empty(0, 4), 0.5, training=True).shape == (0, 4)


def test_dropout_and_sum_in_one_are_the_two_by_themselves() -> None:
    x, y = torch.randn(50, 8, requires_grad=True), torch.randn(50, 8, requires_grad=True)
    torch.manual_seed(4)
    apart = dropout(y, 0.3, training=True) + x
    torch.manual_seed(4)
    joined = dropout_add(y * 1.0, x, 0.3, training=True)
    assert torch.equal(apart, joined)
    weights = torch.randn(50, 8)
    for one, other in zip(
        torch.autograd.grad((apart * weights).sum(), (x, y)),
        torch.autograd.grad((joined * weights).sum(), (x, y)),
        strict=True,
    ):
        assert torch.equal(one, other)
