"""What a fine-tuning run came to: figures beside a baseline, an interval, a verdict, mistakes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bertsmith.common.console import note, table, warn
from bertsmith.finetune.prepare import Prepared, notes_of
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.finetune.statistics import degenerate
from bertsmith.tasks.interval import baseline, bootstrap
from bertsmith.tasks.parts import Judged
from bertsmith.train.clock import Clock

_MISTAKES = 20
_FEW = 50  # examples of dev below which its score is mostly chance


def summarise(
    prepared: Prepared,
    settings: FinetuneSettings,
    clock: Clock,
    judged: Sequence[Judged],
    tuned: Mapping[str, float],
    *,
    best_step: int,
    losses: Sequence[float],
    warnings: list[str],
) -> dict[str, Any]:
    """The content of ``summary.json``.

    Args:
        prepared: task, model and data.
        settings: the settings in force.
        clock: how far the run came.
        judged: dev and test parts; the first one decides, where there is a dev part.
        tuned: what was fitted on dev beside the weights.
        best_step: the step whose weights were kept.
        losses: training losses of the logged steps.
        warnings: what the run had to warn of.
    """
    task = prepared.task
    dev = judged[0] if prepared.dev else None
    figures = prepared.figures()
    constant = dev is not None and task.constant(dev.predictions)
    reason = degenerate(losses, constant)
    interval = None if dev is None else bootstrap(task, dev)
    result: dict[str, Any] = {
        "task": f"fine-tuning on {task.name}",
        "metric": task.metric,
        "score": dev.figures.get(task.metric) if dev else None,
        "learned": reason is None,
        "verdict": _verdict(task.metric, dev, reason),
        "figures": {one.part.name: one.figures for one in judged if one.figures},
        "baselines": {} if dev is None else baseline(task, prepared.train.part, dev.part),
        "interval": None if interval is None else list(interval),
        "tuned": dict(tuned),
        "kept_step": best_step,
        "steps": clock.step,
        "epochs": round(clock.step * settings.batch_size / len(prepared.train.encoded.features), 3),
        "tokens": clock.tokens,
        "seconds": round(clock.seconds, 1),
        "seed": settings.seed,
        "labels": list(prepared.head.labels),
        "data": figures,
        "notes": prepared.notes,
        "warnings": [*warnings, *_few(dev), *notes_of(figures)],
    }
    if dev is not None and dev.part.labelled:
        wrong = task.mistakes(dev.part, dev.predictions, _MISTAKES)
        result["mistakes"] = [dataclasses.asdict(one) for one in wrong]
        result["confusion"] = task.confusion(dev.part, dev.predictions, prepared.head)
    return result


def _few(dev: Judged | None) -> list[str]:
    if dev is None or len(dev.part.examples) >= _FEW:
        return []
    return [f"{dev.part.name} has {len(dev.part.examples)} examples: its score tells little"]


def _verdict(metric: str, dev: Judged | None, reason: str | None) -> str:
    if reason is not None:
        return (
            f"the run is degenerate: {reason}. Usual mends: more epochs; another learning "
            "rate (small models take about 1e-3: --recipe small-model); --restarts"
        )
    if dev is None:
        return "unknown: there is no dev part"
    score = dev.figures.get(metric)
    return f"{dev.part.name} {metric}: {'undefined' if score is None else f'{score:.4f}'}"


def show(summary: dict[str, Any], folder: Path) -> None:
    """Print the summary for people."""
    rows = [
        (part, name, _show(value), _show(summary["baselines"].get(name)) if at == 0 else "")
        for at, (part, figures) in enumerate(summary["figures"].items())
        for name, value in figures.items()
    ]
    if rows:
        table("Scores", ("part", "figure", "model", "most frequent answer"), rows)
    if summary.get("interval"):
        low, high = summary["interval"]
        note(f"{summary['metric']}: 95 % bootstrap interval over dev examples {low:.4f}-{high:.4f}")
    for text in summary["warnings"]:
        warn(text)
    note(summary["verdict"])
    note(
        f"{summary['steps']:,} steps, {summary['seconds']:,.0f} s; kept the model of step "
        f"{summary['kept_step']:,}"
    )
    note(f"model:       {folder / 'model'}")
    note(f"predictions: {folder / 'predictions'}")
    note(f"report:      {folder / 'report.html'}")


def _show(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
