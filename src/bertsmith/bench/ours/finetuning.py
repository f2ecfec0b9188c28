"""One step of bertsmith's fine-tuning."""

from __future__ import annotations

import itertools
from pathlib import Path

from bertsmith.bench.models import published
from bertsmith.bench.texts import LAYOUTS, train_lines
from bertsmith.bench.work import Work
from bertsmith.finetune.model import new_model, optimizer_of
from bertsmith.finetune.objective import task_sums
from bertsmith.finetune.prepare import prepare
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.registry import make_task
from bertsmith.train.loop import Trainer
from bertsmith.train.memory import choose_micro_tokens
from bertsmith.train.peak import encoder_flops


def step(folder: str, task: str, data: str, batch: int, batches: int, longest: int) -> Work:
    """Steps on the first examples of a GLUE set, in their order: the same batches on every side."""
    part = _first_lines(Path(folder), Path(data), task, batch * batches)
    settings = FinetuneSettings(task=task, max_length=longest)
    prepared = prepare(make_task(task, settings), published(), part, longest)
    model, _ = new_model(prepared.model, prepared.head, settings)
    features, config = prepared.train.encoded.features, model.config
    trainer: Trainer[TaskBatch] = Trainer(
        model, task_sums, optimizer_of(model, settings), settings.seed,
        choose_micro_tokens(config, longest), settings.max_gradient_norm,
    )  # fmt: skip
    steps = itertools.count()

    def go() -> None:
        for start in range(0, len(features), batch):
            made = TaskBatch.of(features[start : start + batch], prepared.head)
            trainer.step(next(steps), made, settings.learning_rate)

    lengths = [one.tokens for one in features]
    flops = 3 * encoder_flops(
        layers=config.num_hidden_layers, hidden=config.hidden_size,
        intermediate=config.intermediate_size, lengths=lengths,
    )  # fmt: skip
    return Work(
        go, count=batches, flops=flops, tokens=sum(lengths), check=(len(lengths), sum(lengths)),
        about=f"{sum(lengths) / len(lengths):.1f} tokens an example on average, {max(lengths)} at "
        "most",
    )  # fmt: skip


def _first_lines(folder: Path, data: Path, task: str, count: int) -> Path:
    """A folder with the first examples as training part, and some of them as dev."""
    part = folder / LAYOUTS[task].folder
    part.mkdir()
    lines = train_lines(data, task, count)
    (part / "train.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (part / "dev.tsv").write_text("\n".join(lines[:33]) + "\n", "utf-8")
    return part
