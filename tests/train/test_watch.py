"""Failures of learning, made with the real loop on models of a few numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bertsmith.train.clock import Clock
from bertsmith.train.folder import RunFolder
from bertsmith.train.log import MetricsLog, read_metrics
from bertsmith.train.loop import Sums, Trainer
from bertsmith.train.optimizers import build_optimizer
from bertsmith.train.schedule import Budget
from bertsmith.train.session import Session, restore
from bertsmith.train.watch import GradientGrowth, Spikes, Watch, ZeroRate, least_rate
from tests.train import test_loop


@dataclass(frozen=True)
class Settings:
    pass


class Rows(test_loop.Rows):
    """Inputs and the numbers to predict from them."""

    @property
    def targets(self) -> dict[str, int]:
        return {"rows": len(self.y)}

    def micro_batches(self, most_tokens: int) -> Iterator[Rows]:
        yield self


def squares(model: nn.Module, batch: Any) -> Sums:
    return Sums({"rows": (model(batch.x) - batch.y).square().sum()})


TRUE = torch.linspace(-1, 1, 8)[:, None]


def rows(number: int) -> Rows:
    generator = torch.Generator().manual_seed(number)
    x = torch.randn(16, 8, generator=generator)
    return Rows(x, x @ TRUE + 0.3 * torch.randn(16, 1, generator=generator))


def damaged(number: int) -> Rows:
    """Batches 150 and 220 are not what the others are: the targets are of another size."""
    batch = rows(number)
    return Rows(batch.x, batch.y + 40) if number in (150, 220) else batch


class Meter:
    def add(self, *_: object) -> None:
        pass

    def take(self) -> dict[str, float]:
        return {}

    def message(self, _: object) -> str:
        return ""


class Killed(Exception):
    pass


def train(
    out: Path,
    batches: Any = rows,
    *,
    steps: int = 300,
    rate: float = 0.01,
    warmup: float = 0.05,
    optimizer: str = "adamw",
    clip: float = 1.0,
    kill_at: int = 0,
) -> list[str]:
    """A run of the real session; ``kill_at`` ends it without a checkpoint before that step."""
    torch.manual_seed(0)
    model = nn.Linear(8, 1)
    made = (
        torch.optim.SGD(model.parameters(), lr=rate)
        if optimizer == "sgd"
        else build_optimizer(optimizer, model.named_parameters(), rate, weight_decay=0.0)
    )
    folder = RunFolder.open(out, Settings(), {}, keep=2)
    clock = restore(folder, model, made)
    log = MetricsLog(out, clock.step)
    watch = Watch(
        clock,
        log,
        [
            Spikes(1.0, lambda batch, _: f"show {batch}"),
            GradientGrowth(clip),
            ZeroRate(rate, warmup, lambda: least_rate(model, made)),
        ],
    )
    trainer = Trainer(model, squares, made, 0, 10**6, clip)
    session = Session(
        "test", trainer, folder, log, clock, Budget(steps=steps),
        learning_rate=rate, warmup=warmup, log_every=10, evaluate_every=10**6,
        checkpoint_every=40, evaluate=lambda: False, meter=Meter(), watch=watch,
    )  # fmt: skip

    def batch_at(number: int) -> Rows:
        if kill_at and number >= kill_at:
            raise Killed
        return batches(number)

    try:
        session.run([(1.0, batch_at)])
    finally:
        log.close()
        folder.close()
    return watch.warnings


def logged(out: Path) -> list[dict[str, Any]]:
    return read_metrics(out / "metrics.jsonl")


def test_a_healthy_run_has_no_warning(tmp_path, capsys) -> None:
    assert train(tmp_path / "run") == []
    losses = [record["loss"] for record in logged(tmp_path / "run")]
    assert losses[-1] < 0.3 * losses[0]  # or the test would say nothing
    assert not any("warning" in record or "spike" in record for record in logged(tmp_path / "run"))
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["bert-adam", "lamb"])
def test_nor_with_another_optimizer(tmp_path, name: str) -> None:
    assert train(tmp_path / "run", optimizer=name, rate=0.01) == []


def test_spikes_have_their_batch_numbers(tmp_path, capsys) -> None:
    (text,) = train(tmp_path / "run", damaged)
    spikes = [record for record in logged(tmp_path / "run") if "spike" in record]
    assert [(record["step"], record["spike"]["batch"]) for record in spikes] == [
        (151, 150), (221, 220),
    ]  # fmt: skip
    assert all(one["spike"]["loss"] > 1000 > one["spike"]["median"] for one in spikes)
    assert "2 spikes" in text
    assert "batch 150 (" in text
    assert "batch 220 (" in text
    assert text.endswith("show 150")
    said = capsys.readouterr().err
    assert said.count("warning:") == 1  # the first one, on the screen once
    assert "a spike: batch 150" in said
    warned = [record for record in logged(tmp_path / "run") if "warning" in record]
    assert [record["step"] for record in warned] == [151]


def test_a_loss_that_stays_up_is_one_event(tmp_path) -> None:
    def broken(number: int) -> Rows:
        batch = rows(number)
        return Rows(batch.x, batch.y + 40) if 150 <= number < 190 else batch

    (text,) = train(tmp_path / "run", broken, rate=1e-4)
    assert "a spike: batch 150" in text


@pytest.mark.parametrize("kill_at", [100, 159, 215, 225])
def test_killed_and_resumed_it_warns_alike(tmp_path, kill_at: int) -> None:
    """Spikes before and after checkpoints: text, log and state are those of one whole run."""
    whole = train(tmp_path / "whole", damaged)
    with pytest.raises(Killed):
        train(tmp_path / "parts", damaged, kill_at=kill_at)
    assert train(tmp_path / "parts", damaged) == whole
    assert logged(tmp_path / "parts") == logged(tmp_path / "whole")
    states = [
        json.loads((tmp_path / one / "checkpoints" / "step-00000300" / "state.json").read_text())
        for one in ("whole", "parts")
    ]
    assert states[0]["extra"]["watch"] == states[1]["extra"]["watch"]
    assert states[0]["extra"]["warnings"] == states[1]["extra"]["warnings"]


def test_a_gradient_norm_that_grows(tmp_path) -> None:
    """Gradient descent whose rate rises above what the curvature allows, held by clipping only."""
    out = tmp_path / "run"
    found = train(out, steps=1000, rate=10.0, warmup=0.95, optimizer="sgd")
    (text,) = [one for one in found if "gradient norm" in one]
    assert "while the loss did not fall" in text
    (first,) = [one["step"] for one in logged(out) if "gradient norm" in one.get("warning", "")]
    norms = {one["step"]: one["gradient_norm"] for one in logged(out) if "gradient_norm" in one}
    lowest = min(
        np.median([norms[n] for n in range(at, at + 50, 10)]) for at in range(10, first - 150, 50)
    )
    assert np.median([norms[n] for n in range(first - 40, first + 1, 10)]) > 5 * lowest
    # A rate that stays where the curvature allows it has none.
    assert train(tmp_path / "healthy", steps=1000, rate=0.1, warmup=0.95, optimizer="sgd") == []


def test_a_norm_that_grows_while_the_loss_falls_is_none() -> None:
    """As in any run that leaves its first plateau."""
    assert grow(loss=lambda at: 6 - at / 500, norm=lambda at: 0.1 * 1.01**at) == []
    (text,) = grow(loss=lambda at: 6.0, norm=lambda at: 0.1 * 1.01**at)
    assert "while the loss did not fall" in text
    # Below the norm of clipping it does no harm, and near the end of fine-tuning it is common.
    assert grow(loss=lambda at: 0.01, norm=lambda at: 1e-4 * 1.01**at) == []
    # One wild block is no growth.
    assert grow(loss=lambda at: 6.0, norm=lambda at: 50.0 if 300 <= at < 350 else 0.5) == []


def grow(loss: Any, norm: Any) -> list[str]:
    from bertsmith.train.loop import Step

    clock = Clock()
    watch = Watch(clock, type("Log", (), {"write": lambda *_: None})(), [GradientGrowth(1.0)])
    for at in range(600):
        watch.see(Step(at + 1, 1, {"x": loss(at)}, {}, norm(at), 1e-3, 0.1), at / 600)
    return watch.warnings


def test_a_rate_that_changes_no_weight(tmp_path) -> None:
    (text,) = train(tmp_path / "run", rate=1e-12)
    assert text.startswith("from step 1 on the learning rate is at most 1e-12")
    assert "100% of the run" in text
    (text,) = train(tmp_path / "zero", rate=0.0)
    assert "at most 0:" in text


def test_the_rest_of_a_run_without_a_rate(tmp_path) -> None:
    """Decay takes the rate below what float32 can tell, long before the end."""
    torch.manual_seed(0)
    least = least_rate(nn.Linear(8, 1), torch.optim.SGD([torch.zeros(1)], lr=1.0))
    (text,) = train(tmp_path / "run", rate=2 * least, warmup=0.0)
    step = int(text.split("from step ")[1].split()[0])
    assert 140 <= step <= 160  # half of the way down
    assert "50% of the run" in text or "49%" in text


def test_the_least_rate_is_that_of_float32() -> None:
    """One more than the least rate moves the median weight, a bit less leaves it."""
    torch.manual_seed(0)
    model = nn.Linear(64, 64)
    least = least_rate(model, torch.optim.SGD([torch.zeros(1)], lr=1.0))
    weights = model.weight.detach().numpy()
    middle = np.float32(np.median(np.abs(weights)))
    assert middle + np.float32(1.1 * least) > middle
    assert middle + np.float32(0.9 * least) == middle
    moved = [(weights + np.float32(rate) != weights).mean() for rate in (4 * least, least / 50)]
    assert moved[0] > 0.9
    assert moved[1] < 0.1
