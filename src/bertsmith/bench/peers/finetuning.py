"""One step of fine-tuning with transformers' model, as a plain loop makes it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import torch

from bertsmith.bench.models import published
from bertsmith.bench.texts import examples
from bertsmith.bench.work import Work

_RATE = 3e-5


def step(
    folder: str,  # noqa: ARG001 - every side has one
    task: str,
    data: str,
    batch: int,
    batches: int,
    longest: int,
    pad_to: int,
) -> Work:
    """Steps of BertForSequenceClassification; texts are encoded before, padded in the step.

    Args:
        folder: not used.
        task: the GLUE set.
        data: the folder of the sets.
        batch: examples a step.
        batches: steps a round.
        longest: most tokens of an example.
        pad_to: tokens that every example is padded to, 0 for the longest one of its batch.
    """
    transformers: Any = importlib.import_module("transformers")
    torch.manual_seed(0)
    place = str(published())
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    model = transformers.BertForSequenceClassification.from_pretrained(place, num_labels=2).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=_RATE)
    chosen = examples(Path(data), task, batch * batches)
    encoded = [tokenizer(*one.texts, truncation=True, max_length=longest) for one in chosen]
    padding = {"padding": "max_length", "max_length": pad_to} if pad_to else {"padding": True}

    def go() -> None:
        for start in range(0, len(chosen), batch):
            made = tokenizer.pad(encoded[start : start + batch], return_tensors="pt", **padding)
            labels = torch.tensor([one.label for one in chosen[start : start + batch]])
            model(**made, labels=labels).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

    tokens = sum(len(one["input_ids"]) for one in encoded)
    return Work(go, count=batches, tokens=tokens, check=(len(encoded), tokens))
