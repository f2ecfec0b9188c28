"""``report.html``: one self-contained page about a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from bertsmith.common.errors import InputError
from bertsmith.common.files import write_text
from bertsmith.reports.curves import Chart, draw, series
from bertsmith.train.log import METRICS, read_metrics

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #8884;
  vertical-align: top; font-variant-numeric: tabular-nums; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
.charts svg { background: #fff; border-radius: 6px; max-width: 100%; height: auto; }
.warning { border-left: 4px solid #d90; padding: .2rem .8rem; }
.verdict { border-left: 4px solid #3b6fb6; padding: .2rem .8rem; font-size: 1.1rem; }
pre { background: #8881; padding: 1rem; overflow: auto; border-radius: 6px; }
"""


def write_report(run: Path) -> Path:
    """Write ``report.html`` into a run folder, also in the middle of a run; returns its path.

    Raises:
        InputError: the folder is not a run.
    """
    if not (run / "config.toml").exists():
        raise InputError("the folder is not a run: it has no config.toml", file=run)
    records = read_metrics(run / METRICS)
    summary_path = run / "summary.json"
    summary = json.loads(summary_path.read_text("utf-8")) if summary_path.exists() else {}
    config = (run / "config.toml").read_text("utf-8")
    target = run / "report.html"
    write_text(target, _page(run.resolve().name, records, summary, config))
    return target


def _page(name: str, records: list[dict[str, Any]], summary: dict[str, Any], config: str) -> str:
    task = str(summary.get("task", "run"))
    parts = [
        f"<h1>{escape(name)}: {escape(task)}</h1>",
        _verdict(summary),
        *(f'<p class="warning">{escape(text)}</p>' for text in summary.get("warnings") or []),
        _headline(summary.get("held_out") or {}, summary.get("baselines") or {}),
        "<h2>Curves</h2>",
        '<div class="charts">' + "".join(map(draw, _charts(records, summary))) + "</div>",
        _blanks(summary.get("blanks") or []),
    ]
    for heading in ("model", "corpus", "counts"):
        if isinstance(summary.get(heading), dict):
            parts.append(f"<h2>{heading.capitalize()}</h2>" + _facts(summary[heading]))
    known = {"task", "verdict", "learned", "warnings", "held_out", "baselines", "blanks"}
    rest = {
        key: value
        for key, value in summary.items()
        if key not in known and not isinstance(value, dict)
    }
    if rest:
        parts.append("<h2>Run</h2>" + _facts(rest))
    parts.append(f"<h2>Settings</h2><pre>{escape(config)}</pre>")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(name)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def _verdict(summary: dict[str, Any]) -> str:
    text = summary.get("verdict", "The run has not come to its end yet.")
    return f'<p class="verdict">{escape(str(text))}</p>'


def _headline(held_out: Mapping[str, float], baselines: Mapping[str, float]) -> str:
    rows = [
        ("masked-LM accuracy", "masked_lm_accuracy", "most_frequent_token_accuracy", "{:.1%}"),
        ("masked-LM loss, nats", "masked_lm_loss", "unigram_entropy", "{:.3f}"),
        ("perplexity", "perplexity", "", "{:.1f}"),
        ("next-sentence accuracy", "next_sentence_accuracy", "next_sentence_accuracy", "{:.1%}"),
    ]
    cells = [
        (
            text,
            form.format(held_out[key]),
            form.format(baselines[base]) if base in baselines else "",
        )
        for text, key, base, form in rows
        if key in held_out
    ]
    if not cells:
        return ""
    return "<h2>Held-out part</h2>" + _table(("figure", "model", "baseline"), cells)


def _charts(records: list[dict[str, Any]], summary: dict[str, Any]) -> list[Chart]:
    base = summary.get("baselines") or {}
    charts = []
    for key, title in (("masked_lm", "Masked LM"), ("next_sentence", "Next sentence")):
        for figure, unit in (("loss", "nats"), ("accuracy", "share")):
            lines = {
                "training": series(records, f"{key}_{figure}"),
                "held-out": series(records, f"{key}_{figure}", held_out=True),
            }
            names = {
                "masked_lm_loss": ("unigram entropy", "unigram_entropy"),
                "masked_lm_accuracy": ("most frequent token", "most_frequent_token_accuracy"),
                "next_sentence_accuracy": ("one answer always", "next_sentence_accuracy"),
            }
            name, source = names.get(f"{key}_{figure}", ("", ""))
            baselines = {name: float(base[source])} if source in base else {}
            charts.append(Chart(f"{title} {figure}", unit, lines, baselines))
    charts.append(Chart("Learning rate", "rate", {"rate": series(records, "learning_rate")}))
    norm = {"before clipping": series(records, "gradient_norm")}
    charts.append(Chart("Gradient norm", "norm", norm, logarithmic=True))
    speed = {"tokens": series(records, "tokens_per_second")}
    charts.append(Chart("Speed", "tokens a second", speed))
    share = {"share": series(records, "peak_share")}
    charts.append(Chart("Share of the matrix-multiply peak", "share", share))
    return charts


def _blanks(blanks: Iterable[dict[str, Any]]) -> str:
    rows = [
        (
            str(blank.get("text", "")),
            str(blank.get("answer", "")),
            ", ".join(f"{word} ({p:.0%})" for word, p in blank.get("guesses", [])),
        )
        for blank in blanks
    ]
    if not rows:
        return ""
    return "<h2>Blanks in held-out sentences</h2>" + _table(("sentence", "was", "guesses"), rows)


def _facts(facts: Mapping[str, Any]) -> str:
    return _table(("", ""), [(key.replace("_", " "), _show(v)) for key, v in facts.items()])


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>" if any(columns) else f"<table>{body}</table>"


def _show(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
