from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from bertsmith.common.errors import SettingsError
from bertsmith.train.optimizers import OPTIMIZERS, build_optimizer, clip_gradients

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
        assert np.abs(weights.detach().numpy() - expected).max() < 2e-6, key


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
