"""A run under way: steps, and what goes on beside them (log, evaluations, checkpoints, Ctrl-C)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Generic

import torch

from bertsmith.common.console import Bar, note
from bertsmith.common.heap import give_back_memory
from bertsmith.train.ahead import ahead
from bertsmith.train.clock import Clock
from bertsmith.train.folder import RunFolder
from bertsmith.train.interrupt import Interrupt
from bertsmith.train.log import Log
from bertsmith.train.loop import B, Step, Totals, Trainer
from bertsmith.train.schedule import Budget, linear_with_warmup
from bertsmith.train.speed import SpeedMeter
from bertsmith.train.watch import Watch

_GIVE_BACK_EVERY = 100  # steps


class Session(Generic[B]):
    """Makes the steps of a run, up to a share of its budget at a time.

    Args:
        name: what the progress bar calls it.
        trainer: makes single steps.
        folder: where checkpoints go.
        log: where records go.
        clock: how far the run has come; kept up to date.
        budget: the length of the run.
        learning_rate: its peak.
        warmup: share of the budget with a rising rate.
        log_every: steps between records.
        evaluate_every: steps between calls of ``evaluate``; the end of the run is not one.
        checkpoint_every: steps between checkpoints; the end of the run is one.
        evaluate: what to do at intervals; says whether the run shall end early.
        meter: measures the speed.
        watch: looks at every step for what goes wrong.
        batch_workers: processes that make batches, 1 for a thread of this one.
    """

    def __init__(
        self,
        name: str,
        trainer: Trainer[B],
        folder: RunFolder,
        log: Log,
        clock: Clock,
        budget: Budget,
        *,
        learning_rate: float,
        warmup: float,
        log_every: int,
        evaluate_every: int,
        checkpoint_every: int,
        evaluate: Callable[[], bool],
        meter: SpeedMeter[B],
        watch: Watch | None = None,
        batch_workers: int = 1,
    ) -> None:
        self.name, self.trainer, self.folder, self.log = name, trainer, folder, log
        self.clock, self.budget, self.meter = clock, budget, meter
        self._peak, self._warmup = learning_rate, warmup
        self._log_every, self._evaluate_every = log_every, evaluate_every
        self._checkpoint_every, self._evaluate = checkpoint_every, evaluate
        self._ended, self._watch, self._batch_workers = False, watch, batch_workers
        trainer.empty_batches = clock.empty_batches

    def run(self, phases: list[tuple[float, Callable[[int], B]]]) -> None:
        """Make the steps that are left; each phase is a share of the budget with its batches.

        Raises:
            Stopped: the process was asked to stop; a checkpoint is written.
            TrainingError: a loss is not a finite number.
        """
        self.trainer.model.train()
        total, done = self._extent()
        end = 0.0
        with Interrupt() as interrupt, Bar(self.name, total, done) as bar:
            for share, batch_at in phases:
                end += share
                if not self._past(end):
                    for number, batch in ahead(
                        batch_at, self.clock.step, sys.maxsize, self._batch_workers
                    ):
                        asked = interrupt.asked_of_any(self.trainer.processes)
                        self._step(number, batch, bar)
                        if asked:
                            self.checkpoint()
                            interrupt.leave(asked, self.folder.path, self.clock.step)
                        if self._past(end):
                            break

    def checkpoint(self) -> None:
        """Write the state of the run."""
        trainer = self.trainer
        self.folder.save(self.clock.step, trainer.model, trainer.optimizer, self.clock.as_dict())

    def _step(self, number: int, batch: B, bar: Bar) -> None:
        started = time.perf_counter()
        processes = self.trainer.processes
        totals = Totals.of(batch, processes)
        begun = self._done()
        factor = linear_with_warmup(self._progress(totals), self._warmup)
        step = self.trainer.step(number, batch, self._peak * factor, totals)
        clock = self.clock
        clock.step, clock.tokens = step.step, clock.tokens + step.tokens
        clock.counts.update(totals.counts)
        clock.empty_batches = self.trainer.empty_batches
        # All processes go by the clock of the first, to end at the same step.
        clock.seconds = processes.of_first(clock.seconds + time.perf_counter() - started)
        self.meter.add(step, batch)
        _, done = self._extent()
        bar.advance(done - bar.done, self.meter.message(step))
        if step.step % _GIVE_BACK_EVERY == 0:
            give_back_memory()
        if step.step % self._log_every == 0 or step.step == 1:
            self.log.write({**_record(step), "tokens": clock.tokens, **self.meter.take()})
        if self._watch is not None:
            self._watch.see(step, begun)
        if step.step % self._evaluate_every == 0 and not self._past(1.0):
            self._ended = self._evaluate()
        if step.step % self._checkpoint_every == 0 or self._past(1.0):
            self.checkpoint()

    def _progress(self, totals: Totals) -> float:
        """Share of the budget for the learning rate: the middle of the step about to be made."""
        clock = self.clock
        middle = clock.step + 0.5, clock.tokens + totals.tokens / 2
        return self.budget.progress(*middle, clock.seconds)

    def _past(self, share: float) -> bool:
        return self._ended or self._done() >= share - 1e-9

    def _done(self) -> float:
        clock = self.clock
        return self.budget.progress(clock.step, clock.tokens, clock.seconds)

    def _extent(self) -> tuple[float, float]:
        budget, clock = self.budget, self.clock
        if budget.steps is not None:
            return budget.steps, clock.step
        if budget.tokens is not None:
            return budget.tokens, clock.tokens
        return round((budget.minutes or 0) * 60), clock.seconds


def restore(
    folder: RunFolder,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    resume: str | None = None,
) -> Clock:
    """Put model and optimizer where the run in ``folder`` stopped; a new clock where it begins."""
    extra = folder.restore(model, optimizer, resume)
    if extra is None:
        return Clock()
    clock = Clock.from_dict(extra)
    note(f"going on from step {clock.step:,}")
    return clock


def _record(step: Step) -> dict[str, Any]:
    result: dict[str, Any] = {"step": step.step, "loss": step.loss}
    result.update({f"{name}_loss": value for name, value in step.losses.items()})
    result.update({f"{name}_accuracy": value for name, value in step.accuracies.items()})
    return {
        **result,
        "learning_rate": step.learning_rate,
        "gradient_norm": step.gradient_norm,
    }
