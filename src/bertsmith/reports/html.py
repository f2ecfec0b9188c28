"""``report.html``: one self-contained page about a run."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import InputError
from bertsmith.common.files import write_text
from bertsmith.reports import finetuning, glue
from bertsmith.reports.curves import save
from bertsmith.reports.markup import page
from bertsmith.reports.sections import (
    blanks,
    charts,
    curves,
    details,
    headline,
    settings,
    verdict,
    warnings,
)
from bertsmith.train.log import METRICS, read_metrics


def write_report(run: Path) -> Path:
    """Write ``report.html`` into a run folder, also in the middle of a run; returns its path.

    The page asks for nothing over the net: pictures and style are in it.

    Args:
        run: a folder with ``config.toml`` and, where there are such yet, ``metrics.jsonl`` and
            ``summary.json``.

    Raises:
        InputError: the folder is not a run, or a file in it can not be read.
    """
    config = _config(run)
    records = read_metrics(run / METRICS)
    summary = _read_summary(run / "summary.json")
    title = f"{run.resolve().name}: {summary.get('task', 'run')}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        verdict(summary),
        warnings(summary, records),
        headline(summary, records),
        glue.scores(summary),
        finetuning.scores(summary),
        finetuning.runs(summary),
        curves(summary, records),
        finetuning.confusion(summary),
        finetuning.mistakes(summary),
        blanks(summary),
        finetuning.data(summary),
        *details(summary),
        settings(config),
    ]
    target = run / "report.html"
    try:
        write_text(target, page(title, parts))
    except OSError as error:
        raise InputError(
            f"the report can not be written: {error.strerror}", file=target,
            mend=f"make room, or make the folder writable; then: bertsmith report {run}",
        ) from None  # fmt: skip
    return target


def write_pictures(run: Path, folder: Path) -> list[Path]:
    """Write each curve of a run as an SVG file into ``folder``; returns the files.

    Raises:
        InputError: the folder is not a run, or a file in it can not be read.
    """
    _config(run)
    found = charts(_read_summary(run / "summary.json"), read_metrics(run / METRICS))
    named = [(folder / f"{chart.title.lower().replace(' ', '-')}.svg", chart) for chart in found]
    return [path for path, chart in named if save(chart, path)]


def _config(run: Path) -> str:
    if not (run / "config.toml").exists():
        raise InputError("the folder is not a run: it has no config.toml", file=run)
    return _read(run / "config.toml")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"the file can not be read: {error.strerror}", file=path) from None


def _read_summary(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        summary = strict_json.loads(_read(path))
    except ValueError as error:
        raise InputError(f"the summary is damaged: {error}", file=path) from None
    if not isinstance(summary, dict):
        raise InputError("the summary is not a JSON object", file=path)
    return summary
