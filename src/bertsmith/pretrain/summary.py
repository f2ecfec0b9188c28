"""What a run came to: figures beside baselines, a verdict, some filled blanks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bertsmith.common.console import note, table, warn
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.overlap import Overlap
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.blanks import held_out_blanks
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.train.clock import Clock

# A run has learnt when it predicts the hidden tokens this much better than the best guess that
# ignores the context: a clear margin above what chance and noise give.
CLEAR_MARGIN = 2.0
_NATS = 0.5


def summarise(
    settings: PretrainSettings,
    clock: Clock,
    model: BertForPreTraining,
    corpus: Corpus,
    held_out: dict[str, float] | None,
    baselines: dict[str, float] | None,
    warnings: list[str],
    start: Path | None = None,
    overlap: Overlap | None = None,
) -> dict[str, Any]:
    """The content of ``summary.json``.

    Args:
        settings: the settings in force.
        clock: how far the run came.
        model: the model at its end.
        corpus: what it was trained on.
        held_out: figures of the model, None where there is no held-out part.
        baselines: what they have to beat.
        warnings: what the run had to warn of.
        start: the model that the run began with, None for random weights.
        overlap: how much of the held-out part is in the training part, too.
    """
    learned, verdict = judge(held_out, baselines)
    config = model.config
    return {
        "task": "pre-training",
        "learned": learned,
        "verdict": verdict,
        "held_out": held_out,
        "baselines": baselines,
        "steps": clock.step,
        "tokens": clock.tokens,
        "epochs": round((clock.tokens + clock.counts["tokens_cut"]) / max(1, corpus.tokens), 3),
        "seconds": round(clock.seconds, 1),
        "model": {
            "preset": settings.preset if start is None else None,
            "from": None if start is None else str(start),
            "layers": config.num_hidden_layers,
            "hidden_size": config.hidden_size,
            "parameters": sum(weights.numel() for weights in model.parameters()),
            "vocab_size": config.vocab_size,
        },
        "corpus": {"folder": str(corpus.folder), **corpus.manifest.totals("train")},
        "counts": {**clock.counts, "empty_batches": clock.empty_batches},
        "held_out_overlap": None if overlap is None else {**vars(overlap), "share": overlap.share},
        "blanks": held_out_blanks(model, corpus),
        "warnings": [*corpus.manifest.warnings, *warnings],
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
        f"and the loss is {abs(nats):.2f} nats {'below' if nats > 0 else 'above'} the unigram "
        "entropy"
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
        (
            blank["text"],
            blank["answer"],
            ", ".join(f"{word} {p:.0%}" for word, p in blank["guesses"]),
        )
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
