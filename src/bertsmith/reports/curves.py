"""Curves of a run as inline SVG."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from bertsmith.common.files import atomic_path

Points = Sequence[tuple[float, float]]
_COLOURS = ("#3b7dd8", "#d8694c", "#4f9a5f", "#9a6fc0")
_INK = "#123456"  # stands for the page's own text colour, so that charts follow a dark page
_MOST_POINTS = 800
_LOOK: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "savefig.transparent": True,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "grid.color",
         "xtick.color", "ytick.color"), _INK,
    ),
}  # fmt: skip


@dataclass
class Chart:
    """One picture: lines over steps, with dashed baselines.

    Attributes:
        title: what is shown.
        unit: label of the vertical axis.
        lines: name and points of each line.
        baselines: name and height of each dashed line.
        logarithmic: whether the vertical axis is.
        spikes: steps that are marked.
    """

    title: str
    unit: str
    lines: dict[str, Points]
    baselines: dict[str, float] = field(default_factory=dict)
    logarithmic: bool = False
    spikes: Sequence[int] = ()


def series(records: Sequence[Mapping[str, Any]], name: str, held_out: bool = False) -> Points:
    """The (step, value) points of one figure in the metrics log, its finite values only."""
    found = []
    for record in records:
        place = record.get("held_out") if held_out else record
        value = place.get(name) if isinstance(place, dict) else None
        if isinstance(value, int | float) and math.isfinite(value):
            found.append((record["step"], value))
    return found


def spikes(records: Sequence[Mapping[str, Any]]) -> list[int]:
    """The steps at which the metrics log has a spike of the loss."""
    return [record["step"] for record in records if isinstance(record.get("spike"), dict)]


def thin(points: Points) -> Points:
    """At most 800 points: where there are more, means of neighbours, so that no part is hidden."""
    size = math.ceil(len(points) / _MOST_POINTS)
    if size <= 1:
        return points
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def draw(chart: Chart) -> str:
    """The chart as an ``<svg>`` element, or an empty string where it has no points."""
    lines = {name: thin(points) for name, points in chart.lines.items() if points}
    if not lines:
        return ""
    from matplotlib import rc_context

    stream = io.StringIO()
    # The salt makes names inside the picture differ from those of the other pictures of the page.
    with rc_context({**_LOOK, "svg.hashsalt": chart.title}):
        figure = _figure(chart, lines)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(stream.getvalue(), chart.title)


def save(chart: Chart, path: Path) -> bool:
    """Write the chart as an SVG file of its own, black on white; False where it has no points."""
    lines = {name: thin(points) for name, points in chart.lines.items() if points}
    if not lines:
        return False
    from matplotlib import rc_context

    look = {key: "black" if value == _INK else value for key, value in _LOOK.items()}
    with rc_context({**look, "svg.hashsalt": chart.title}), atomic_path(path) as part:
        _figure(chart, lines).savefig(
            part, format="svg", transparent=False, metadata={"Date": None, "Creator": None}
        )
    return True


def _figure(chart: Chart, lines: Mapping[str, Points]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for colour, (name, points) in zip(_COLOURS, lines.items(), strict=False):
        steps, values = zip(*points, strict=True)
        marker = "o" if len(points) < 40 else None
        axes.plot(
            steps, values, label=name, color=colour, linewidth=1.4, marker=marker, markersize=3
        )
    for name, height in chart.baselines.items():
        axes.axhline(height, linestyle="--", linewidth=1.2, color=_COLOURS[-1], label=name)
    for at, step in enumerate(chart.spikes):
        label = None if at else "spike"
        axes.axvline(step, linestyle=":", linewidth=1.0, color=_COLOURS[1], label=label)
    axes.set(title=chart.title, xlabel="step", ylabel=chart.unit)
    # A logarithmic axis has no place for a norm of 0.
    if chart.logarithmic and all(value > 0 for points in lines.values() for _, value in points):
        axes.set_yscale("log")
    axes.grid(alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)
    if len(lines) + len(chart.baselines) + len(chart.spikes) > 1:
        axes.legend(frameon=False, fontsize=8)
    return figure


def _inline(svg: str, title: str) -> str:
    """The ``<svg>`` element of a file, without what names addresses on the net."""
    text = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    label = f'<svg role="img" aria-label="{escape(title)}"'
    return text.replace("<svg", label, 1).replace(_INK, "currentColor").strip()
