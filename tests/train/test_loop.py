from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from bertsmith.common.errors import TrainingError
from bertsmith.train.loop import Sums, Trainer, dropout_seed


@dataclass
class Rows:
    """Rows of inputs with 0/1 labels; a negative label is no target."""

    x: torch.Tensor
    y: torch.Tensor
    spare = False
    counts: ClassVar[dict[str, int]] = {}

    @property
    def tokens(self) -> int:
        return len(self.x)

    @property
    def targets(self) -> dict[str, int]:
        return {"rows": int((self.y >= 0).sum())}

    def micro_batches(self, most_tokens: int) -> Iterator[Rows]:
        for start in range(0, len(self.x), most_tokens):
            yield Rows(self.x[start : start + most_tokens], self.y[start : start + most_tokens])


def objective(model: nn.Module, batch: Any) -> Sums:
    logits = model(batch.x)
    loss = nn.functional.cross_entropy(logits, batch.y, reduction="sum", ignore_index=-1)
    return Sums({"rows": loss}, {"rows": (logits.argmax(-1) == batch.y).sum()})


def trainer(micro: int, dropout: float = 0.0, norm: float = 1e9) -> Trainer[Rows]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(dropout), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Trainer(model, objective, optimizer, 0, micro, norm)


def rows(count: int, seed: int = 1) -> Rows:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 6, generator=generator)
    return Rows(x, (x[:, 0] > 0).long())


@pytest.mark.parametrize("micro", [1, 2, 3])
def test_micro_batches_do_not_change_the_gradient(micro: int) -> None:
    """Case R03: micro-batches with 1 and 3 targets weigh each target alike."""
    batch = rows(4)
    whole, split = trainer(100), trainer(micro)
    a, b = whole.step(0, batch, 0.1), split.step(0, batch, 0.1)
    assert a.loss == pytest.approx(b.loss, abs=1e-6)
    for one, other in zip(whole.model.parameters(), split.model.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-6)
        assert torch.allclose(one, other, atol=1e-6)


class Given(nn.Module):
    """A model whose losses are given: the summed loss is scale times the batch's numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))


def given(model: nn.Module, batch: Rows) -> Sums:
    return Sums({"rows": (model.scale * batch.x).sum()}, {"rows": torch.zeros(())})


def test_a_loss_is_a_mean_over_targets_not_over_micro_batches() -> None:
    """Case R03: [2.0] and [0.4, 0.4, 0.4] have mean 0.8, not 1.2, and gradient 0.8."""
    model = Given()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    batch = Rows(torch.tensor([2.0, 0.4, 0.4, 0.4]), torch.zeros(4, dtype=torch.long))

    class Uneven(Rows):
        def micro_batches(self, most_tokens: int) -> Iterator[Rows]:
            yield Rows(self.x[:1], self.y[:1])
            yield Rows(self.x[1:], self.y[1:])

    step = Trainer(model, given, optimizer, 0, 9, 1e9).step(0, Uneven(batch.x, batch.y), 0.0)
    assert step.loss == pytest.approx(0.8, abs=1e-6)
    assert float(model.scale.grad) == pytest.approx(0.8, abs=1e-6)


def test_a_batch_without_targets_is_loss_zero() -> None:
    """Case R05: loss exactly 0, no change of the weights, counted."""
    made = trainer(2)
    before = [weights.clone() for weights in made.model.parameters()]
    batch = Rows(torch.randn(4, 6), torch.full((4,), -1))
    step = made.step(0, batch, 0.1)
    assert step.loss == 0.0
    assert step.gradient_norm == 0.0
    assert made.empty_batches == 1
    assert all(map(torch.equal, before, made.model.parameters()))


def test_not_a_number_stops_the_run() -> None:
    """Case R05: a NaN loss names step and batch and leaves the weights as they were."""
    made = trainer(100)
    before = [weights.clone() for weights in made.model.parameters()]
    batch = rows(4)
    batch.x[2, 3] = float("nan")
    with pytest.raises(TrainingError, match="step 8, batch 7"):
        made.step(7, batch, 0.1)
    assert all(map(torch.equal, before, made.model.parameters()))


def test_dropout_is_a_function_of_seed_step_and_micro_batch() -> None:
    """Case R01: the dropout of step 7 is the same, whatever was drawn before."""
    a, b = trainer(3, dropout=0.5), trainer(3, dropout=0.5)
    torch.rand(1234)
    for number in range(3):
        torch.rand(number * 17)
        assert a.step(number, rows(8), 0.1).loss == b.step(number, rows(8), 0.1).loss
    seeds = {dropout_seed(s, t, m) for s in range(3) for t in range(50) for m in range(5)}
    assert len(seeds) == 3 * 50 * 5


def test_gradients_are_clipped() -> None:
    made = trainer(100, norm=1e-3)
    step = made.step(0, rows(8), 0.0)
    assert step.gradient_norm > 1e-3
    total = sum(float((w.grad**2).sum()) for w in made.model.parameters()) ** 0.5
    assert total == pytest.approx(1e-3, rel=1e-3)
