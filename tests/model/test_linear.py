"""Dense layers by either library are torch's dense layers."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bertsmith.model import linear as module
from bertsmith.model.linear import Linear, linear, serve


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


def serving(inputs: int = 48, outputs: int = 96) -> Linear:
    if not module._HAS_ONEDNN:
        pytest.skip("this torch has no oneDNN")
    layer = Linear(inputs, outputs)
    serve(layer)
    return layer


@pytest.mark.parametrize("rows", [1, 2, 37, 255, 256])
@pytest.mark.parametrize("shape", [(48, 96), (13, 7), (384, 1152)])
def test_a_second_copy_of_the_weight_gives_the_same(rows: int, shape: tuple[int, int]) -> None:
    layer, x = serving(*shape), torch.randn(rows, shape[0])
    with torch.inference_mode():
        right = F.linear(x, layer.weight, layer.bias)
        assert (layer(x) - right).abs().max() <= 2e-6 * right.abs().max()
    assert (layer._turned is not None) == (2 <= rows < 256)


def test_a_second_copy_follows_the_weight() -> None:
    """Through an optimizer's step, through loading, and through a parameter put in its place."""
    layer, x = serving(), torch.randn(30, 48)

    def check() -> None:
        with torch.no_grad():
            assert torch.allclose(layer(x), F.linear(x, layer.weight, layer.bias), atol=1e-5)

    check()
    layer(x).sum().backward()
    torch.optim.SGD(layer.parameters(), lr=1.0).step()
    check()
    layer.load_state_dict(Linear(48, 96).state_dict())
    check()
    layer.weight = torch.nn.Parameter(torch.randn(96, 48))
    check()


def test_a_serving_layer_can_be_trained_copied_and_pickled() -> None:
    layer, x = serving(), torch.randn(30, 48)
    with torch.no_grad():
        out = layer(x)
    layer(x).sum().backward()
    assert layer.weight.grad is not None
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert other._turned is None
        with torch.no_grad():
            assert torch.equal(other(x), out)
    assert layer.state_dict().keys() == {"weight", "bias"}


def test_weights_that_can_not_be_watched_are_not_copied() -> None:
    with torch.inference_mode():
        layer = serving()
        layer(torch.randn(30, 48))
    assert layer._turned is None


def test_what_does_not_serve_has_no_second_copy() -> None:
    layer = Linear(48, 96)
    with torch.inference_mode():
        layer(torch.randn(30, 48))
    assert layer._turned is None
