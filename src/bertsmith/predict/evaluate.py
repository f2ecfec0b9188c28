"""A fine-tuned model on data of its task: scores and official output files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.directory import load_task_model
from bertsmith.checkpoints.locate import locate
from bertsmith.common.console import note, table, warn
from bertsmith.common.errors import InputError, ModelError, SettingsError
from bertsmith.common.settings import from_flags, to_mapping
from bertsmith.model.task import BertForTask
from bertsmith.tasks.interval import baseline, bootstrap
from bertsmith.tasks.parts import (
    EncodedPart,
    Judged,
    encode_parts,
    judge,
    sequence_length,
    write_predictions,
)
from bertsmith.tasks.record import TaskRecord, read_record
from bertsmith.tasks.registry import GLUE, known_name, make_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Task
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.device import find_device
from bertsmith.train.memory import choose_micro_tokens


def evaluate(
    folder: Path,
    data: Path,
    flags: Mapping[str, Any],
    task_name: str | None = None,
    out: Path | None = None,
) -> list[Judged]:
    """Predict on the dev and test parts of ``data``, and score those that have labels.

    A part that is scored has a baseline beside it, the best known one without any training part:
    the most frequent answer of the part itself; and the bootstrap interval of the task's figure.

    Args:
        folder: a fine-tuned model directory.
        data: file or folder of the task's data.
        flags: task settings that override those that the model remembers.
        task_name: the task, where the model does not remember one.
        out: folder for ``metrics.json`` and ``predictions/``; None to write nothing.

    Raises:
        ModelError: the model is not whole, or its task is not known, or its head does not fit.
        InputError: the data are malformed, or hold nothing to predict on; or have no labels and
            there is no ``out``.
        SettingsError: ``out`` is a file.
    """
    if out is not None and out.exists() and not out.is_dir():
        raise SettingsError("this is a file", file=out, mend="give a folder with --out")
    model, tokenizer, report = load_task_model(folder)
    note(report.as_text())
    ready = read_labelled(folder, model, tokenizer, data, flags, task_name)
    task, encoded = ready.task, ready.parts
    if out is None and not any(one.part.labelled for one in encoded):
        raise InputError(
            "the data has no labels to score, and the predictions would be lost", file=data,
            mend="give --out DIR: they are written to DIR/predictions",
        )  # fmt: skip
    found_judged, _ = judge(
        task, model.to(find_device()), encoded, choose_micro_tokens(model.config, ready.length),
        ready.tuned,
    )  # fmt: skip
    judged = [
        dataclasses.replace(
            one, baseline=baseline(task, one.part, one.part), interval=bootstrap(task, one)
        )
        for one in found_judged
    ]
    if out is not None:
        write_predictions(out, task, judged)
    return judged


@dataclass(frozen=True)
class Ready:
    """Data of a fine-tuned model's task, encoded for it.

    Attributes:
        task: the task, with the settings in force.
        parts: dev and test parts.
        tuned: what was fitted on dev at training.
        length: most tokens a sequence.
    """

    task: Task[Any]
    parts: list[EncodedPart]
    tuned: dict[str, float]
    length: int


def read_labelled(
    folder: Path,
    model: BertForTask,
    tokenizer: Tokenizer,
    data: Path,
    flags: Mapping[str, Any],
    task_name: str | None = None,
) -> Ready:
    """Read and encode the dev and test parts of ``data`` as the model's task has it.

    Arguments and errors are those of :func:`evaluate`.
    """
    record = _record(locate(folder).folder, task_name)
    kept = to_mapping(record.settings)
    settings = from_flags(TaskSettings, {**kept, **{k: v for k, v in flags.items() if k in kept}})
    task = make_task(record.task, settings)
    task.check(model.spec)
    length = sequence_length(task, model.config, settings.max_length)
    found = task.read(data, training=False)
    parts = [*found.dev, *found.test]
    if not parts:
        raise InputError(f"there is nothing to predict on for {task.name}", file=data)
    for text in found.notes:
        note(text)
    for part in parts:
        for line in part.skipped:
            warn(f"skipped {line}")
    if record.task not in GLUE and data.is_file():
        for part in parts:
            part.name = data.stem  # the task's name for it says less
    encoded = encode_parts(task, parts, tokenizer, length, model.spec)
    for one in encoded:
        for name, count in (one.part.counts + one.encoded.counts).items():
            warn(f"{one.part.name}: {count:,} {name}")
    return Ready(task, encoded, record.tuned, length)


def show(judged: list[Judged], out: Path | None) -> None:
    """Print the scores for people."""
    rows = [
        (one.part.name, name, _decimals(value), _decimals(one.baseline.get(name)))
        for one in judged
        for name, value in one.figures.items()
    ]
    if rows:
        table("Scores", ("part", "figure", "model", "its most frequent answer"), rows)
    for one in judged:
        if one.interval is not None:
            low, high = one.interval
            note(
                f"{one.part.name}: 95 % bootstrap interval of {one.metric} over its examples "
                f"{low:.4f}-{high:.4f}"
            )
        if not one.part.labelled:
            lost = "" if out else "; they are not kept without --out"
            note(
                f"{one.part.name}: {len(one.predictions):,} predictions; it has no labels to "
                f"score{lost}"
            )
    if out is not None:
        note(f"predictions: {out / 'predictions'}")


def _decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _record(folder: Path, name: str | None) -> TaskRecord:
    record = read_record(folder)
    if record is None and name is None:
        raise ModelError(
            "the model does not say which task it is for", file=folder, mend="give --task"
        )
    if record is None:
        return TaskRecord(str(name), TaskSettings(), {})
    if name is not None and known_name(name) != record.task:
        raise ModelError(
            f"the model is one for {record.task}", file=folder, value=name, mend="leave out --task"
        )
    return record
