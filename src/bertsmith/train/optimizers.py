"""The optimizers of pre-training and fine-tuning, and gradient clipping."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from bertsmith.common.errors import SettingsError, nearest
from bertsmith.train.parallel import in_shares, local, total, whole

OPTIMIZERS = ("bert-adam", "adamw", "lamb")


def build_optimizer(
    name: str,
    named_parameters: Iterable[tuple[str, Parameter]],
    learning_rate: float,
    *,
    weight_decay: float = 0.01,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-6,
    rate_scale: Callable[[str], float] = lambda _: 1.0,
) -> torch.optim.Optimizer:
    """The optimizer called ``name`` over groups with and without weight decay.

    Args:
        name: one of :data:`OPTIMIZERS`.
        named_parameters: those that do not require a gradient are left out.
        learning_rate: the rate until the caller sets ``param_groups[...]["lr"]``.
        weight_decay: decoupled decay of the parameters that :func:`takes_decay` picks.
        betas: decay of the two moments.
        eps: added to the root of the second moment, 1e-6 as in the 2018 ``optimization.py``.
        rate_scale: what the learning rate is multiplied by, for the parameter of a name.

    Raises:
        SettingsError: there is no optimizer of that name.
    """
    if name not in OPTIMIZERS:
        close = nearest(name, OPTIMIZERS)
        mend = f"did you mean {close!r}?" if close else "choices: " + ", ".join(OPTIMIZERS)
        raise SettingsError("no optimizer of that name", value=name, mend=mend)
    by_kind: dict[tuple[bool, float], list[Parameter]] = {}
    for its_name, weights in named_parameters:
        if weights.requires_grad:
            kind = takes_decay(its_name, weights), rate_scale(its_name)
            by_kind.setdefault(kind, []).append(weights)
    groups: list[dict[str, Any]] = [
        {
            "params": weights,
            "weight_decay": weight_decay if decays else 0.0,
            "trust_ratio": decays,
            "rate_scale": scale,
        }
        for (decays, scale), weights in sorted(by_kind.items(), key=_first, reverse=True)
    ]
    if name == "adamw":
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, eps=eps, fused=True)
    optimizer = BertAdam if name == "bert-adam" else Lamb
    return optimizer(groups, learning_rate, betas, eps)


def _first(item: tuple[tuple[bool, float], list[Parameter]]) -> tuple[bool, float]:
    return item[0]


def takes_decay(name: str, weights: Tensor) -> bool:
    """The rule of weight decay: on matrices, unless the name says bias or LayerNorm.

    The 2018 ``optimization.py`` goes by name alone (``LayerNorm``, ``layer_norm``, ``bias``). The
    number of dimensions catches biases and scales under any other name.
    """
    return weights.ndim > 1 and not name.endswith("bias") and "norm" not in name.lower()


def clip_gradients(parameters: Iterable[Parameter], max_norm: float) -> float:
    """Scale the gradients down to a global norm of ``max_norm``; returns the norm before.

    A norm that is not finite is returned as it is, so that the caller can stop.
    """
    gradients = [weights for weights in parameters if weights.grad is not None]
    return float(whole(torch.nn.utils.clip_grad_norm_(gradients, max_norm, foreach=True)))


class _Moments(torch.optim.Optimizer):
    """Adam's two moments, kept for every parameter; subclasses turn them into a step.

    Of weights in shares (see ``parallel.py``) every process moves its own; ``w``, ``g``, ``m`` and
    ``v`` of a step are these shares.
    """

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
                tensors = weights, [p.grad for p in weights], *self._moments(weights)
                self._step_group(group, weights, *([local(t) for t in kind] for kind in tensors))

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

    def _step_group(
        self,
        group: dict[str, Any],
        weights: list[Parameter],
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
        weights: list[Parameter],  # noqa: ARG002 - part of the interface
        w: list[Tensor],
        g: list[Tensor],
        m: list[Tensor],
        v: list[Tensor],
    ) -> None:
        beta1, beta2 = group["betas"]
        # The fused AdamW is four times as fast as single operations. A step number so large that
        # beta ** step is 0 turns its bias correction off, which is all that tells the two apart.
        endless = torch.full((), 1e9, device=w[0].device)
        torch._fused_adamw_(
            w, g, m, v, [], [endless] * len(w), lr=group["lr"], beta1=beta1, beta2=beta2,
            weight_decay=group["weight_decay"], eps=group["eps"], amsgrad=False, maximize=False,
        )  # fmt: skip


class Lamb(_Moments):
    """LAMB (arXiv 1904.00962, algorithm 2): bias-corrected Adam with a trust ratio a tensor.

    A trust ratio is |weights| / |update|, or 1 where either is 0. The tensors that take no weight
    decay (biases, LayerNorm) get no trust ratio either. Joined matrices count as one tensor.
    """

    def _step_group(
        self,
        group: dict[str, Any],
        weights: list[Parameter],
        w: list[Tensor],
        g: list[Tensor],
        m: list[Tensor],
        v: list[Tensor],
    ) -> None:
        beta1, beta2 = group["betas"]
        torch._foreach_lerp_(m, g, 1 - beta1)
        torch._foreach_mul_(v, beta2)
        torch._foreach_addcmul_(v, g, g, value=1 - beta2)
        # A tensor that had no gradient in some step is behind the others.
        steps = [self.state[p]["step"] for p in weights]
        scale = torch._foreach_div(v, [1 - beta2**step for step in steps])
        torch._foreach_sqrt_(scale)
        torch._foreach_add_(scale, group["eps"])
        update = torch._foreach_div(m, scale)
        torch._foreach_div_(update, [1 - beta1**step for step in steps])
        if group["weight_decay"]:
            torch._foreach_add_(update, w, alpha=group["weight_decay"])
        if group["trust_ratio"]:
            ratios = _trust(_norms(w, weights), _norms(list(update), weights))
            torch._foreach_mul_(update, list(ratios.unbind()))
        torch._foreach_add_(w, update, alpha=-group["lr"])


def _norms(tensors: list[Tensor], weights: list[Parameter]) -> Tensor:
    """``[tensors]`` norms of whole tensors, from the shares of the tensors of ``weights``."""
    norms = torch.stack(torch._foreach_norm(tensors))
    return total(norms.square(), weights[0]).sqrt() if in_shares(weights[0]) else norms


def _trust(weights: Tensor, update: Tensor) -> Tensor:
    """The trust ratio from the norms of weights and update, each ``[tensors]``."""
    ratio = weights / update
    return torch.where((weights > 0) & (update > 0), ratio, torch.ones_like(ratio))
