"""The sections of a report about fine-tuning; a figure that is not there is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bertsmith.reports.curves import Chart, series, spikes
from bertsmith.reports.markup import section, table
from bertsmith.reports.values import is_list, is_number, mapping

SHOWN = ("figures", "interval", "score", "metric", "mistakes", "confusion", "runs", "data",
         "degenerate_runs", "spread", "best_run", "labels", "notes")  # fmt: skip


def scores(summary: Mapping[str, Any]) -> str:
    """The figures of every part beside those of the most frequent answer, and their interval."""
    baselines = mapping(summary, "baselines")
    rows = []
    for at, (part, figures) in enumerate(mapping(summary, "figures").items()):
        for name, value in figures.items() if isinstance(figures, dict) else ():
            base = baselines.get(name) if at == 0 else None
            rows.append((part, name, _decimals(value), _decimals(base)))
    interval = summary.get("interval")
    if is_list(interval) and len(interval) == 2:
        bounds = f"{_decimals(interval[0])} to {_decimals(interval[1])}"
        rows.append(("", f"{summary.get('metric')}: 95 % bootstrap interval", bounds, ""))
    return section("Scores", table(("part", "figure", "model", "most frequent answer"), rows))


def runs(summary: Mapping[str, Any]) -> str:
    """All runs of a search or of restarts; the degenerate ones say why."""
    bad = mapping(summary, "degenerate_runs")
    rows = [
        (
            name,
            _decimals(score),
            str(bad.get(name, "best" if name == summary.get("best_run") else "")),
        )
        for name, score in mapping(summary, "runs").items()
    ]
    spread = mapping(summary, "spread")
    facts = [(name.replace("_", " "), _decimals(value), "") for name, value in spread.items()]
    return section("Runs", table(("run", str(summary.get("metric", "score")), ""), [*rows, *facts]))


def data(summary: Mapping[str, Any]) -> str:
    """What was read, encoded and lost."""
    parts = {name: one for name, one in mapping(summary, "data").items() if isinstance(one, dict)}
    names = list(dict.fromkeys(name for one in parts.values() for name in one))
    rows = [(name, *(one.get(name, "") for one in parts.values())) for name in names]
    notes = summary.get("notes")
    rows += [("note", str(text)) for text in notes] if is_list(notes) else []
    return section("Data", table(("", *parts), rows))


def confusion(summary: Mapping[str, Any]) -> str:
    """How often each label was taken for each other one."""
    matrix = {
        gold: one for gold, one in mapping(summary, "confusion").items() if isinstance(one, dict)
    }
    words = list(dict.fromkeys(word for one in matrix.values() for word in one))
    rows = [(gold, *(one.get(word, 0) for word in words)) for gold, one in matrix.items()]
    return section("Confusion on dev", table(("was \\ predicted", *words), rows))


def mistakes(summary: Mapping[str, Any]) -> str:
    """The examples that the model got most wrong."""
    found = summary.get("mistakes")
    rows = [
        tuple(str(one.get(name, "")) for name in ("text", "expected", "got"))
        for one in (found if is_list(found) else [])
        if isinstance(one, dict)
    ]
    return section("Most wrong on dev", table(("example", "was", "predicted"), rows))


def charts(
    summary: Mapping[str, Any], records: Sequence[Mapping[str, Any]], known: Sequence[str]
) -> list[Chart]:
    """The training loss, and every figure of dev that is not one of pre-training."""
    names = dict.fromkeys(
        name
        for record in records
        for name in (record.get("held_out") or {})
        if name not in known and not name.endswith("_targets")
    )
    baselines = mapping(summary, "baselines")
    training = {"training": series(records, "task_loss")}
    found = [Chart("Loss", "nats", training, spikes=spikes(records))]
    for name in names:
        level = baselines.get(name)
        dashed = {"most frequent answer": float(level)} if is_number(level) else {}
        lines = {"dev": series(records, name, held_out=True)}
        found.append(Chart(f"{name} on dev", "score", lines, dashed))
    return found


def _decimals(value: object) -> str:
    if is_number(value):
        return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
    return ""
