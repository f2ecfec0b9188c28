"""Parts with their features, and what a model makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertsmith.common.console import Bar
from bertsmith.common.errors import SettingsError
from bertsmith.common.files import write_json
from bertsmith.model.config import BertConfig
from bertsmith.model.task import BertForTask
from bertsmith.tasks.outputs import model_outputs
from bertsmith.tasks.task import Encoded, Figures, Head, Output, Part, Task
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.processes import ALONE, Processes


@dataclass
class EncodedPart:
    """A part with its features."""

    part: Part[Any]
    encoded: Encoded

    def figures(self) -> dict[str, Any]:
        """What was read, encoded and lost, for summaries."""
        features = self.encoded.features
        tokens = sum(one.tokens for one in features)
        return {
            "examples": len(self.part.examples),
            "features": len(features),
            "tokens": tokens,
            "longest": max((one.tokens for one in features), default=0),
            "skipped rows": len(self.part.skipped),
            **{name: count for name, count in self.part.counts.items() if count},
            **{name: count for name, count in self.encoded.counts.items() if count},
        }


@dataclass
class Judged:
    """What a model made of a part.

    Attributes:
        part: the examples.
        predictions: one an example.
        figures: the task's figures; empty where the part has no labels.
        baseline: those of one answer throughout, where they are asked for and mean something.
        metric: the task's own figure.
        interval: 95 % bounds of that, where they are asked for.
    """

    part: Part[Any]
    predictions: list[Any]
    figures: Figures
    baseline: Figures = field(default_factory=dict)
    metric: str = ""
    interval: tuple[float, float] | None = None


def judge(
    task: Task[Any],
    model: BertForTask,
    parts: Sequence[EncodedPart],
    micro_tokens: int,
    tuned: Mapping[str, float] | None = None,
    processes: Processes = ALONE,
) -> tuple[list[Judged], dict[str, float]]:
    """Predict on parts, and score those that have labels.

    Args:
        task: the task.
        model: the model with the task's head.
        parts: the parts; what the task tunes, it tunes on the first where ``tuned`` is None.
        micro_tokens: most tokens through the model at once.
        tuned: what was tuned before.
        processes: those of the run; all get the same results.

    Returns:
        One result a part, and what was tuned.
    """
    head = model.spec
    results, found = [], None if tuned is None else dict(tuned)
    with Bar("predicting", sum(len(one.encoded.features) for one in parts)) as bar:
        for one in parts:
            outputs = model_outputs(
                model, one.encoded.features, head, micro_tokens, bar.advance, processes
            )
            if found is None:
                found = task.tune(one.part, one.encoded, outputs, head)
            results.append(_judge(task, one, outputs, head, found))
    return results, found or {}


def _judge(
    task: Task[Any],
    one: EncodedPart,
    outputs: Sequence[Output],
    head: Head,
    tuned: Mapping[str, float],
) -> Judged:
    predictions = task.decide(one.part, one.encoded, outputs, head, tuned)
    figures = task.score(one.part, predictions) if one.part.labelled else {}
    return Judged(one.part, predictions, figures, metric=task.metric)


def sequence_length(task: Task[Any], config: BertConfig, asked: int) -> int:
    """The most tokens a sequence may have: what is asked, else the task's own.

    Raises:
        SettingsError: the model has fewer positions, or the task needs more room.
    """
    most = config.max_position_embeddings
    if asked > most:
        raise SettingsError(
            f"max_length is above the model's {most} positions", value=asked,
            mend=f"give --max-length {most} or less",
        )  # fmt: skip
    length = asked or min(task.max_length, most)
    task.check_length(length)
    return length


def encode_parts(
    task: Task[Any], parts: list[Part[Any]], tokenizer: Tokenizer, length: int, head: Head
) -> list[EncodedPart]:
    """Features of parts to predict on."""
    return [
        EncodedPart(part, task.encode(part, tokenizer, length, head, training=False))
        for part in parts
    ]


def figures_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """``figures`` by part; ``baselines`` and ``intervals``, of ``metric``, where there are any."""
    content: dict[str, Any] = {"figures": {one.part.name: one.figures for one in judged}}
    baselines = {one.part.name: one.baseline for one in judged if one.baseline}
    intervals = {one.part.name: list(one.interval) for one in judged if one.interval is not None}
    if baselines:
        content["baselines"] = baselines
    if intervals:
        content |= {"metric": judged[0].metric, "intervals": intervals}
    return content


def write_predictions(folder: Path, task: Task[Any], judged: Sequence[Judged]) -> list[Path]:
    """Write ``metrics.json`` and the task's own files under ``predictions/``; returns all paths."""
    write_json(folder / "metrics.json", {"task": task.name, **figures_of(judged)})
    paths = [folder / "metrics.json"]
    for one in judged:
        paths += task.write(folder / "predictions", one.part, one.predictions)
    return paths
