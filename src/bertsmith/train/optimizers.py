"""The optimizers of pre-training and fine-tuning, and gradient clipping."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from bertsmith.common.errors import SettingsError, nearest

OPTIMIZERS = ("bert-adam", "adamw", "lamb")


def build_optimizer(
    name: str,
    named_parameters: Iterable[tuple[str, Parameter]],
    learning_rate: float,
    *,
    weight_decay: float = 0.01,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-6,
) -> torch.optim.Optimizer:
    """The optimizer called ``name`` over two groups: with weight decay and without.

    Weight decay is on all but biases and LayerNorm, which are the parameters of one dimension.

    Raises:
        SettingsError: there is no optimizer of that name.
    """
    if name not in OPTIMIZERS:
        close = nearest(name, OPTIMIZERS)
        mend = f"did you mean {close!r}?" if close else "choices: " + ", ".join(OPTIMIZERS)
        raise SettingsError("no optimizer of that name", value=name, mend=mend)
    trained = [weights for _, weights in named_parameters if weights.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [w for w in trained if w.ndim > 1], "weight_decay": weight_decay},
        {"params": [w for w in trained if w.ndim <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if name == "adamw":
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, eps=eps, fused=True)
    kind = BertAdam if name == "bert-adam" else Lamb
    return kind(groups, learning_rate, betas, eps)


def clip_gradients(parameters: Iterable[Parameter], max_norm: float) -> float:
    """Scale the gradients down to a global norm of ``max_norm``; returns the norm before.

    A norm that is not finite is returned as it is, so that the caller can stop.
    """
    gradients = [weights for weights in parameters if weights.grad is not None]
    return float(torch.nn.utils.clip_grad_norm_(gradients, max_norm, foreach=True))


class _Moments(torch.optim.Optimizer):
    """Adam's two moments, kept for every parameter; subclasses turn them into a step."""

    def __init__(
        self,
        groups: list[dict[str, Any]],
        learning_rate: float,
        betas: tuple[float, float],
        eps: float,
    ) -> None:
        super().__init__(groups, {"lr": learning_rate, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(  # type: ignore[override]
        self,
        closure: Callable[[], float] | None = None,  # noqa: ARG002 - part of the interface
    ) -> None:
        """Make one step; ``closure`` is not used."""
        for group in self.param_groups:
            weights = [p for p in group["params"] if p.grad is not None]
            if weights:
                gradients = [p.grad for p in weights]
                self._step_group(group, weights, gradients, *self._moments(weights))

    def _moments(self, weights: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        for p in weights:
            if not self.state[p]:
                self.state[p] = {
                    "step": 0,
                    "exp_avg": torch.zeros_like(p),
                    "exp_avg_sq": torch.zeros_like(p),
                }
            self.state[p]["step"] += 1
        first = [self.state[p]["exp_avg"] for p in weights]
        return first, [self.state[p]["exp_avg_sq"] for p in weights]

    def _update_moments(
        self, group: dict[str, Any], g: list[Tensor], m: list[Tensor], v: list[Tensor]
    ) -> None:
        beta1, beta2 = group["betas"]
        torch._foreach_lerp_(m, g, 1 - beta1)
        torch._foreach_mul_(v, beta2)
        torch._foreach_addcmul_(v, g, g, value=1 - beta2)

    def _step_group(
        self,
        group: dict[str, Any],
        w: list[Tensor],
        g: list[Tensor],
        m: list[Tensor],
        v: list[Tensor],
    ) -> None:
        raise NotImplementedError


class BertAdam(_Moments):
    """Adam as in the 2018 ``optimization.py``: no bias correction, decoupled weight decay.

    update = m / (sqrt(v) + eps) + decay * w;  w -= rate * update
    """

    def _step_group(
        self,
        group: dict[str, Any],
        w: list[Tensor],
        g: list[Tensor],
        m: list[Tensor],
        v: list[Tensor],
    ) -> None:
        self._update_moments(group, g, m, v)
        scale = torch._foreach_sqrt(v)
        torch._foreach_add_(scale, group["eps"])
        torch._foreach_mul_(w, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_addcdiv_(w, m, scale, value=-group["lr"])


class Lamb(_Moments):
    """LAMB (arXiv 1904.00962, algorithm 2): bias-corrected Adam with a trust ratio a tensor.

    The tensors without weight decay (biases, LayerNorm) get no trust ratio either.
    """

    def _step_group(
        self,
        group: dict[str, Any],
        w: list[Tensor],
        g: list[Tensor],
        m: list[Tensor],
        v: list[Tensor],
    ) -> None:
        self._update_moments(group, g, m, v)
        beta1, beta2 = group["betas"]
        steps = self.state[w[0]]["step"]
        scale = torch._foreach_div(v, 1 - beta2**steps)
        torch._foreach_sqrt_(scale)
        torch._foreach_add_(scale, group["eps"])
        update = torch._foreach_div(m, scale)
        torch._foreach_div_(update, 1 - beta1**steps)
        if group["weight_decay"]:
            torch._foreach_add_(update, w, alpha=group["weight_decay"])
            for weights, change in zip(w, update, strict=True):
                change.mul_(_trust(weights.norm(), change.norm()))
        torch._foreach_add_(w, update, alpha=-group["lr"])


def _trust(weights: Tensor, update: Tensor) -> Tensor:
    both = (weights > 0) & (update > 0)
    return torch.where(both, weights / update.clamp(min=1e-38), torch.ones_like(weights))
