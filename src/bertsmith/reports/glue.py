"""The section of a report about all GLUE tasks together."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from bertsmith.reports.markup import section
from bertsmith.reports.values import is_list, is_number

SHOWN = ("tasks", "table_1", "submission")
_COLUMNS = ("task", "part", "figure", "ours, dev", "BERT base, test", "BERT large, test", "report")


def is_glue(summary: Mapping[str, Any]) -> bool:
    """Whether a summary is one of a folder of GLUE runs."""
    return is_list(summary.get("table_1"))


def scores(summary: Mapping[str, Any]) -> str:
    """Our dev figures beside the paper's Table 1, in percent, with links to the tasks' reports."""
    found = summary.get("table_1")
    rows = [_row(one) for one in (found if is_list(found) else []) if isinstance(one, dict)]
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in _COLUMNS)
    table = "<table><tr>" + head + "</tr>\n" + "\n".join(rows) + "</table>"
    return section("GLUE beside the paper's Table 1", table)


def _row(one: Mapping[str, Any]) -> str:
    ours = _percent(one.get("ours")) + ("" if one.get("learned", True) else " (degenerate)")
    cells = [str(one.get(name, "")) for name in ("title", "part", "figure")]
    cells += [ours, _given(one.get("base")), _given(one.get("large"))]
    link = f'<a href="{escape(str(one.get("task", "")))}/report.html">report</a>'
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + f"<td>{link}</td></tr>"


def _percent(value: object) -> str:
    return f"{100 * value:.1f}" if is_number(value) else ""


def _given(value: object) -> str:
    return f"{value:.1f}" if is_number(value) else ""
