"""What a model or a corpus is, and what is wrong with it.

PATH is a model in any layout (folder, weight file, TensorFlow checkpoint, hub name), a folder that
bertsmith corpus wrote, or that of a run, whose model is examined.

  bertsmith doctor run/model
  bertsmith doctor corpus --json

Findings are broken (it can not be used, or gives wrong results), warning (it works, and may not do
what you think) or note. The exit status is 2 when something is broken, else 0.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from bertsmith.cli import common

if TYPE_CHECKING:
    from bertsmith.doctor.chart import Chart

_BROKEN = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith doctor``."""
    parser.add_argument("path", type=common.path, metavar="PATH", help="model, corpus or run")
    common.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Examine and show."""
    from bertsmith.common.console import emit
    from bertsmith.doctor.chart import Grade
    from bertsmith.doctor.examine import examine

    chart = examine(arguments.path)
    _show(chart)
    if arguments.json:
        emit(chart.as_dict())
    return _BROKEN if chart.count(Grade.BROKEN) else 0


def _show(chart: Chart) -> None:
    from rich.markup import escape
    from rich.table import Table

    from bertsmith.common.console import console, note
    from bertsmith.doctor.chart import Grade, counted

    note(f"{chart.kind}: {chart.path}\n")
    facts = Table.grid(padding=(0, 3, 0, 0))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    for fact in chart.facts:
        facts.add_row(f"[bold]{escape(fact.name)}[/bold]", escape(fact.text or str(fact.value)))
    if chart.facts:
        console.print(facts)
        note("")
    colours = {Grade.BROKEN: "bold red", Grade.WARNING: "yellow", Grade.NOTE: "cyan"}
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for one in chart.by_grade():
        text = escape(f"{one.where}: {one.what}" if one.where else one.what)
        if one.mend:
            text += f"\n[dim]mend:[/dim] {escape(one.mend)}"
        grid.add_row(f"[{colours[one.grade]}]{one.grade}[/]", text)
    if chart.findings:
        console.print(grid)
        note("")
    counts = [
        counted(chart.count(grade), name)
        for grade, name in ((Grade.WARNING, "warning"), (Grade.NOTE, "note"))
        if chart.count(grade)
    ]
    broken = chart.count(Grade.BROKEN)
    verdict = f"{broken} broken" if broken else "nothing is broken"
    note(", ".join([verdict, *counts]))
