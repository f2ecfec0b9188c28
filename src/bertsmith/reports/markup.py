"""The few pieces of HTML that a report is made of; whatever is given as text is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #3b6fb6; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem 1.2rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
.charts svg { width: 100%; height: auto; background: var(--soft); border-radius: 6px; }
.verdict, .warning { border-left: 4px solid var(--accent); padding: .2rem .8rem; }
.verdict { font-size: 1.1rem; } .warning, .failed { border-color: #d90; }
pre { background: var(--soft); padding: 1rem; overflow: auto; border-radius: 6px; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page; empty parts are left out.

    Args:
        title: plain text.
        parts: HTML.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def section(heading: str, body: str) -> str:
    """A heading above HTML; nothing where there is no body."""
    return f"<h2>{escape(heading)}</h2>\n{body}" if body else ""


def paragraph(text: object, kind: str) -> str:
    """A paragraph of plain text in the style ``kind``."""
    return f'<p class="{kind}">{escape(str(text))}</p>'


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; nothing where there are no rows, and no head where all columns are nameless."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(readable(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if any(columns) else ''}\n{body}</table>"


def facts(values: Mapping[str, Any]) -> str:
    """A table of names and values, a mapping inside a mapping as ``outer: inner``."""
    rows: list[tuple[str, object]] = []
    for name, value in values.items():
        words = str(name).replace("_", " ")
        if isinstance(value, Mapping):
            rows += [(f"{words}: {str(inner).replace('_', ' ')}", v) for inner, v in value.items()]
        else:
            rows.append((words, value))
    return table(("", ""), rows)


def readable(value: object) -> str:
    """A value for people: thousands apart, four digits of a fraction, JSON for the rest."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "–" if value is None else json.dumps(value, ensure_ascii=False, default=str)
