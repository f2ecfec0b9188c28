"""All GLUE tasks of a folder, one after the other, beside the paper's Table 1."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from bertsmith.common.console import note, table
from bertsmith.common.files import write_json
from bertsmith.finetune.prepare import prepare, show_data
from bertsmith.finetune.repeats import finetune, show_runs
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.tasks.glue.find import find_glue
from bertsmith.tasks.glue.layouts import SUBMISSION, layout_of
from bertsmith.tasks.glue.paper import PAPER_TABLE_1
from bertsmith.tasks.glue.tasks import glue_task
from bertsmith.tasks.glue.write import zip_submission


def finetune_glue(model: Path, data: Path, out: Path, settings: FinetuneSettings) -> dict[str, Any]:
    """Fine-tune on every task found in ``data``; returns all summaries by task.

    Finished tasks are not made again; the leaderboard's files of all of them are zipped together.

    Raises:
        InputError: the folder has no GLUE task; or see :func:`~bertsmith.finetune.prepare.prepare`.
    """
    summaries = {}
    for name, folder in find_glue(data):
        note(f"{layout_of(name).title}:")
        its_settings = dataclasses.replace(settings, task=name)
        task = glue_task(name, its_settings)
        prepared = prepare(task, model, folder, its_settings.max_length)
        show_data(prepared)
        summaries[name] = finetune(prepared, out / name, its_settings)
        show_runs(summaries[name])
    archive = _submission(out, list(summaries))
    result = {"tasks": summaries, "submission": None if archive is None else str(archive)}
    write_json(out / "summary.json", result)
    return result


def _submission(out: Path, names: list[str]) -> Path | None:
    folder = out / "submission"
    folder.mkdir(exist_ok=True)
    there = [out / name / "predictions" / file for name in names for file in SUBMISSION]
    for path in there:
        if path.exists():
            shutil.copy2(path, folder / path.name)
    return zip_submission(folder) if any(folder.iterdir()) else None


def show(summary: dict[str, Any], out: Path) -> None:
    """Print our dev scores beside the paper's test scores (Table 1)."""
    rows = []
    published = {(one.task, one.part.replace("test", "dev")): one for one in PAPER_TABLE_1}
    for name, one in summary["tasks"].items():
        for part, figures in one["figures"].items():
            if not part.startswith("dev"):
                continue
            paper = published.get((name, part))
            figure = paper.figure if paper else one["metric"]
            value = figures.get(figure)
            theirs = (f"{paper.base}", f"{paper.large}") if paper else ("", "")
            ours = "" if value is None else f"{100 * value:.1f}"
            apart = "" if one["learned"] else "degenerate"
            rows.append((layout_of(name).title, part, figure, ours, *theirs, apart))
    columns = ("task", "part", "figure", "ours, dev", "BERT base, test", "BERT large, test", "")
    table("GLUE beside the paper's Table 1", columns, rows)
    if summary["submission"]:
        note(f"submission: {summary['submission']}")
    note(f"runs: {out}")
