"""Dense layers by whichever of torch's two CPU libraries multiplies their shapes faster."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

# torch has two libraries for float32 products on a processor: BLAS (MKL), which it uses by itself,
# and oneDNN. The second is mostly faster where the weights lie [out, in], that is forward, and for
# input gradients of many rows and few columns. It has to make a kernel for each new number of rows,
# which costs about a millisecond: few rows do not pay for that. The rules are fixed, not measured
# at run time: a resumed run must round as before.
_FORWARD_ROWS = 256
_TURNED_ROWS = 2  # of one row MKL makes a matrix-vector product, which is as fast
_BACKWARD_ROWS, _BACKWARD_COLUMNS = 2048, 512

_HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(  # type: ignore[no-untyped-call]
    torch.ops.mkldnn, "_linear_pointwise"
)


class Linear(nn.Linear):
    """A dense layer, x W^T + b, of the same parameters and results as torch's.

    Attributes:
        serves: whether it may keep a second copy of its weight, see :func:`serve`.
    """

    serves = False
    _turned: tuple[Tensor, tuple[int, int]] | None = None  # and of which state of the weight

    def forward(self, x: Tensor) -> Tensor:  # noqa: D102 - as in torch
        if not self.serves or not _suits_turned(x) or self.weight.is_inference():
            return linear(x, self.weight, self.bias)
        turned = self._turn()
        return x @ turned if self.bias is None else torch.addmm(self.bias, x, turned)

    def _turn(self) -> Tensor:
        state = (self.weight.data_ptr(), self.weight._version)
        if self._turned is None or self._turned[1] != state:
            self._turned = self.weight.detach().t().contiguous(), state
        return self._turned[0]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_turned": None}  # whoever reads it can turn it again


def serve(model: nn.Module) -> None:
    """Let a model that is to predict keep its dense weights a second time, for small inputs.

    On a processor a product with few rows is faster where the weight lies [in, out]. Here it is
    turned once, at the first such product, and again when the weight has changed (other than by way
    of ``.data``, which nothing can see). Products of many rows, training and other devices do
    without.
    """
    for module in model.modules():
        if isinstance(module, Linear):
            module.serves = True


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """[T, in], [out, in], [out] -> [T, out], equal to torch's ``linear`` to float rounding."""
    if not _suits_onednn(x):
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled():
        return _OneDnnLinear.apply(x, weight, bias)  # type: ignore[no-any-return, no-untyped-call]
    return _multiply(x, weight, bias)


def _suits_onednn(x: Tensor) -> bool:
    """Whether oneDNN is the faster library for a product with the rows of ``x`` [T, in]."""
    return _is_plain(x) and len(x) >= _FORWARD_ROWS


def _suits_turned(x: Tensor) -> bool:
    return _is_plain(x) and _TURNED_ROWS <= len(x) < _FORWARD_ROWS and not torch.is_grad_enabled()


def _is_plain(x: Tensor) -> bool:
    return (
        _HAS_ONEDNN
        and x.device.type == "cpu"
        and x.dtype == torch.float32
        and x.ndim == 2
        and not torch.is_autocast_enabled("cpu")
    )


def _multiply(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W^T + b by oneDNN. Its products with the activation in them are slower than the two."""
    out: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return out


class _OneDnnLinear(torch.autograd.Function):
    """The product by oneDNN, the gradients by the faster library for their shapes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _multiply(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        d_x = d_weight = d_bias = None
        for_x, for_weight, for_bias = ctx.needs_input_grad
        grad = grads[0]
        if for_x and len(x) >= _BACKWARD_ROWS and weight.shape[1] <= _BACKWARD_COLUMNS:
            d_x = _multiply(grad.contiguous(), weight.t(), None)
        elif for_x:
            d_x = grad @ weight
        if for_weight:
            d_weight = grad.t() @ x
        if for_bias:
            d_bias = grad.sum(0)
        return d_x, d_weight, d_bias
