from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from bertsmith.common.errors import SettingsError
from bertsmith.train.optimizers import OPTIMIZERS, build_optimizer, clip_gradients, takes_decay

RATE, DECAY, BETA1, BETA2, EPS = 0.01, 0.1, 0.9, 0.999, 1e-6


def numpy_steps(kind: str, weights: np.ndarray, gradients: list[np.ndarray], decay: float):
    """The formulas of the three papers, a line each."""
    w, m, v = weights.astype(np.float64), 0.0, 0.0
    for t, g in enumerate(gradients, start=1):
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g**2
        if kind == "bert-adam":
            w = w - RATE * (m / (np.sqrt(v) + EPS) + decay * w)
            continue
        m_hat, v_hat = m / (1 - BETA1**t), v / (1 - BETA2**t)
        update = m_hat / (np.sqrt(v_hat) + EPS)
        if kind == "adamw":
            w = w - RATE * (update + decay * w)
            continue
        update = update + decay * w
        trust = np.linalg.norm(w) / np.linalg.norm(update) if decay else 1.0
        w = w - RATE * trust * update
    return w


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_follow_the_formula(name: str) -> None:
    rng = np.random.default_rng(0)
    shapes = {"dense.weight": (4, 3), "dense.bias": (4,), "norm.weight": (5,)}
    start = {key: rng.normal(size=shape) for key, shape in shapes.items()}
    gradients = {key: [rng.normal(size=s) for _ in range(10)] for key, s in shapes.items()}
    parameters = {k: nn.Parameter(torch.tensor(w, dtype=torch.float32)) for k, w in start.items()}
    optimizer = build_optimizer(name, parameters.items(), RATE, weight_decay=DECAY)
    for step in range(10):
        for key, weights in parameters.items():
            weights.grad = torch.tensor(gradients[key][step], dtype=torch.float32)
        optimizer.step()
    for key, weights in parameters.items():
        decay = DECAY if key == "dense.weight" else 0.0
        expected = numpy_steps(name, start[key], gradients[key], decay)
        assert np.abs(weights.detach().numpy() - expected).max() < 1e-6, key


def test_adamw_is_torch_s() -> None:
    torch.manual_seed(0)
    ours, theirs = (nn.Parameter(torch.ones(4, 3)) for _ in range(2))
    optimizer = build_optimizer("adamw", [("a.weight", ours)], RATE, weight_decay=DECAY)
    reference = torch.optim.AdamW(
        [theirs], lr=RATE, betas=(BETA1, BETA2), eps=EPS, weight_decay=DECAY, foreach=False
    )
    for _ in range(10):
        ours.grad = torch.randn(4, 3)
        theirs.grad = ours.grad.clone()
        optimizer.step()
        reference.step()
    assert torch.allclose(ours, theirs, atol=1e-6, rtol=0)


def test_the_rule_of_decay() -> None:
    matrix, vector = torch.zeros(2, 2), torch.zeros(2)
    assert takes_decay("layers.0.qkv.weight", matrix)
    assert not takes_decay("layers.0.qkv.bias", vector)
    assert not takes_decay("output.scale", vector)
    for name in ("LayerNorm.weight", "layers.0.output_norm.weight", "head.bias"):
        assert not takes_decay(name, matrix), name


def test_lamb_counts_the_steps_of_each_tensor() -> None:
    """A tensor without gradient in the first step is bias-corrected by its own count."""
    late, alone, other = (nn.Parameter(torch.ones(2, 2)) for _ in range(3))
    optimizer = build_optimizer("lamb", [("other.weight", other), ("late.weight", late)], RATE)
    other.grad = torch.full((2, 2), 0.5)
    optimizer.step()
    late.grad = torch.full((2, 2), 0.5)
    optimizer.step()
    single = build_optimizer("lamb", [("alone.weight", alone)], RATE)
    alone.grad = torch.full((2, 2), 0.5)
    single.step()
    assert torch.equal(late, alone)


def test_lamb_without_decay_keeps_its_trust_ratio() -> None:
    weights = nn.Parameter(torch.full((2, 2), 3.0))
    optimizer = build_optimizer("lamb", [("a.weight", weights)], RATE, weight_decay=0.0)
    weights.grad = torch.ones(2, 2)
    optimizer.step()
    # The step's length is the rate times the norm of the weights.
    assert float((weights.detach() - 3.0).norm()) == pytest.approx(RATE * 6.0, rel=1e-4)


def test_lamb_from_zero_weights_or_without_gradient() -> None:
    weights = nn.Parameter(torch.zeros(2, 2))
    optimizer = build_optimizer("lamb", [("a.weight", weights)], RATE)
    weights.grad = torch.zeros(2, 2)
    optimizer.step()
    assert torch.equal(weights, torch.zeros(2, 2))
    weights.grad = torch.ones(2, 2)
    optimizer.step()
    assert torch.isfinite(weights).all()
    assert (weights < 0).all()


def test_unknown_name() -> None:
    with pytest.raises(SettingsError, match="did you mean 'adamw'"):
        build_optimizer("adamm", [], 1e-3)


def test_clipping() -> None:
    weights = nn.Parameter(torch.zeros(2))
    weights.grad = torch.tensor([3.0, 4.0])
    assert clip_gradients([weights], 1.0) == pytest.approx(5.0)
    assert float(weights.grad.norm()) == pytest.approx(1.0, rel=1e-4)
    weights.grad = torch.tensor([float("nan"), 1.0])
    assert np.isnan(clip_gradients([weights], 1.0))
