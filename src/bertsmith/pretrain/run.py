"""A pre-training run: folder, phases, held-out evaluation, checkpoints, resume, summary."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.locate import locate
from bertsmith.checkpoints.save import save_model
from bertsmith.common.console import note, warn
from bertsmith.common.settings import require
from bertsmith.corpus.corpus import Corpus
from bertsmith.model.compiled import can_compile, compile_layers
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.batches import Batches, PretrainingBatch
from bertsmith.pretrain.card import model_card
from bertsmith.pretrain.evaluation import HeldOut, pairs_possible
from bertsmith.pretrain.model import new_model, started_from
from bertsmith.pretrain.objective import pretraining_sums
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.pretrain.summary import summarise
from bertsmith.pretrain.watch import (
    overlap_text,
    overlap_warning,
    pretraining_watch,
    seen_in_training,
)
from bertsmith.reports.html import write_report
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.ahead import choose_workers
from bertsmith.train.clock import Clock
from bertsmith.train.device import autocast_type, find_device
from bertsmith.train.folder import RunFolder
from bertsmith.train.log import Log, open_log
from bertsmith.train.loop import Trainer
from bertsmith.train.memory import choose_micro_tokens
from bertsmith.train.optimizers import build_optimizer
from bertsmith.train.parallel import gathered, shard
from bertsmith.train.peak import pretraining_flops
from bertsmith.train.processes import ALONE, Processes
from bertsmith.train.schedule import Budget
from bertsmith.train.session import Session, restore
from bertsmith.train.source import Source, of_files
from bertsmith.train.speed import SpeedMeter

_EVALUATIONS_A_RUN = 20
_STEPS_WORTH_COMPILING = 500


def pretrain(
    corpus_folder: Path,
    out: Path,
    settings: PretrainSettings,
    resume: str | None = None,
    start: Path | None = None,
    processes: Processes = ALONE,
) -> dict[str, Any]:
    """Pre-train on a corpus, or go on with the run in ``out``; returns the run's summary.

    Args:
        corpus_folder: what ``bertsmith corpus`` wrote.
        out: the run folder. One that holds an unfinished run with the same settings is continued.
        settings: the settings in force.
        resume: None, ``"latest"`` or the name of a checkpoint to go on from.
        start: a model to train further, in any layout; None for random weights, or for the model
            that a resumed run began with.
        processes: those of the run; every one of them has to call.

    Raises:
        BertsmithError: settings, corpus or run folder do not fit; or the loss became not finite.
    """
    corpus = Corpus.open(corpus_folder, "train")
    sources = {"corpus": Source(str(corpus.folder), corpus.manifest.contents())}
    if start is None and resume is not None:
        start = processes.first(lambda: RunFolder.began_with(out, "model"))
    if start is not None:
        sources["model"] = Source(str(start), of_files(locate(start).files))
    opened = RunFolder.open(
        out,
        settings,
        sources,
        keep=settings.keep_checkpoints,
        resume=resume is not None,
        processes=processes,
    )
    with closing(opened) as folder:
        finished = folder.finished_summary()
        if finished is not None:
            note(f"{out} holds the finished run of these settings; nothing is left to do")
            return finished
        return _Run(folder, corpus, settings, start, processes).go(resume)


class _Run:
    def __init__(
        self,
        folder: RunFolder,
        corpus: Corpus,
        settings: PretrainSettings,
        start: Path | None,
        processes: Processes,
    ) -> None:
        self.folder, self.settings, self.start = folder, settings, start
        self.processes = processes
        require(
            settings.batch_size >= processes.size,
            f"a batch has fewer sequences than the run has processes ({processes.size})",
            value=settings.batch_size, mend="give a larger --batch-size, or start fewer processes",
        )  # fmt: skip
        self.corpus = corpus
        self.tokenizer: Tokenizer = corpus.tokenizer()
        self.device = find_device()
        self.autocast = autocast_type(settings.precision, self.device)
        self.warnings: list[str] = []
        self.pairs = self._decide_pairs()
        if start is None:
            model = new_model(settings, self.tokenizer.size, self.pairs)
        else:
            model, report = started_from(start, settings, self.tokenizer, self.pairs)
            note(report.as_text())
        self.model, self.config = model.to(self.device), model.config
        if settings.parallel == "fsdp" and processes.size > 1:
            shard(self.model, self.model.encoder.layers, processes)
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
        if folder.remember("compiled", self._decide_compile()) and can_compile(self.device):
            note("layers are compiled, which takes a minute at the first step (--compile no: not)")
            compile_layers(self.model.encoder)
        self.clock = Clock()
        self.held_out = self._held_out()

    def go(self, resume: str | None) -> dict[str, Any]:
        self.clock = restore(self.folder, self.model, self.optimizer, resume)
        log = open_log(self.folder.path, self.clock.step, self.processes)
        self.watch = pretraining_watch(
            self.clock, log, self.settings, self.corpus, self.folder.path, self.model,
            self.optimizer,
        )  # fmt: skip
        try:
            self._compare_parts(log)
            if self.start is not None and self.clock.step == 0:
                self._evaluate(log)  # what the model was worth before
            self._train(log)
            held_out = self._evaluate(log)
        finally:
            log.close()
        has_pairs = self.model.next_sentence is not None
        whole = gathered(
            self.model, lambda: BertForPreTraining(self.config, has_pairs), self.processes
        )
        return self.processes.first(lambda: self._finish(whole, held_out))

    def _finish(
        self, model: BertForPreTraining, held_out: dict[str, float] | None
    ) -> dict[str, Any]:
        self.warnings += [*self.watch.warnings, *self._cut_warnings()]
        baselines = self.held_out.baselines() if self.held_out else None
        summary = summarise(
            self.settings, self.clock, model, self.corpus, held_out, baselines,
            self.warnings, self.start, self.overlap,
        )  # fmt: skip
        card = model_card(self.settings, summary)
        save_model(self.folder.path / "model", model, self.tokenizer, card)
        self.folder.write_summary(summary)
        write_report(self.folder.path)
        return summary

    def _train(self, log: Log) -> None:
        settings = self.settings
        trainer: Trainer[PretrainingBatch] = Trainer(
            self.model,
            pretraining_sums,
            self.optimizer,
            settings.seed,
            self.micro_tokens,
            settings.max_gradient_norm,
            self.autocast,
            processes=self.processes,
        )
        session = Session(
            "pre-training",
            trainer,
            self.folder,
            log,
            self.clock,
            self.budget,
            learning_rate=settings.learning_rate,
            warmup=settings.warmup,
            log_every=settings.log_every,
            evaluate_every=self._evaluation_interval(),
            checkpoint_every=settings.checkpoint_every,
            evaluate=lambda: self._evaluate_and_go_on(log),
            meter=SpeedMeter(self._flops, self.device, self.autocast),
            watch=self.watch,
            batch_workers=choose_workers(settings.batch_workers, self.device),
        )
        phases = zip(settings.length_shares, settings.lengths, strict=True)
        session.run([(share, self._share(length)) for share, length in phases])

    def _compare_parts(self, log: Log) -> None:
        """Say how much of the held-out part is in the training part, too."""
        self.overlap = self.processes.first(lambda: seen_in_training(self.corpus))
        if self.overlap is None:
            return
        text = overlap_warning(self.overlap)
        if text is None:
            note(overlap_text(self.overlap))
            return
        self.warn(text)
        if self.clock.step == 0:
            log.write({"step": 0, "warning": text})

    def _share(self, length: int) -> Callable[[int], PretrainingBatch]:
        """This process's share of the batches of a phase."""
        batches, own = self._batches(self.corpus, length), self.processes
        return lambda step: batches.batch(step, own.rank, own.size)

    def _decide_compile(self) -> bool:
        """Whether the run is long enough to win back the minute that compiling takes."""
        settings = self.settings
        return (
            settings.compile == "auto"
            and can_compile(self.device)
            and not (settings.parallel == "fsdp" and self.processes.size > 1)
            and not 0 < settings.steps < _STEPS_WORTH_COMPILING
        )

    def _flops(self, batch: PretrainingBatch) -> float:
        config = self.config
        return pretraining_flops(
            layers=config.num_hidden_layers,
            hidden=config.hidden_size,
            intermediate=config.intermediate_size,
            vocabulary=config.vocab_size,
            lengths=batch.packed.lengths.tolist(),
            masked=batch.targets["masked_lm"],
        )

    def _evaluation_interval(self) -> int:
        if self.settings.evaluate_every:
            return self.settings.evaluate_every
        if self.settings.steps:
            return max(1, self.settings.steps // _EVALUATIONS_A_RUN)
        return self.settings.checkpoint_every

    def _evaluate_and_go_on(self, log: Log) -> bool:
        self._evaluate(log)
        return False

    def _evaluate(self, log: Log) -> dict[str, float] | None:
        if self.held_out is None:
            return None
        figures = self.held_out.evaluate(self.model, self.micro_tokens, self.processes)
        log.write({"step": self.clock.step, "held_out": figures})
        text = (
            f"step {self.clock.step:,}: held-out masked LM loss {figures['masked_lm_loss']:.3f}, "
            f"accuracy {figures['masked_lm_accuracy']:.1%}"
        )
        if "next_sentence_accuracy" in figures:
            text += f", next sentence {figures['next_sentence_accuracy']:.1%}"
        note(text)
        return figures

    def _batches(self, corpus: Corpus, length: int, pairs: bool | None = None) -> Batches:
        pairs = self.pairs if pairs is None else pairs
        return Batches.of(self.settings, corpus, self.tokenizer, length, pairs)

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
        cut = self.clock.counts["tokens_cut"]
        share = cut / max(1, cut + self.clock.tokens)
        return [f"{share:.1%} of the text was cut to make pairs fit"] if share > 0.2 else []

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        warn(text)
