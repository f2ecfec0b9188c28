"""Curves of a run as inline SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Points = Sequence[tuple[float, float]]
_COLOURS = ("#3b6fb6", "#c8553d", "#4f8f5b", "#8a5fa8")


@dataclass
class Chart:
    """One picture: lines over steps, with dashed baselines.

    Attributes:
        title: what is shown.
        unit: label of the vertical axis.
        lines: name and points of each line.
        baselines: name and height of each dashed line.
        logarithmic: whether the vertical axis is.
    """

    title: str
    unit: str
    lines: dict[str, Points]
    baselines: dict[str, float] = field(default_factory=dict)
    logarithmic: bool = False


def series(records: Sequence[dict[str, Any]], name: str, held_out: bool = False) -> Points:
    """The points of one figure in the metrics log."""
    found = []
    for record in records:
        place = record.get("held_out") if held_out else record
        if isinstance(place, dict) and isinstance(place.get(name), int | float):
            found.append((record["step"], place[name]))
    return found


def draw(chart: Chart) -> str:
    """The chart as an ``<svg>`` element, or an empty string where it has no points."""
    lines = {name: points for name, points in chart.lines.items() if points}
    if not lines:
        return ""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for colour, (name, points) in zip(_COLOURS * 3, lines.items(), strict=False):
        steps, values = zip(*points, strict=True)
        marker = "o" if len(points) < 40 and "held-out" in name else None
        axes.plot(
            steps, values, label=name, color=colour, linewidth=1.4, marker=marker, markersize=3
        )
    for colour, (name, height) in zip(_COLOURS * 3, chart.baselines.items(), strict=False):
        axes.axhline(height, linestyle="--", linewidth=1, color=colour, label=name)
    axes.set(title=chart.title, xlabel="step", ylabel=chart.unit)
    if chart.logarithmic:
        axes.set_yscale("log")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    # The XML header and the metadata name addresses on the net; a page needs neither.
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
