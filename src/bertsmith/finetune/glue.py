"""All GLUE tasks of a folder, one after the other, beside the paper's Table 1."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertsmith.common.console import note, table
from bertsmith.common.files import write_json
from bertsmith.finetune.group import open_group
from bertsmith.finetune.model import check_layers
from bertsmith.finetune.prepare import prepare, show_data
from bertsmith.finetune.repeats import finetune, show_runs
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.reports.html import write_report
from bertsmith.tasks.applies import check_applies
from bertsmith.tasks.glue.find import find_glue
from bertsmith.tasks.glue.layouts import SUBMISSION, layout_of
from bertsmith.tasks.glue.paper import PAPER_TABLE_1
from bertsmith.tasks.glue.tasks import glue_task
from bertsmith.tasks.glue.write import zip_submission
from bertsmith.train.processes import ALONE, Processes


def finetune_glue(
    model: Path,
    data: Path,
    out: Path,
    settings: FinetuneSettings,
    resume: str | None = None,
    processes: Processes = ALONE,
) -> dict[str, Any]:
    """Fine-tune on every task found in ``data``; returns all summaries by task.

    Finished tasks are not made again; the leaderboard's files of all of them are zipped together.

    Raises:
        InputError: the folder has no GLUE task; or see :func:`~bertsmith.finetune.prepare.prepare`.
        SettingsError: ``out`` holds something else; see
            :func:`~bertsmith.finetune.group.open_group`.
    """
    summaries: dict[str, dict[str, Any]] = {}
    check_layers(model, settings)
    tasks = [(name, folder, dataclasses.replace(settings, task=name)) for name, folder in
             find_glue(data)]  # fmt: skip
    for name, _, its_settings in tasks:
        check_applies(name, its_settings)
    processes.first(lambda: open_group(out, settings, resume))
    for name, folder, its_settings in tasks:
        note(f"{layout_of(name).title}:")
        task = glue_task(name, its_settings)
        prepared = prepare(task, model, folder, its_settings.max_length)
        show_data(prepared)
        summaries[name] = finetune(prepared, out / name, its_settings, processes=processes)
        show_runs(summaries[name])
    return processes.first(lambda: _conclude(out, summaries))


def _conclude(out: Path, summaries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    archive = _submission(out, list(summaries))
    learned = [name for name, one in summaries.items() if one["learned"]]
    result = {
        "task": "fine-tuning on GLUE",
        "learned": len(learned) == len(summaries),
        "verdict": f"{len(learned)} of {len(summaries)} tasks were learnt",
        "table_1": _table_1(summaries),
        "submission": None if archive is None else str(archive),
        "tasks": summaries,
    }
    write_json(out / "summary.json", result)
    write_report(out)
    return result


def _submission(out: Path, names: list[str]) -> Path | None:
    folder = out / "submission"
    folder.mkdir(exist_ok=True)
    there = [out / name / "predictions" / file for name in names for file in SUBMISSION]
    for path in there:
        if path.exists():
            shutil.copy2(path, folder / path.name)
    return zip_submission(folder) if any(folder.iterdir()) else None


def _table_1(summaries: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Our dev figures, from 0 to 1, beside the paper's test figures, in percent."""
    rows = []
    published = {(one.task, one.part.replace("test", "dev")): one for one in PAPER_TABLE_1}
    for name, one in summaries.items():
        for part, figures in one["figures"].items():
            if not part.startswith("dev"):
                continue
            paper = published.get((name, part))
            figure = paper.figure if paper else one["metric"]
            rows.append(
                {
                    "task": name,
                    "title": layout_of(name).title,
                    "part": part,
                    "figure": figure,
                    "ours": figures.get(figure),
                    "base": paper.base if paper else None,
                    "large": paper.large if paper else None,
                    "learned": one["learned"],
                }
            )
    return rows


def show(summary: dict[str, Any], out: Path) -> None:
    """Print our dev scores beside the paper's test scores (Table 1)."""
    rows = [
        (
            one["title"],
            one["part"],
            one["figure"],
            "" if one["ours"] is None else f"{100 * one['ours']:.1f}",
            *("" if one[size] is None else f"{one[size]}" for size in ("base", "large")),
            "" if one["learned"] else "degenerate",
        )
        for one in summary["table_1"]
    ]
    columns = ("task", "part", "figure", "ours, dev", "BERT base, test", "BERT large, test", "")
    table("GLUE beside the paper's Table 1", columns, rows)
    if summary["submission"]:
        note(f"submission: {summary['submission']}")
    note(f"runs: {out}")
    note(f"report: {out / 'report.html'}")
