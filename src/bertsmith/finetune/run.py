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
from bertsmith.reports.html import write_report
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.parts import Judged, judge, write_predictions
from bertsmith.tasks.record import RECORD, read_record, task_record
from bertsmith.train.device import autocast_type, find_device
from bertsmith.train.folder import RunFolder
from bertsmith.train.log import METRICS, MetricsLog, read_metrics
from bertsmith.train.loop import Trainer
from bertsmith.train.memory import choose_micro_tokens
from bertsmith.train.peak import encoder_flops
from bertsmith.train.schedule import Budget
from bertsmith.train.session import Session, restore
from bertsmith.train.speed import SpeedMeter


def finetune_once(
    prepared: Prepared, out: Path, settings: FinetuneSettings, resume: str | None = None
) -> dict[str, Any]:
    """Fine-tune once, or go on with the run in ``out``; returns the run's summary.

    Args:
        prepared: task, model and data.
        out: the run folder.
        settings: the settings in force.
        resume: None, ``"latest"`` or the name of a checkpoint to go on from.

    Raises:
        BertsmithError: settings, model or run folder do not fit; or the loss became not finite.
    """
    opened = RunFolder.open(
        out, settings, prepared.sources(), keep=settings.keep_checkpoints,
        resume=resume is not None,
    )  # fmt: skip
    with closing(opened) as folder:
        finished = folder.finished_summary()
        if finished is not None:
            note(f"{out} holds the finished run of these settings; nothing is left to do")
            return finished
        return _Run(prepared, folder, settings).go(resume)


class _Run:
    def __init__(self, prepared: Prepared, folder: RunFolder, settings: FinetuneSettings) -> None:
        self.prepared, self.folder, self.settings = prepared, folder, settings
        self.device = find_device()
        self.autocast = autocast_type(settings.precision, self.device)
        self.warnings: list[str] = []
        self.model, report = new_model(prepared.model, prepared.head, settings)
        self.model.to(self.device)
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
        self.best: tuple[int, float] | None = None  # step and dev score
        self.worse = 0  # evaluations since then

    def go(self, resume: str | None) -> dict[str, Any]:
        self.clock = restore(self.folder, self.model, self.optimizer, resume)
        log = MetricsLog(self.folder.path, self.clock.step)
        self._recall()
        try:
            self._train(log)
            judged = self._evaluate(log)
        finally:
            log.close()
        if judged is None:
            self._keep([], {})
        return self._finish()

    def _train(self, log: MetricsLog) -> None:
        settings = self.settings
        trainer: Trainer[TaskBatch] = Trainer(
            self.model, task_sums, self.optimizer, settings.seed, self.micro_tokens,
            settings.max_gradient_norm, self.autocast,
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
        )  # fmt: skip
        session.run([(1.0, self.batches.batch)])

    def _flops(self, batch: TaskBatch) -> float:
        config = self.model.config
        return 3 * encoder_flops(
            layers=config.num_hidden_layers, hidden=config.hidden_size,
            intermediate=config.intermediate_size, lengths=batch.packed.lengths.tolist(),
        )  # fmt: skip

    def _evaluate_and_judge_patience(self, log: MetricsLog) -> bool:
        self._evaluate(log)
        if not self.settings.patience or self.worse < self.settings.patience:
            return False
        note(f"no better dev score in {self.worse} evaluations: the run ends here")
        return True

    def _evaluate(self, log: MetricsLog) -> list[Judged] | None:
        """Score dev, keep the model where it is the best so far; None where there is no dev."""
        if not self.prepared.dev:
            return None
        task, step = self.prepared.task, self.clock.step
        judged, tuned = judge(task, self.model, self.prepared.dev, self.micro_tokens)
        score = judged[0].figures.get(task.metric)
        figures = {name: value for name, value in judged[0].figures.items() if value is not None}
        log.write({"step": step, "held_out": figures})
        shown = "undefined" if score is None else f"{score:.4f}"
        note(f"step {step:,}: {judged[0].part.name} {task.metric} {shown}")
        if self._is_best(step, score):
            self._keep(judged, tuned)
        return judged

    def _is_best(self, step: int, score: float | None) -> bool:
        value = -math.inf if score is None else score
        if self.best is None or value > self.best[1] or step == self.best[0]:
            self.best, self.worse = (step, value), 0
            return True
        self.worse += 1
        return False

    def _recall(self) -> None:
        """Best score and patience of the evaluations before a resume, from the log."""
        for record in read_metrics(self.folder.path / METRICS):
            if "held_out" in record:
                self._is_best(record["step"], record["held_out"].get(self.prepared.task.metric))

    def _keep(self, judged: list[Judged], tuned: Mapping[str, float]) -> None:
        """Write the model as it is now."""
        task = self.prepared.task
        figures = {one.part.name: one.figures for one in judged}
        settings = dataclasses.replace(self.settings, **task.remembered())
        record = task_record(task.name, settings, tuned)
        card = model_card(self.settings, self.prepared, figures)
        target = self.folder.path / "model"
        save_model(target, merged(self.model), self.prepared.tokenizer, card, {RECORD: record})
        if self.settings.lora_rank:
            save_adapter(self.folder.path / "adapter", self.model, self.prepared.model)

    def _finish(self) -> dict[str, Any]:
        """Figures and predictions of the model that was kept, which may not be the last one."""
        path, task = self.folder.path, self.prepared.task
        model = load_task_model(path / "model").model
        record = read_record(path / "model")
        assert record is not None
        parts = [*self.prepared.dev, *self.prepared.test]
        judged, _ = judge(task, model.to(self.device), parts, self.micro_tokens, record.tuned)
        write_predictions(path, task, judged)
        summary = summarise(
            self.prepared, self.settings, self.clock, judged, record.tuned,
            best_step=self.best[0] if self.best else self.clock.step,
            losses=[
                one["task_loss"] for one in read_metrics(path / METRICS) if "task_loss" in one
            ],
            warnings=self.warnings,
        )  # fmt: skip
        self.folder.write_summary(summary)
        write_report(path)
        return summary

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        warn(text)
