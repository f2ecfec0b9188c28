"""The sections of a report about pre-training; a figure that is not there is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bertsmith.common.settings import changed_lines
from bertsmith.reports import finetuning, glue
from bertsmith.reports.curves import Chart, draw, series, spikes
from bertsmith.reports.markup import facts, paragraph, section, table
from bertsmith.reports.values import is_list, is_number, mapping

# What a figure of the held-out part is called, which baseline stands beside it, how it is written.
_FIGURES = {
    "masked_lm_accuracy": ("masked-LM accuracy", "most_frequent_token_accuracy", "{:.1%}"),
    "masked_lm_loss": ("masked-LM loss, nats", "unigram_entropy", "{:.3f}"),
    "perplexity": ("masked-LM perplexity", "", "{:.1f}"),
    "next_sentence_accuracy": ("next-sentence accuracy", "next_sentence_accuracy", "{:.1%}"),
    "next_sentence_loss": ("next-sentence loss, nats", "", "{:.3f}"),
}
_BASELINES = {
    "most_frequent_token_accuracy": "most frequent token",
    "unigram_entropy": "unigram entropy",
    "next_sentence_accuracy": "always the same answer",
}
_OWN_SECTION = ("model", "corpus", "counts")
_SHOWN = (
    "task", "verdict", "learned", "warnings", "held_out", "baselines", "blanks", *_OWN_SECTION,
    *finetuning.SHOWN, *glue.SHOWN,
)  # fmt: skip


def verdict(summary: Mapping[str, Any]) -> str:
    """What the run came to, in a sentence."""
    text = summary.get("verdict", "The run has not come to its end yet.")
    return paragraph(text, "verdict failed" if summary.get("learned") is False else "verdict")


def warnings(summary: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    """What the run had to warn of; while it goes on, what the log has of that."""
    texts = summary.get("warnings")
    if not summary:
        texts = [record["warning"] for record in records if "warning" in record]
    return "\n".join(paragraph(text, "warning") for text in texts) if is_list(texts) else ""


def headline(summary: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    """Held-out figures beside their baselines; of the last evaluation while the run goes on."""
    heading, figures = "Held-out part", summary.get("held_out")
    evaluations = [record for record in records if "held_out" in record]
    if not summary and evaluations:
        heading = f"Held-out part at step {evaluations[-1]['step']:,}"
        figures = evaluations[-1]["held_out"]
    if not isinstance(figures, dict):
        return ""
    baselines = mapping(summary, "baselines")
    rows: list[tuple[str, str, str]] = []
    for key, (text, base, form) in _FIGURES.items():
        if is_number(figures.get(key)):
            beside = baselines.get(base)
            known = f"{form.format(beside)}  ({_BASELINES[base]})" if is_number(beside) else ""
            rows.append((text, form.format(figures[key]), known))
    others = {key: value for key, value in figures.items() if key not in _FIGURES}
    return section(heading, table(("figure", "model", "baseline"), rows) + facts(others))


def curves(summary: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    """All charts that have points; none for a folder of several runs of their own."""
    if glue.is_glue(summary):
        return ""
    drawn = "\n".join(filter(None, map(draw, charts(summary, records))))
    body = f'<div class="charts">\n{drawn}\n</div>' if drawn else "<p>No step is logged yet.</p>"
    return section("Curves", body)


def charts(summary: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """The charts of a run, some of which may have no points."""
    return [
        *_task_charts(mapping(summary, "baselines"), records),
        *finetuning.charts(summary, records, tuple(_FIGURES)),
        *_run_charts(records),
    ]


def _task_charts(baselines: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> list[Chart]:
    found = []
    for task, title in (("masked_lm", "Masked LM"), ("next_sentence", "Next sentence")):
        for figure, unit in (("loss", "nats"), ("accuracy", "share")):
            key = f"{task}_{figure}"
            lines = {
                "training": series(records, key),
                "held-out": series(records, key, held_out=True),
            }
            base = _FIGURES[key][1]
            level = baselines.get(base)
            dashed = {_BASELINES[base]: float(level)} if is_number(level) else {}
            marked = spikes(records) if figure == "loss" else []
            found.append(Chart(f"{title} {figure}", unit, lines, dashed, spikes=marked))
    return found


def _run_charts(records: Sequence[Mapping[str, Any]]) -> list[Chart]:
    norm = {"before clipping": series(records, "gradient_norm")}
    share = {"share": series(records, "peak_share")}
    return [
        Chart("Learning rate", "rate", {"rate": series(records, "learning_rate")}),
        Chart("Gradient norm", "norm", norm, logarithmic=True),
        Chart("Speed", "tokens a second", {"speed": series(records, "tokens_per_second")}),
        Chart("Share of the matrix-multiply peak", "share", share),
    ]


def blanks(summary: Mapping[str, Any]) -> str:
    """Sentences with a blank, what stood there and what the model guesses."""
    found = summary.get("blanks")
    rows = [
        (str(blank.get("text", "")), str(blank.get("answer", "")), _guesses(blank.get("guesses")))
        for blank in (found if is_list(found) else [])
        if isinstance(blank, dict)
    ]
    return section("Blanks in held-out sentences", table(("sentence", "was", "guesses"), rows))


def _guesses(guesses: object) -> str:
    pairs = [guess for guess in guesses if is_list(guess)] if is_list(guesses) else []
    shown = [pair for pair in pairs if len(pair) == 2 and is_number(pair[1])]
    return ", ".join(f"{word} ({share:.0%})" for word, share in shown)


def settings(config: str) -> str:
    """Those that are not at their defaults; all of them, with their documentation, folded."""
    lines = changed_lines(config)
    changed = "\n".join(lines) if lines else "all at their defaults"
    return section(
        "Settings",
        f"<pre>{escape(changed)}</pre>\n<details><summary>All settings</summary>"
        f"<pre>{escape(config)}</pre></details>",
    )


def details(summary: Mapping[str, Any]) -> list[str]:
    """Model, corpus, counts, and whatever else the summary holds."""
    parts = [section(name.capitalize(), facts(mapping(summary, name))) for name in _OWN_SECTION]
    rest = {key: value for key, value in summary.items() if key not in _SHOWN}
    return [*parts, section("Run", facts(rest))]
