"""Dense layers by either library are torch's dense layers."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bertsmith.model import linear as module
from bertsmith.model.linear import Linear, linear


def gradients(function: object, x: Tensor, weight: Tensor, bias: Tensor | None) -> list[Tensor]:
    leaves = [one.clone().requires_grad_() for one in (x, weight, bias) if one is not None]
    out = function(*leaves, *([None] if bias is None else []))  # type: ignore[operator]
    (out * torch.linspace(-1, 1, out.numel()).view(out.shape).to(out.dtype)).sum().backward()
    return [out.detach(), *(one.grad for one in leaves if one.grad is not None)]


@pytest.mark.parametrize("rows", [1, 255, 256, 2047, 2048, 2500])
@pytest.mark.parametrize("with_bias", [True, False])
def test_results_and_gradients_are_those_of_torch(rows: int, with_bias: bool) -> None:
    torch.manual_seed(rows)
    x, weight = torch.randn(rows, 48), torch.randn(96, 48)
    bias = torch.randn(96) if with_bias else None
    ours, theirs = gradients(linear, x, weight, bias), gradients(F.linear, x, weight, bias)
    assert len(ours) == len(theirs) == 3 + with_bias
    for mine, right in zip(ours, theirs, strict=True):
        assert (mine - right).abs().max() <= 2e-6 * right.abs().max()


def test_long_batches_go_through_onednn_where_it_is() -> None:
    if not module._HAS_ONEDNN:
        pytest.skip("this torch has no oneDNN")
    layer = Linear(8, 8)
    assert "OneDnn" in type(layer(torch.randn(300, 8)).grad_fn).__name__
    assert "OneDnn" not in type(layer(torch.randn(30, 8)).grad_fn).__name__


def test_frozen_inputs_and_weights_get_no_gradient() -> None:
    layer = Linear(8, 4)
    layer.weight.requires_grad_(False)
    layer(torch.randn(300, 8)).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad is not None
    assert torch.equal(layer.bias.grad, torch.full((4,), 300.0))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_precisions_are_left_to_torch(dtype: torch.dtype) -> None:
    x, weight = torch.randn(300, 8, dtype=dtype), torch.randn(4, 8, dtype=dtype)
    assert torch.equal(linear(x, weight), F.linear(x, weight))


def test_autocast_is_respected() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert Linear(8, 4)(torch.randn(300, 8)).dtype == torch.bfloat16
