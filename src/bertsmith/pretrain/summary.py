"""What a run came to: figures beside baselines, a verdict, some filled blanks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bertsmith.common.console import note, table, warn
from bertsmith.pretrain.blanks import held_out_blanks

if TYPE_CHECKING:
    from bertsmith.pretrain.run import _Run

# A run has learnt when it predicts the hidden tokens this much better than the best guess that
# ignores the context: a clear margin above what chance and noise give.
CLEAR_MARGIN = 2.0
_NATS = 0.5


def summarise(run: _Run, held_out: dict[str, float] | None) -> dict[str, Any]:
    """The content of ``summary.json``."""
    baselines = run.held_out.baselines() if run.held_out else None
    learned, verdict = judge(held_out, baselines)
    config = run.config
    manifest = run.corpus.manifest
    return {
        "task": "pre-training",
        "learned": learned,
        "verdict": verdict,
        "held_out": held_out,
        "baselines": baselines,
        "steps": run.clock.step,
        "tokens": run.clock.tokens,
        "epochs": round(_epochs(run), 3),
        "seconds": round(run.clock.seconds, 1),
        "model": {
            "preset": run.settings.preset,
            "layers": config.num_hidden_layers,
            "hidden_size": config.hidden_size,
            "parameters": sum(weights.numel() for weights in run.model.parameters()),
            "vocab_size": config.vocab_size,
        },
        "corpus": {"folder": str(run.corpus.folder), **manifest.totals("train")},
        "counts": {**run.clock.cut.as_dict(), "empty_batches": run.clock.empty_batches},
        "blanks": held_out_blanks(run.model, run.tokenizer, run.corpus_folder),
        "warnings": [*manifest.warnings, *run.warnings],
    }


def judge(
    held_out: dict[str, float] | None, baselines: dict[str, float] | None
) -> tuple[bool | None, str]:
    """Whether the run learnt, and the reason in a sentence; None where nothing tells."""
    if not held_out or not baselines:
        return None, "unknown: the corpus has no held-out part"
    ratio = held_out["masked_lm_accuracy"] / baselines["most_frequent_token_accuracy"]
    nats = baselines["unigram_entropy"] - held_out["masked_lm_loss"]
    figures = (
        f"held-out masked-LM accuracy is {ratio:.1f} times that of the most frequent token, "
        f"and the loss is {abs(nats):.2f} nats {'below' if nats > 0 else 'above'} the unigram entropy"
    )
    if ratio >= CLEAR_MARGIN and nats >= _NATS:
        return True, f"the model learnt: {figures}"
    return False, (
        f"the model did not learn much: {figures}. Usual causes: too few steps, a learning rate "
        "that is too high or too low, too little text"
    )


def show(summary: dict[str, Any], folder: Path) -> None:
    """Print the summary for people."""
    held_out, baselines = summary["held_out"], summary["baselines"]
    if held_out:
        rows: list[tuple[str, str, str]] = [
            (
                "masked-LM accuracy",
                f"{held_out['masked_lm_accuracy']:.1%}",
                f"{baselines['most_frequent_token_accuracy']:.1%}  (most frequent token)",
            ),
            (
                "masked-LM loss, nats",
                f"{held_out['masked_lm_loss']:.3f}",
                f"{baselines['unigram_entropy']:.3f}  (unigram entropy)",
            ),
            ("perplexity", f"{held_out['perplexity']:.1f}", ""),
        ]
        if "next_sentence_accuracy" in held_out:
            rows.append(
                (
                    "next-sentence accuracy",
                    f"{held_out['next_sentence_accuracy']:.1%}",
                    f"{baselines['next_sentence_accuracy']:.1%}  (always the same answer)",
                )
            )
        table("Held-out part", ("figure", "model", "baseline"), rows)
    blanks = [
        (blank["text"], blank["answer"], ", ".join(f"{word} {p:.0%}" for word, p in blank["guesses"]))
        for blank in summary["blanks"]
    ]
    if blanks:
        table("Blanks in held-out sentences", ("sentence", "was", "guesses"), blanks)
    for text in summary["warnings"]:
        warn(text)
    note(summary["verdict"])
    note(f"{summary['steps']:,} steps, {summary['tokens']:,} tokens, {summary['seconds']:,.0f} s")
    note(f"model:  {folder / 'model'}")
    note(f"report: {folder / 'report.html'}")


def _epochs(run: _Run) -> float:
    text = run.clock.tokens + run.clock.cut.tokens_cut
    return text / max(1, run.corpus.tokens)


