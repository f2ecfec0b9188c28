"""The model card of a fine-tuned model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertsmith.checkpoints.card import compose_card
from bertsmith.finetune.prepare import Prepared
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.model.task import Kind
from bertsmith.tasks.task import Figures

_TAGS: dict[Kind, str] = {
    "classes": "text-classification",
    "labels": "text-classification",
    "value": "text-classification",
    "tokens": "token-classification",
    "span": "question-answering",
    "choice": "multiple-choice",
}


def model_card(
    settings: FinetuneSettings, prepared: Prepared, figures: Mapping[str, Figures]
) -> str:
    """A README.md for ``RUN/model``: the task, the data, the figures, the settings."""
    facts: dict[str, Any] = {"task": prepared.task.name, "started from": prepared.model.name}
    if prepared.head.labels:
        facts["labels"] = ", ".join(prepared.head.labels)
    facts["training examples"] = len(prepared.train.part.examples)
    for part, found in figures.items():
        facts |= {f"{part} {name}": value for name, value in found.items() if value is not None}
    for name in ("epochs", "batch_size", "learning_rate", "warmup", "optimizer", "seed"):
        facts[name.replace("_", " ")] = getattr(settings, name)
    return compose_card(
        f"A BERT fine-tuned on {prepared.task.name} with bertsmith",
        facts,
        front_matter={
            "pipeline_tag": _TAGS[prepared.head.kind],
            "tags": ["bert", prepared.task.name, "bertsmith"],
        },
    )
