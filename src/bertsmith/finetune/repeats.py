"""Several runs of one task: restarts and the paper's search; the best on dev is kept."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.common.console import note, table
from bertsmith.common.files import write_json
from bertsmith.finetune.group import open_group
from bertsmith.finetune.prepare import Prepared
from bertsmith.finetune.run import finetune_once
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.finetune.statistics import spread
from bertsmith.reports.html import write_report
from bertsmith.train.processes import ALONE, Processes

# Paper, appendix A.3.
_BATCHES, _RATES, _EPOCHS = (16, 32), (5e-5, 3e-5, 2e-5), (2.0, 3.0, 4.0)
_KEPT = ("model", "adapter", "predictions", "metrics.json", "metrics.jsonl")


def finetune(
    prepared: Prepared,
    out: Path,
    settings: FinetuneSettings,
    resume: str | None = None,
    processes: Processes = ALONE,
) -> dict[str, Any]:
    """All runs that the settings ask for; returns the summary of the best, with the others in it.

    A run of its own in ``out``, several under ``out/runs``; finished ones are not made again.

    Raises:
        SettingsError: several runs are asked for, and ``out`` holds something else; see
            :func:`~bertsmith.finetune.group.open_group`.
        BertsmithError: see :func:`~bertsmith.finetune.run.finetune_once`.
    """
    plan = plan_runs(settings)
    if len(plan) == 1:
        return finetune_once(prepared, out, settings, resume, processes)
    processes.first(lambda: open_group(out, settings, resume))
    summaries = {}
    for number, (name, its_settings) in enumerate(plan, start=1):
        note(f"run {number} of {len(plan)}: {name}")
        run = out / "runs" / name
        summaries[name] = finetune_once(prepared, run, its_settings, processes=processes)
    return processes.first(lambda: _conclude(out, summaries))


def _conclude(out: Path, summaries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    best = max(summaries, key=lambda name: _rank(summaries[name]))
    result = {**summaries[best], "best_run": best, **_compare(summaries)}
    _copy(out / "runs" / best, out)
    write_json(out / "summary.json", result)
    write_report(out)
    return result


def plan_runs(settings: FinetuneSettings) -> list[tuple[str, FinetuneSettings]]:
    """The runs by name: one, one a seed, or one a setting of the paper's grid."""
    single = dataclasses.replace(settings, restarts=1, search="none")
    if settings.search == "paper":
        grid = itertools.product(_BATCHES, _RATES, _EPOCHS)
        return [
            (
                f"batch{batch}-rate{rate:g}-epochs{epochs:g}",
                dataclasses.replace(single, batch_size=batch, learning_rate=rate, epochs=epochs),
            )
            for batch, rate, epochs in grid
        ]
    seeds = range(settings.seed, settings.seed + settings.restarts)
    return [(f"seed{seed}", dataclasses.replace(single, seed=seed)) for seed in seeds]


def _rank(summary: dict[str, Any]) -> tuple[bool, float]:
    score = summary["score"]
    return summary["learned"], float("-inf") if score is None else score


def _compare(summaries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    sound = {name: one for name, one in summaries.items() if one["learned"]}
    scores = [one["score"] for one in sound.values() if one["score"] is not None]
    return {
        "runs": {name: one["score"] for name, one in summaries.items()},
        "degenerate_runs": {
            name: one["verdict"] for name, one in summaries.items() if name not in sound
        },
        "spread": spread(scores) if scores else None,
    }


def _copy(source: Path, target: Path) -> None:
    """The best run's results, as those of the whole."""
    for name in _KEPT:
        path = source / name
        if path.is_dir():
            with atomic_folder(target / name) as part:
                shutil.copytree(path, part, dirs_exist_ok=True)
        elif path.exists():
            shutil.copy2(path, target / name)


def show_runs(summary: dict[str, Any]) -> None:
    """Print all runs, the degenerate ones apart, and how they are spread."""
    if "runs" not in summary:
        return
    bad = summary["degenerate_runs"]
    rows = [
        (name, "" if score is None else f"{score:.4f}", _remark(name, summary))
        for name, score in summary["runs"].items()
    ]
    table(f"Runs ({summary['metric']} on dev)", ("run", "score", ""), rows)
    if bad:
        note("degenerate runs learnt nothing and do not count in the statistics")
    found = summary["spread"]
    if found:
        note(
            f"mean {found['mean']:.4f}, standard deviation {found['standard_deviation']:.4f}, "
            f"median {found['median']:.4f}, {found['least']:.4f} to {found['greatest']:.4f}"
        )


def _remark(name: str, summary: dict[str, Any]) -> str:
    best = "kept" if name == summary["best_run"] else ""
    return f"degenerate {best}".strip() if name in summary["degenerate_runs"] else best
