"""One fine-tuning run: steps, evaluations on dev, the best model, resume, predictions, summary."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.adapter import save_adapter
from bertsmith.checkpoints.directory import load_task_model
from bertsmith.checkpoints.save import save_model
from bertsmith.common.console import note, warn
from bertsmith.finetune.batches import FeatureBatches
from bertsmith.finetune.card import model_card
from bertsmith.finetune.model import new_model, optimizer_of
from bertsmith.finetune.objective import task_sums
from bertsmith.finetune.prepare import Prepared
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.finetune.summary import summarise
from bertsmith.model.lora import merged
from bertsmith.model.task import BertForTask
from bertsmith.reports.html import write_report
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.parts import Judged, judge, write_predictions
from bertsmith.tasks.record import RECORD, read_record, task_record
from bertsmith.train.device import autocast_type, find_device
from bertsmith.train.folder import RunFolder
from bertsmith.train.log import METRICS, Log, open_log, read_metrics
from bertsmith.train.loop import Trainer
from bertsmith.train.memory import choose_micro_tokens
from bertsmith.train.parallel import gathered, shard
from bertsmith.train.peak import encoder_flops
from bertsmith.train.processes import ALONE, Processes
from bertsmith.train.schedule import Budget
from bertsmith.train.session import Session, restore
from bertsmith.train.speed import SpeedMeter
from bertsmith.train.watch import Check, GradientGrowth, Spikes, Watch, ZeroRate, least_rate


def finetune_once(
    prepared: Prepared,
    out: Path,
    settings: FinetuneSettings,
    resume: str | None = None,
    processes: Processes = ALONE,
) -> dict[str, Any]:
    """Fine-tune once, or go on with the run in ``out``; returns the run's summary.

    Args:
        prepared: task, model and data.
        out: the run folder.
        settings: the settings in force.
        resume: None, ``"latest"`` or the name of a checkpoint to go on from.
        processes: those of the run; every one of them has to call.

    Raises:
        BertsmithError: settings, model or run folder do not fit; or the loss became not finite.
    """
    opened = RunFolder.open(
        out, settings, prepared.sources(), keep=settings.keep_checkpoints,
        resume=resume is not None, processes=processes,
    )  # fmt: skip
    with closing(opened) as folder:
        finished = folder.finished_summary()
        if finished is not None:
            note(f"{out} holds the finished run of these settings; nothing is left to do")
            return finished
        return _Run(prepared, folder, settings, processes).go(resume)


class _Run:
    def __init__(
        self,
        prepared: Prepared,
        folder: RunFolder,
        settings: FinetuneSettings,
        processes: Processes,
    ) -> None:
        self.prepared, self.folder, self.settings = prepared, folder, settings
        self.processes = processes
        self.device = find_device()
        self.autocast = autocast_type(settings.precision, self.device)
        self.warnings: list[str] = []
        self.model, report = new_model(prepared.model, prepared.head, settings)
        self.model.to(self.device)
        if settings.parallel == "fsdp" and processes.size > 1:
            shard(self.model, self.model.encoder.layers, processes)
        if report:
            note(f"{report.as_text()}; the task's own layer is new and random")
        if report and any(name.startswith("encoder.pooler.") for name in report.new):
            self.warn(
                "the model has no pooler (pooler.dense.weight, pooler.dense.bias): it starts at "
                "random, as the new layer does"
            )
        self.optimizer = optimizer_of(self.model, settings)
        train = prepared.train.encoded.features
        self.batches = FeatureBatches(train, prepared.head, settings.batch_size, settings.seed)
        self.budget = Budget(steps=max(1, math.ceil(settings.epochs * self.batches.steps_an_epoch)))
        self.micro_tokens = folder.remember(
            "micro_tokens",
            settings.micro_tokens
            or choose_micro_tokens(self.model.config, max(one.tokens for one in train)),
        )

    def go(self, resume: str | None) -> dict[str, Any]:
        self.clock = restore(self.folder, self.model, self.optimizer, resume)
        log = open_log(self.folder.path, self.clock.step, self.processes)
        self.watch = self._watch(log)
        try:
            if not self._out_of_patience():  # else it ended here, and was killed before its summary
                self._train(log)
            judged = self._evaluate(log)
        finally:
            log.close()
        if judged is None:
            self._keep([], {})
        return self._finish()

    def _train(self, log: Log) -> None:
        settings = self.settings
        trainer: Trainer[TaskBatch] = Trainer(
            self.model, task_sums, self.optimizer, settings.seed, self.micro_tokens,
            settings.max_gradient_norm, self.autocast, processes=self.processes,
        )  # fmt: skip
        session = Session(
            "fine-tuning", trainer, self.folder, log, self.clock, self.budget,
            learning_rate=settings.learning_rate,
            warmup=settings.warmup,
            log_every=settings.log_every,
            evaluate_every=settings.evaluate_every or self.batches.steps_an_epoch,
            checkpoint_every=settings.checkpoint_every,
            evaluate=lambda: self._evaluate_and_judge_patience(log),
            meter=SpeedMeter(self._flops, self.device, self.autocast),
            watch=self.watch,
        )  # fmt: skip
        own = self.processes
        session.run([(1.0, lambda step: self.batches.batch(step, own.rank, own.size))])

    def _watch(self, log: Log) -> Watch:
        settings = self.settings
        checks: list[Check] = [
            # One example in sixteen that is wrongly labelled and surely answered is no spike.
            Spikes(2.0),
            GradientGrowth(settings.max_gradient_norm),
            ZeroRate(
                settings.learning_rate,
                settings.warmup,
                lambda: least_rate(self.model, self.optimizer),
            ),
        ]
        return Watch(self.clock, log, checks)

    def _flops(self, batch: TaskBatch) -> float:
        config = self.model.config
        return 3 * encoder_flops(
            layers=config.num_hidden_layers, hidden=config.hidden_size,
            intermediate=config.intermediate_size, lengths=batch.packed.lengths.tolist(),
        )  # fmt: skip

    def _evaluate_and_judge_patience(self, log: Log) -> bool:
        self._evaluate(log)
        if not self._out_of_patience():
            return False
        note(f"no better dev score in {self.clock.best['since']} evaluations: the run ends here")
        return True

    def _out_of_patience(self) -> bool:
        patience = self.settings.patience
        return bool(patience) and self.clock.best.get("since", 0) >= patience

    def _evaluate(self, log: Log) -> list[Judged] | None:
        """Score dev, keep the model where it is the best so far; None where there is no dev."""
        if not self.prepared.dev:
            return None
        task, step = self.prepared.task, self.clock.step
        judged, tuned = judge(
            task, self.model, self.prepared.dev, self.micro_tokens, processes=self.processes
        )
        score = judged[0].figures.get(task.metric)
        figures = {name: value for name, value in judged[0].figures.items() if value is not None}
        log.write({"step": step, "held_out": figures})
        shown = "undefined" if score is None else f"{score:.4f}"
        note(f"step {step:,}: {judged[0].part.name} {task.metric} {shown}")
        if self._is_best(step, score):
            self._keep(judged, tuned)
        return judged

    def _is_best(self, step: int, score: float | None) -> bool:
        best = self.clock.best
        if not best or _rank(score) > _rank(best["score"]) or step == best["step"]:
            self.clock.best = {"step": step, "score": score, "since": 0}
            return True
        best["since"] += 1
        return False

    def _keep(self, judged: list[Judged], tuned: Mapping[str, float]) -> None:
        """Write the model as it is now."""
        model = gathered(self.model, self._another, self.processes)
        self.processes.first(lambda: self._write(model, judged, tuned))

    def _another(self) -> BertForTask:
        return new_model(self.prepared.model, self.prepared.head, self.settings)[0]

    def _write(self, model: BertForTask, judged: list[Judged], tuned: Mapping[str, float]) -> None:
        task = self.prepared.task
        figures = {one.part.name: one.figures for one in judged}
        settings = dataclasses.replace(self.settings, **task.remembered())
        record = task_record(task.name, settings, tuned)
        card = model_card(self.settings, self.prepared, figures)
        target = self.folder.path / "model"
        save_model(target, merged(model), self.prepared.tokenizer, card, {RECORD: record})
        if self.settings.lora_rank:
            save_adapter(self.folder.path / "adapter", model, self.prepared.model)

    def _finish(self) -> dict[str, Any]:
        """Figures and predictions of the model that was kept, which may not be the last one."""
        path, task = self.folder.path, self.prepared.task
        model = load_task_model(path / "model").model
        record = read_record(path / "model")
        assert record is not None
        parts = [*self.prepared.dev, *self.prepared.test]
        judged, _ = judge(
            task, model.to(self.device), parts, self.micro_tokens, record.tuned, self.processes
        )
        return self.processes.first(lambda: self._summarise(judged, record.tuned))

    def _summarise(self, judged: list[Judged], tuned: Mapping[str, float]) -> dict[str, Any]:
        path = self.folder.path
        write_predictions(path, self.prepared.task, judged)
        summary = summarise(
            self.prepared, self.settings, self.clock, judged, tuned,
            best_step=self.clock.best.get("step", self.clock.step),
            losses=[
                one["task_loss"] for one in read_metrics(path / METRICS) if "task_loss" in one
            ],
            warnings=[*self.warnings, *self.watch.warnings],
        )  # fmt: skip
        self.folder.write_summary(summary)
        write_report(path)
        return summary

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        warn(text)


def _rank(score: float | None) -> float:
    return -math.inf if score is None else score
