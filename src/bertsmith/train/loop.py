"""The training loop, one for pre-training and fine-tuning alike.

A loss is a sum over the whole global batch divided by its number of targets, whatever the
micro-batches and processes. Dropout is seeded by (seed, step, micro-batch), so that a resumed run
needs no random state and continues bit for bit.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import torch

from bertsmith.common.errors import TrainingError
from bertsmith.train.optimizers import clip_gradients
from bertsmith.train.parallel import synchronised
from bertsmith.train.processes import ALONE, Processes


class Batch(Protocol):
    """What the loop needs to know of a batch, or of this process's share of one."""

    @property
    def tokens(self) -> int:
        """Tokens in the batch."""

    @property
    def targets(self) -> Mapping[str, int]:
        """Number of targets of each loss, with the same names in every share."""

    @property
    def counts(self) -> Mapping[str, int]:
        """What was cut or changed to make the batch, by name, the same names in every share."""

    @property
    def spare(self) -> bool:
        """Whether this share holds nothing of the batch, but something to compute meanwhile."""

    def micro_batches(self, most_tokens: int) -> Iterator[Any]:
        """The batch in pieces."""


B = TypeVar("B", bound=Batch)


@dataclass
class Sums:
    """Summed losses (with gradient) and numbers of right predictions of a micro-batch, by name."""

    losses: dict[str, torch.Tensor]
    correct: dict[str, torch.Tensor] = field(default_factory=dict)

    def detached(self) -> Sums:
        """The same numbers, without gradient."""
        return Sums({name: value.detach() for name, value in self.losses.items()}, self.correct)


@dataclass(frozen=True)
class Totals:
    """What a whole global batch has, over all processes; see :class:`Batch`."""

    tokens: int
    targets: Mapping[str, int]
    counts: Mapping[str, int]

    @classmethod
    def of(cls, batch: Batch, processes: Processes = ALONE) -> Totals:
        """Add up the shares of all processes."""
        if processes.size == 1:
            return cls(batch.tokens, batch.targets, batch.counts)
        own = [("tokens", "", batch.tokens)]
        own += [("targets", name, count) for name, count in batch.targets.items()]
        own += [("counts", name, count) for name, count in batch.counts.items()]
        sums = processes.sums({f"{kind} {name}": count for kind, name, count in own})
        return cls(
            int(sums["tokens "]),
            {name: int(sums[f"targets {name}"]) for name in batch.targets},
            {name: int(sums[f"counts {name}"]) for name in batch.counts},
        )


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
        processes: those of the run, each with its share of every batch.
    """

    model: torch.nn.Module
    objective: Callable[[torch.nn.Module, Any], Sums]
    optimizer: torch.optim.Optimizer
    seed: int
    micro_tokens: int
    max_gradient_norm: float
    autocast: torch.dtype | None = None
    empty_batches: int = 0
    processes: Processes = ALONE

    def __post_init__(self) -> None:
        self._calls = synchronised(self.model, self.objective, self.processes)

    def step(
        self, number: int, batch: B, learning_rate: float, totals: Totals | None = None
    ) -> Step:
        """Make step ``number`` (counted from 0) with ``batch``.

        Args:
            number: number of the step.
            batch: the batch, or this process's share of it.
            learning_rate: the rate of this step.
            totals: those of the whole batch, where they are known already.

        Raises:
            TrainingError: the loss or the gradient is not a finite number; the weights are those
                from before the step.
        """
        started = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        totals = totals or Totals.of(batch, self.processes)
        targets = {name: count for name, count in totals.targets.items() if count}
        self.empty_batches += int(len(targets) < len(totals.targets))
        losses, correct = self._backward(number, batch, targets)
        means = {
            name: losses[name] / targets[name] if name in targets else 0.0
            for name in totals.targets
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
            totals.tokens,
            means,
            {name: correct[name] / targets[name] for name in targets if name in correct},
            norm,
            learning_rate,
            time.perf_counter() - started,
        )

    def _backward(
        self, number: int, batch: B, targets: Mapping[str, int]
    ) -> tuple[Mapping[str, float], Mapping[str, float]]:
        """Gradients of the whole batch; summed losses and numbers of right predictions."""
        found: list[Sums] = []
        device = next(self.model.parameters()).device.type
        for index, micro, counts, is_last in self._passes(batch):
            torch.manual_seed(dropout_seed(self.seed, number, index))
            with nullcontext() if is_last else self._calls.apart():
                with torch.autocast(device, self.autocast, enabled=self.autocast is not None):
                    sums = self._calls.sums(micro)
                scale = self._calls.scale if counts else 0.0
                parts = [
                    value / targets[name] * scale
                    for name, value in sums.losses.items()
                    if name in targets
                ]
                if parts:
                    torch.stack(parts).sum().backward()  # type: ignore[no-untyped-call]
            if counts:
                found.append(sums.detached())
        # Read at the end: a GPU would have to finish each micro-batch before the next is sent.
        losses, correct = dict.fromkeys(batch.targets, 0.0), Counter[str]()
        for sums in found:
            for name, value in sums.losses.items():
                losses[name] += float(value)
            correct.update({name: int(value) for name, value in sums.correct.items()})
        return self._over_all(losses, correct)

    def _passes(self, batch: B) -> Iterator[tuple[int, Any, bool, bool]]:
        """Number, micro-batch, whether it counts, whether it is the last of this step.

        Every process makes as many passes as the one with most: the copies of a model meet at the
        end of each step, its shares in every layer. One that has no more to do repeats its last.
        """
        size, rank = self.processes.size, self.processes.rank
        micros = list(batch.micro_batches(self.micro_tokens))
        passes = self.processes.most(len(micros))
        for index in range(passes):
            counts = index < len(micros) and not batch.spare
            micro = micros[min(index, len(micros) - 1)]
            yield index * size + rank, micro, counts, index == passes - 1

    def _over_all(
        self, losses: Mapping[str, float], correct: Mapping[str, float]
    ) -> tuple[Mapping[str, float], Mapping[str, float]]:
        if self.processes.size == 1:
            return losses, correct
        # A process without a pass that counted has no names in correct: all of losses stand for it.
        names = list(losses)
        sums = self.processes.sums(
            {f"loss {name}": losses[name] for name in names}
            | {f"right {name}": correct.get(name, 0) for name in names}
            | {f"knows {name}": float(name in correct) for name in names}
        )
        return (
            {name: sums[f"loss {name}"] for name in names},
            {name: sums[f"right {name}"] for name in names if sums[f"knows {name}"]},
        )


def dropout_seed(seed: int, step: int, micro_batch: int) -> int:
    """The seed of torch's generator for one micro-batch: distinct for distinct arguments."""
    return (seed * 1_000_003 + step) * 4096 + micro_batch & (1 << 63) - 1


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
