"""What goes wrong with the learning of a pre-training run."""

from __future__ import annotations

import shlex
from pathlib import Path

import torch

from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.overlap import WINDOW, Overlap, overlap
from bertsmith.pretrain.phases import phase_of
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.train.clock import Clock
from bertsmith.train.log import Log
from bertsmith.train.loop import Step
from bertsmith.train.watch import (
    Check,
    Finding,
    GradientGrowth,
    Spikes,
    State,
    Watch,
    ZeroRate,
    least_rate,
)

_WINDOW = 100  # steps
# Documentation, with its boilerplate, has a tenth; books have next to none.
MUCH_SEEN = 0.2


def pretraining_watch(
    clock: Clock,
    log: Log,
    settings: PretrainSettings,
    corpus: Corpus,
    run: Path,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
) -> Watch:
    """The watch of a run in the folder ``run``."""
    entropy = float(corpus.manifest.totals("train")["unigram_entropy"])
    checks: list[Check] = [
        Spikes(1.0, lambda batch, begun: look_at(run, batch, settings, begun)),
        GradientGrowth(settings.max_gradient_norm),
        ZeroRate(settings.learning_rate, settings.warmup, lambda: least_rate(model, optimizer)),
        StuckAtUnigram(entropy, settings.warmup),
        LeakingPairs(entropy),
    ]
    return Watch(clock, log, checks)


def look_at(run: Path, batch: int, settings: PretrainSettings, begun: float) -> str:
    """The command that shows a batch; ``begun`` is the share of the budget done before it."""
    command = f"bertsmith corpus show {shlex.quote(str(run))} --batch {batch}"
    if len(settings.lengths) == 1 or settings.steps:
        return command
    return f"{command} --length {settings.lengths[phase_of(settings, begun)]}"


class StuckAtUnigram:
    """A masked-LM loss that stays at the unigram entropy of the corpus, or above it.

    That is what the best guess has that ignores the context. The mean of the last 100 steps has to
    be 0.1 nats below, from a quarter of the budget on, and a tenth of the budget and 300 steps
    after the end of the warm-up at the earliest.

    Args:
        entropy: of the tokens of the training part, in nats.
        warmup: share of the budget with a rising rate.
    """

    name = "stuck_at_unigram"
    _FROM, _AFTER, _STEPS, _BELOW = 0.25, 0.1, 300, 0.1

    def __init__(self, entropy: float, warmup: float) -> None:
        self._entropy, self._warmup = entropy, warmup

    def see(self, step: Step, begun: float, state: State) -> Finding | None:
        """See :class:`~bertsmith.train.watch.Check`."""
        if state.get("told") or "masked_lm" not in step.accuracies:
            return None
        losses: list[float] = state.setdefault("losses", [])
        losses.append(step.losses["masked_lm"])
        del losses[:-_WINDOW]
        if begun < self._warmup or len(losses) < _WINDOW:
            return None
        mean = sum(losses) / len(losses)
        warm = state.setdefault("warm", step.step)
        early = begun < max(self._FROM, self._warmup + self._AFTER)
        if early or step.step - warm < self._STEPS or mean < self._entropy - self._BELOW:
            return None
        state["told"] = True
        return Finding(
            f"step {step.step:,}: the masked LM does no better than a guess that ignores the "
            f"context: its mean loss over the last {_WINDOW} steps is {mean:.3f} nats, and the "
            f"unigram entropy of the corpus is {self._entropy:.3f}. Usual causes: a learning rate "
            f"that is too high or too low (it is {step.learning_rate:.2g}), too little warm-up, a "
            "tokenizer that does not fit the text or a shuffled vocabulary (see bertsmith doctor), "
            "too small a batch"
        )


class LeakingPairs:
    """Next sentences that are told apart by a model that has not learnt the language.

    Over 100 steps, next-sentence accuracy is at least 98 % while the masked-LM loss is less than
    half a nat below the unigram entropy.

    Args:
        entropy: of the tokens of the training part, in nats.
    """

    name = "leaking_pairs"
    _ACCURACY, _BELOW = 0.98, 0.5

    def __init__(self, entropy: float) -> None:
        self._entropy = entropy

    def see(self, step: Step, begun: float, state: State) -> Finding | None:  # noqa: ARG002
        """See :class:`~bertsmith.train.watch.Check`."""
        right = step.accuracies.get("next_sentence")
        if state.get("told") or right is None or "masked_lm" not in step.accuracies:
            return None
        last: list[list[float]] = state.setdefault("last", [])
        last.append([right, step.losses["masked_lm"]])
        del last[:-_WINDOW]
        accuracy, loss = (sum(column) / len(last) for column in zip(*last, strict=True))
        known = accuracy >= self._ACCURACY and loss > self._entropy - self._BELOW
        if len(last) < _WINDOW or not known:
            return None
        state["told"] = True
        return Finding(
            f"step {step.step:,}: over the last {_WINDOW} steps the next sentence is told from a "
            f"random one in {accuracy:.1%} of the pairs, while the masked LM has hardly learnt "
            f"(loss {loss:.3f} nats, unigram entropy {self._entropy:.3f}): something other than "
            "language gives the pairs away. Usual causes: a mark of its document in every "
            "sentence (a title, a number, a date), documents of one sentence, one language or "
            "layout a document"
        )


def seen_in_training(train: Corpus) -> Overlap | None:
    """How much of the held-out part of a corpus is in ``train``, too; None without such a part."""
    held_out = Corpus.open(train.folder, "held_out")
    found = overlap(train, held_out) if held_out.documents else None
    return found if found is not None and found.windows else None


def overlap_text(found: Overlap) -> str:
    """The figures in a sentence."""
    least = "" if found.train_share >= 1 else "at least "
    part = "" if found.train_share >= 1 else f" ({found.train_share:.0%} of it looked at)"
    return (
        f"{least}{found.share:.1%} of the held-out passages of {WINDOW} tokens ({found.seen:,} of "
        f"{found.windows:,}) stand in the training part, too{part}"
    )


def overlap_warning(found: Overlap) -> str | None:
    """What to warn of, if anything."""
    if found.share <= MUCH_SEEN:
        return None
    return (
        f"{overlap_text(found)}: held-out figures will look better than they are. Take repeated "
        "passages out of the text (--deduplicate drops exact copies of documents only)"
    )
