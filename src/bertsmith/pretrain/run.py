"""A pre-training run: folder, phases, held-out evaluation, checkpoints, resume, summary."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch

from bertsmith.checkpoints.directory import save_model
from bertsmith.common.console import Bar, note, warn
from bertsmith.corpus.corpus import Corpus
from bertsmith.model.config import preset
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.batches import Batches, PretrainingBatch
from bertsmith.pretrain.card import model_card
from bertsmith.pretrain.clock import Clock
from bertsmith.pretrain.evaluation import HeldOut, pairs_possible
from bertsmith.pretrain.folder import RunFolder
from bertsmith.pretrain.memory import choose_micro_tokens
from bertsmith.pretrain.objective import pretraining_sums
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.pretrain.speed import SpeedMeter
from bertsmith.pretrain.summary import summarise
from bertsmith.reports.html import write_report
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.interrupt import Interrupt
from bertsmith.train.log import MetricsLog
from bertsmith.train.loop import Step, Trainer, ahead
from bertsmith.train.optimizers import build_optimizer
from bertsmith.train.schedule import Budget, linear_with_warmup

_EVALUATIONS_A_RUN = 20


def pretrain(
    corpus_folder: Path, out: Path, settings: PretrainSettings, resume: str | None = None
) -> dict[str, Any]:
    """Pre-train on a corpus, or go on with the run in ``out``; returns the run's summary.

    Args:
        corpus_folder: what ``bertsmith corpus`` wrote.
        out: the run folder. One that holds an unfinished run with the same settings is continued.
        settings: the settings in force.
        resume: None, ``"latest"`` or the name of a checkpoint to go on from.

    Raises:
        BertsmithError: settings, corpus or run folder do not fit; or the loss became not finite.
    """
    corpus = Corpus.open(corpus_folder, "train")
    folder = RunFolder.open(out, settings, corpus, resume is not None)
    finished = folder.finished_summary()
    if finished is not None:
        note(f"{out} holds the finished run of these settings; nothing is left to do")
        return finished
    return _Run(folder, corpus, settings).go(resume)


class _Run:
    def __init__(self, folder: RunFolder, corpus: Corpus, settings: PretrainSettings) -> None:
        self.folder, self.settings = folder, settings
        self.corpus = corpus
        self.tokenizer: Tokenizer = corpus.tokenizer()
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.autocast = _autocast(settings.precision, self.device)
        self.warnings: list[str] = []
        self.pairs = self._decide_pairs()
        torch.manual_seed(settings.seed)
        self.config = preset(
            settings.preset,
            self.tokenizer.size,
            hidden_act=settings.hidden_act,
            hidden_dropout_prob=settings.dropout,
            attention_probs_dropout_prob=settings.dropout,
        )
        self.model = BertForPreTraining(self.config).to(self.device)
        self.optimizer = build_optimizer(
            settings.optimizer,
            self.model.named_parameters(),
            settings.learning_rate,
            weight_decay=settings.weight_decay,
        )
        self.budget = Budget(
            settings.steps or None, settings.tokens or None, settings.minutes or None
        )
        self.micro_tokens = folder.remember(
            "micro_tokens",
            settings.micro_tokens or choose_micro_tokens(self.config, max(settings.lengths)),
        )
        self.clock = Clock()
        self.held_out = self._held_out()

    def go(self, resume: str | None) -> dict[str, Any]:
        self._restore(resume)
        log = MetricsLog(self.folder.path, self.clock.step)
        try:
            self._train(log)
            held_out = self._evaluate(log)
        finally:
            log.close()
        self.warnings += self._cut_warnings()
        baselines = self.held_out.baselines() if self.held_out else None
        summary = summarise(
            self.settings, self.clock, self.model, self.corpus, held_out, baselines, self.warnings
        )
        card = model_card(self.settings, summary)
        save_model(self.folder.path / "model", self.model, self.tokenizer, card)
        self.folder.write_summary(summary)
        write_report(self.folder.path)
        return summary

    def _train(self, log: MetricsLog) -> None:
        trainer: Trainer[PretrainingBatch] = Trainer(
            self.model,
            pretraining_sums,
            self.optimizer,
            self.settings.seed,
            self.micro_tokens,
            self.settings.max_gradient_norm,
            self.autocast,
            self.clock.empty_batches,
        )
        self.model.train()
        total, done = self._extent()
        meter = SpeedMeter(self.config, self.device, self.autocast)
        with (
            Interrupt() as interrupt,
            Bar("pre-training", total, done) as bar,
        ):
            end = 0.0
            for length, share in zip(
                self.settings.lengths, self.settings.length_shares, strict=True
            ):
                end += share
                batches = self._batches(self.corpus, length)
                if not self._past(end):
                    for number, batch in ahead(batches.batch, self.clock.step, sys.maxsize):
                        self._step(trainer, number, batch, log, meter, bar)
                        if interrupt.asked:
                            self._checkpoint()
                            interrupt.leave(self.folder.path, self.clock.step)
                        if self._past(end):
                            break

    def _step(
        self,
        trainer: Trainer[PretrainingBatch],
        number: int,
        batch: PretrainingBatch,
        log: MetricsLog,
        meter: SpeedMeter,
        bar: Bar,
    ) -> None:
        started = time.perf_counter()
        factor = linear_with_warmup(self._rate_progress(batch), self.settings.warmup)
        step = trainer.step(number, batch, self.settings.learning_rate * factor)
        clock = self.clock
        clock.step, clock.tokens = step.step, clock.tokens + step.tokens
        clock.cut.add(batch.counts)
        clock.empty_batches = trainer.empty_batches
        clock.seconds += time.perf_counter() - started
        meter.add(step, batch)
        _, done = self._extent()
        bar.advance(done - bar.done, meter.message(step))
        if step.step % self.settings.log_every == 0 or step.step == 1:
            log.write({**_record(step), "tokens": clock.tokens, **meter.take()})
        if step.step % self._evaluation_interval() == 0 and not self._past(1.0):
            self._evaluate(log)
        if step.step % self.settings.checkpoint_every == 0 or self._past(1.0):
            self._checkpoint()

    def _rate_progress(self, batch: PretrainingBatch) -> float:
        """Share of the budget for the learning rate: the middle of the step about to be made."""
        clock = self.clock
        middle = clock.step + 0.5, clock.tokens + batch.tokens / 2
        return self.budget.progress(*middle, clock.seconds)

    def _past(self, share: float) -> bool:
        clock = self.clock
        return self.budget.progress(clock.step, clock.tokens, clock.seconds) >= share - 1e-9

    def _extent(self) -> tuple[float, float]:
        settings, clock = self.settings, self.clock
        if settings.steps:
            return settings.steps, clock.step
        if settings.tokens:
            return settings.tokens, clock.tokens
        return round(settings.minutes * 60), clock.seconds

    def _evaluation_interval(self) -> int:
        if self.settings.evaluate_every:
            return self.settings.evaluate_every
        if self.settings.steps:
            return max(1, self.settings.steps // _EVALUATIONS_A_RUN)
        return self.settings.checkpoint_every

    def _evaluate(self, log: MetricsLog) -> dict[str, float] | None:
        if self.held_out is None:
            return None
        figures = self.held_out.evaluate(self.model, self.micro_tokens)
        log.write({"step": self.clock.step, "held_out": figures})
        text = (
            f"step {self.clock.step:,}: held-out masked LM loss {figures['masked_lm_loss']:.3f}, "
            f"accuracy {figures['masked_lm_accuracy']:.1%}"
        )
        if "next_sentence_accuracy" in figures:
            text += f", next sentence {figures['next_sentence_accuracy']:.1%}"
        note(text)
        return figures

    def _checkpoint(self) -> None:
        self.folder.save(self.clock.step, self.model, self.optimizer, self.clock.as_dict())

    def _restore(self, resume: str | None) -> None:
        extra = self.folder.restore(self.model, self.optimizer, resume)
        if extra is not None:
            self.clock = Clock.from_dict(extra)
            note(f"going on from step {self.clock.step:,}")

    def _batches(self, corpus: Corpus, length: int, pairs: bool | None = None) -> Batches:
        return Batches(
            corpus,
            self.tokenizer,
            batch_size=self.settings.batch_size,
            max_length=length,
            short_probability=self.settings.short_probability,
            masking=self.settings.masking,
            pairs=self.pairs if pairs is None else pairs,
            seed=self.settings.seed,
        )

    def _held_out(self) -> HeldOut | None:
        corpus = Corpus.open(self.corpus.folder, "held_out")
        if corpus.documents == 0:
            self.warn("the corpus has no held-out part: nothing tells memory from learning")
            return None
        pairs = self.pairs and pairs_possible(corpus)
        if self.pairs and not pairs:
            self.warn("the held-out part is one document: next sentence is not evaluated on it")
        batches = self._batches(corpus, self.settings.lengths[0], pairs)
        return HeldOut(batches, self.settings.evaluate_sequences, self.settings.batch_size)

    def _decide_pairs(self) -> bool:
        if self.settings.next_sentence and not pairs_possible(self.corpus):
            self.warn(
                "the corpus is one document, so there is no other document to take a random next "
                "sentence from: training without next-sentence prediction"
            )
        return self.settings.next_sentence and pairs_possible(self.corpus)

    def _cut_warnings(self) -> list[str]:
        cut = self.clock.cut.tokens_cut
        share = cut / max(1, cut + self.clock.tokens)
        return [f"{share:.1%} of the text was cut to make pairs fit"] if share > 0.2 else []

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        warn(text)


def _record(step: Step) -> dict[str, Any]:
    result: dict[str, Any] = {"step": step.step, "loss": step.loss}
    result.update({f"{name}_loss": value for name, value in step.losses.items()})
    result.update({f"{name}_accuracy": value for name, value in step.accuracies.items()})
    return {
        **result,
        "learning_rate": step.learning_rate,
        "gradient_norm": step.gradient_norm,
    }


def _autocast(precision: str, device: torch.device) -> torch.dtype | None:
    if precision == "bfloat16":
        return torch.bfloat16
    if precision == "auto" and device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return None
