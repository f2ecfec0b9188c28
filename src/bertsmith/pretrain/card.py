"""The model card of a pre-trained model."""

from __future__ import annotations

from typing import Any

from bertsmith.checkpoints.card import compose_card
from bertsmith.pretrain.settings import PretrainSettings


def model_card(settings: PretrainSettings, summary: dict[str, Any]) -> str:
    """A README.md for ``RUN/model``: what it is, what it learnt from, how well it does."""
    held_out, baselines = summary.get("held_out") or {}, summary.get("baselines") or {}
    facts: dict[str, object] = {
        "layers x hidden size": f"{summary['model']['layers']} x {summary['model']['hidden_size']}",
        "parameters": f"{summary['model']['parameters']:,}",
        "vocabulary": f"{summary['model']['vocab_size']:,} pieces",
        "steps": f"{summary['steps']:,} of {settings.batch_size:,} sequences",
        "tokens seen": f"{summary['tokens']:,}",
    }
    if held_out:
        facts["held-out masked-LM accuracy"] = (
            f"{held_out['masked_lm_accuracy']:.1%} "
            f"(most frequent token: {baselines['most_frequent_token_accuracy']:.1%})"
        )
        facts["held-out perplexity"] = f"{held_out['perplexity']:.1f}"
    if "next_sentence_accuracy" in held_out:
        facts["held-out next-sentence accuracy"] = f"{held_out['next_sentence_accuracy']:.1%}"
    return compose_card("A BERT pre-trained with bertsmith", facts)
