"""What goes wrong with the learning of a run, seen from its steps.

What the checks remember lies in the run's clock, which is in every checkpoint: a run that was
killed and goes on gives the warnings of one that was not.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from bertsmith.common.console import warn
from bertsmith.train.clock import Clock
from bertsmith.train.log import Log
from bertsmith.train.loop import Step
from bertsmith.train.optimizers import Lamb
from bertsmith.train.parallel import local

State = dict[str, Any]  # plain JSON values


@dataclass(frozen=True)
class Finding:
    """What a check found at a step.

    Attributes:
        text: the warning, whole as it stands now.
        record: what goes into the metrics log beside it, each time.
    """

    text: str
    record: Mapping[str, Any] = field(default_factory=dict)


class Check(Protocol):
    """Looks for one thing that can go wrong."""

    @property
    def name(self) -> str:
        """Under which its state is kept."""

    def see(self, step: Step, begun: float, state: State) -> Finding | None:
        """Take in a step.

        Args:
            step: what the step did.
            begun: share of the budget that was done before it.
            state: what this check remembers; changed in place.
        """


class Watch:
    """Shows every step to some checks; what they find is said once, logged and kept.

    Args:
        clock: of the run; holds the state of the checks and the warnings.
        log: where records go: ``{"step", "warning"}``, and what a check adds.
        checks: what to look for.
    """

    def __init__(self, clock: Clock, log: Log, checks: Sequence[Check]) -> None:
        self._clock, self._log, self._checks = clock, log, checks

    @property
    def warnings(self) -> list[str]:
        """All that was found so far, in sentences."""
        return list(self._clock.warnings.values())

    def see(self, step: Step, begun: float) -> None:
        """Take in a step; ``begun`` is the share of the budget that was done before it."""
        for check in self._checks:
            finding = check.see(step, begun, self._clock.watch.setdefault(check.name, {}))
            if finding is not None:
                self._tell(step.step, check.name, finding)

    def _tell(self, step: int, name: str, finding: Finding) -> None:
        if finding.record:
            self._log.write({"step": step, **finding.record})
        if name not in self._clock.warnings:
            warn(finding.text)
            self._log.write({"step": step, "warning": finding.text})
        self._clock.warnings[name] = finding.text


class Spikes:
    """Losses far above those of the steps before.

    A spike is more than ``rise`` and more than 8 robust standard deviations (1.4826 times the
    median absolute deviation) above the median of the 100 losses before it. Steps that follow one
    within 20 steps are the same event.

    Args:
        rise: least height in the unit of the loss.
        look: what to do to see the batch of a number, at a share of the budget.
    """

    name = "spikes"
    _HISTORY, _LEAST, _DEVIATIONS, _QUIET, _KEPT, _SHOWN = 100, 50, 8.0, 20, 100, 3

    def __init__(self, rise: float, look: Callable[[int, float], str] | None = None) -> None:
        self._rise, self._look = rise, look

    def see(self, step: Step, begun: float, state: State) -> Finding | None:
        """See :class:`Check`."""
        if step.loss == 0:  # a batch without targets
            return None
        losses: list[float] = state.setdefault("losses", [])
        finding = None
        if len(losses) >= self._LEAST:
            middle = statistics.median(losses)
            deviation = 1.4826 * statistics.median(abs(loss - middle) for loss in losses)
            if step.loss > middle + max(self._rise, self._DEVIATIONS * deviation):
                finding = self._found(step, begun, middle, state)
        losses.append(step.loss)
        del losses[: -self._HISTORY]
        return finding

    def _found(self, step: Step, begun: float, middle: float, state: State) -> Finding | None:
        before, state["last"] = state.get("last"), step.step
        if before is not None and step.step - before <= self._QUIET:
            return None
        batch = step.step - 1
        spike = {"batch": batch, "loss": step.loss, "median": middle}
        known: list[Any] = state.setdefault("spikes", [])
        state["count"] = state.get("count", 0) + 1
        if len(known) < self._KEPT:
            known.append(spike)
        if "look" not in state and self._look is not None:
            state["look"] = self._look(batch, begun)
        return Finding(self._text(state), {"spike": spike})

    def _text(self, state: State) -> str:
        count, first = state["count"], state["spikes"][: self._SHOWN]
        shown = ", ".join(
            f"batch {one['batch']} ({one['loss']:.3f}, median before it {one['median']:.3f})"
            for one in first
        )
        what = "the loss had a spike" if count == 1 else f"the loss had {count} spikes"
        more = f" and {count - len(first)} more in the log" if count > len(first) else ""
        look = f"; to look at the text: {state['look']}" if "look" in state else ""
        return (
            f"{what}: {shown}{more}. Usual causes: damaged text in the batch, or too high a "
            f"learning rate, by which the batch before it did harm{look}"
        )


class GradientGrowth:
    """A gradient norm that grows while the loss does not fall.

    Norms and losses are taken as medians of 50 steps. The last three medians of the norm have all
    to be above the clipping norm and at least ten times the lowest one before, and those of the
    loss at least as high as then.

    Args:
        clipped_at: the norm that gradients are scaled down to.
    """

    name = "gradient_growth"
    _BLOCK, _SUSTAINED, _FACTOR = 50, 3, 10.0

    def __init__(self, clipped_at: float) -> None:
        self._clipped_at = clipped_at

    def see(self, step: Step, begun: float, state: State) -> Finding | None:  # noqa: ARG002
        """See :class:`Check`."""
        block: list[list[float]] = state.setdefault("block", [])
        block.append([step.gradient_norm, step.loss])
        if len(block) < self._BLOCK or state.get("told"):
            del block[: -self._BLOCK]
            return None
        norm, loss = (statistics.median(column) for column in zip(*block, strict=True))
        block.clear()
        last: list[list[float]] = state.setdefault("last", [])
        last.append([norm, loss, step.step])
        if len(last) > self._SUSTAINED:
            gone = last.pop(0)
            state["lowest"] = min(state.get("lowest", gone), gone)
        if "lowest" not in state or not self._grew(last, state["lowest"]):
            return None
        state["told"] = True
        return Finding(self._text(last[-1], state["lowest"]))

    def _grew(self, last: list[list[float]], lowest: list[float]) -> bool:
        least = max(self._clipped_at, self._FACTOR * lowest[0])
        return all(norm >= least and loss >= lowest[1] for norm, loss, _ in last)

    def _text(self, now: list[float], then: list[float]) -> str:
        def steps(one: list[float]) -> str:
            return f"steps {int(one[2]) - self._BLOCK + 1:,} to {int(one[2]):,}"

        times = f" ({now[0] / then[0]:,.0f} times)" if then[0] else ""
        return (
            f"the gradient norm grew from {then[0]:.3g} over {steps(then)} to {now[0]:.3g} over "
            f"{steps(now)}{times}, while the loss did not fall ({then[1]:.3f}, then {now[1]:.3f}; "
            "medians). Usual causes: too high a learning rate, too little warm-up, bfloat16"
        )


class ZeroRate:
    """A learning rate that can not change the weights any more while much of the run is left.

    Args:
        peak: the highest rate of the run.
        warmup: share of the budget with a rising rate.
        least: the smallest rate that changes weights (see :func:`least_rate`); called once a run.
    """

    name = "zero_rate"
    _LEFT = 0.05  # the last steps of any run have next to no rate

    def __init__(self, peak: float, warmup: float, least: Callable[[], float]) -> None:
        self._peak, self._warmup, self._least = peak, warmup, least

    def see(self, step: Step, begun: float, state: State) -> Finding | None:
        """See :class:`Check`."""
        if "least" not in state:
            state["least"] = self._least()
        least, left = state["least"], 1 - begun
        rate = step.learning_rate if begun >= self._warmup else self._peak
        if state.get("told") or left < self._LEFT or rate >= least:
            return None
        state["told"] = True
        return Finding(
            f"from step {step.step:,} on the learning rate is at most {rate:.2g}: the weights "
            f"need {least:.2g} to change at all in their precision, so nothing is learnt in the "
            f"{left:.0%} of the run that are left; give a higher --learning-rate"
        )


def least_rate(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> float:
    """The learning rate below which a step leaves most weights as they are.

    Adam moves a weight by about the rate or less, LAMB by about the rate times the weight. Half the
    distance to the next number, at the median weight of the matrices, is rounded away.
    """
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    parts = [local(p.detach()).flatten() for p in matrices]
    some = [part[:: max(1, len(part) // 4096)].abs().float() for part in parts]
    values = torch.cat(some) if some else torch.zeros(0)
    values = values[values > 0]
    if not len(values):
        return 0.0
    middle = float(values.median())
    epsilon = torch.finfo(matrices[0].dtype).eps
    exponent = math.floor(math.log2(middle))
    return float(epsilon / 2 * (1.0 if isinstance(optimizer, Lamb) else 2.0**exponent))
