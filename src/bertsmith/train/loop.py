"""The training loop, one for pre-training and fine-tuning alike.

A loss is a sum over the whole global batch divided by its number of targets, whatever the
micro-batches. Dropout is seeded by (seed, step, micro-batch), so that a resumed run needs no random
state and continues bit for bit.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import torch

from bertsmith.common.errors import TrainingError
from bertsmith.train.optimizers import clip_gradients


class Batch(Protocol):
    """What the loop needs to know of a batch."""

    @property
    def tokens(self) -> int:
        """Tokens in the batch."""

    @property
    def targets(self) -> Mapping[str, int]:
        """Number of targets of each loss, over the whole batch."""

    @property
    def counts(self) -> Mapping[str, int]:
        """What was cut or changed to make the batch, by name."""

    def micro_batches(self, most_tokens: int) -> Iterator[Any]:
        """The batch in pieces."""


B = TypeVar("B", bound=Batch)


@dataclass
class Sums:
    """Summed losses (with gradient) and numbers of right predictions of a micro-batch, by name."""

    losses: dict[str, torch.Tensor]
    correct: dict[str, torch.Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What one step did.

    Attributes:
        step: number of the step, counted from 1.
        tokens: tokens in its batch.
        losses: mean loss by name; a loss without targets is exactly 0.
        accuracies: share of right predictions by name.
        gradient_norm: global norm before clipping.
        learning_rate: the rate that the step used.
        seconds: wall time.
    """

    step: int
    tokens: int
    losses: dict[str, float]
    accuracies: dict[str, float]
    gradient_norm: float
    learning_rate: float
    seconds: float

    @property
    def loss(self) -> float:
        """The sum of the mean losses: what is minimised."""
        return sum(self.losses.values())


@dataclass
class Trainer(Generic[B]):
    """Makes steps; knows nothing of logs, checkpoints or tasks.

    Attributes:
        model: the model, in training mode.
        objective: summed losses of a micro-batch.
        optimizer: its learning rate is set at every step.
        seed: seed of the run.
        micro_tokens: most tokens that go through the model at once.
        max_gradient_norm: gradients are scaled down to this global norm.
        autocast: precision of the matrix products, None for that of the weights.
        empty_batches: batches so far in which some loss had no target.
    """

    model: torch.nn.Module
    objective: Callable[[torch.nn.Module, Any], Sums]
    optimizer: torch.optim.Optimizer
    seed: int
    micro_tokens: int
    max_gradient_norm: float
    autocast: torch.dtype | None = None
    empty_batches: int = 0

    def step(self, number: int, batch: B, learning_rate: float) -> Step:
        """Make step ``number`` (counted from 0) with ``batch``.

        Raises:
            TrainingError: the loss or the gradient is not a finite number; the weights are those
                from before the step.
        """
        started = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        losses, correct = self._backward(number, batch)
        targets = {name: count for name, count in batch.targets.items() if count}
        self.empty_batches += int(len(targets) < len(batch.targets))
        means = {
            name: losses[name] / targets[name] if name in targets else 0.0 for name in batch.targets
        }
        norm = 0.0
        if targets:
            norm = float(clip_gradients(self.model.parameters(), self.max_gradient_norm))
        _check_finite(number, means, norm, learning_rate)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate * group.get("rate_scale", 1.0)
        if targets:
            self.optimizer.step()
        return Step(
            number + 1,
            batch.tokens,
            means,
            {name: correct[name] / targets[name] for name in targets if name in correct},
            norm,
            learning_rate,
            time.perf_counter() - started,
        )

    def _backward(self, number: int, batch: B) -> tuple[Counter[str], Counter[str]]:
        losses: Counter[str] = Counter()
        correct: Counter[str] = Counter()
        targets = batch.targets
        device = next(self.model.parameters()).device.type
        for index, micro in enumerate(batch.micro_batches(self.micro_tokens)):
            torch.manual_seed(dropout_seed(self.seed, number, index))
            with torch.autocast(device, self.autocast, enabled=self.autocast is not None):
                sums = self.objective(self.model, micro)
            parts = [value / targets[name] for name, value in sums.losses.items() if targets[name]]
            if parts:
                torch.stack(parts).sum().backward()  # type: ignore[no-untyped-call]
            losses.update({name: float(value.detach()) for name, value in sums.losses.items()})
            correct.update({name: int(value) for name, value in sums.correct.items()})
        return losses, correct


def dropout_seed(seed: int, step: int, micro_batch: int) -> int:
    """The seed of torch's generator for one micro-batch: distinct for distinct arguments."""
    return (seed * 1_000_003 + step) * 4096 + micro_batch & (1 << 63) - 1


def ahead(batch_at: Callable[[int], B], first: int, last: int) -> Iterator[tuple[int, B]]:
    """Batches ``first`` to ``last`` (exclusive) in order, the next one made while one is used."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches") as pool:
        coming = pool.submit(batch_at, first) if first < last else None
        for number in range(first, last):
            assert coming is not None
            batch = coming.result()
            coming = pool.submit(batch_at, number + 1) if number + 1 < last else None
            yield number, batch


def _check_finite(number: int, losses: dict[str, float], norm: float, learning_rate: float) -> None:
    named = {f"{name.replace('_', ' ')} loss": value for name, value in losses.items()}
    for name, value in [*named.items(), ("gradient norm", norm)]:
        if not math.isfinite(value):
            raise TrainingError(
                f"step {number + 1}, batch {number}: the {name} is not a finite "
                f"number at learning rate {learning_rate:.3g}; the step was not made",
                value=value,
                mend="begin a new run with a lower --learning-rate, or with --precision float32",
            )
