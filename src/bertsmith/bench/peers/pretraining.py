"""One step of pre-training with transformers' model, as a plain loop makes it."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import torch

from bertsmith.bench.shapes import FullBatch, full_batches
from bertsmith.bench.work import Work

_RATE = 1e-4
_NO_LABEL = -100


def step(
    folder: str,  # noqa: ARG001 - every side has one
    layers: int,
    hidden: int,
    vocabulary: int,
    sequences: int,
    length: int,
    steps: int,
    attention: str,
) -> Work:
    """Steps of BertForPreTraining; ``attention`` is ``sdpa`` or ``eager``."""
    transformers: Any = importlib.import_module("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=vocabulary, num_hidden_layers=layers, hidden_size=hidden,
        num_attention_heads=max(1, hidden // 64), intermediate_size=4 * hidden,
        attn_implementation=attention,
    )  # fmt: skip
    model = transformers.BertForPreTraining(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=_RATE)
    batches = [inputs(one) for one in full_batches(vocabulary, sequences, length)]
    numbers = itertools.count()

    def go() -> None:
        for number in itertools.islice(numbers, steps):
            model(**batches[number % len(batches)]).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

    parameters = sum(one.numel() for one in model.parameters())
    return Work(
        go, count=steps, tokens=steps * sequences * length, check=(parameters,),
        facts={"attention": model.config._attn_implementation},
    )  # fmt: skip


def inputs(one: FullBatch) -> dict[str, torch.Tensor]:
    """A batch as the model takes it: labels at the masked places only."""
    labels = torch.full((one.ids.size,), _NO_LABEL)
    labels[torch.from_numpy(one.positions)] = torch.from_numpy(one.labels)
    ids = torch.from_numpy(one.ids)
    return {
        "input_ids": ids,
        "token_type_ids": torch.from_numpy(one.segments),
        "attention_mask": torch.ones_like(ids),
        "labels": labels.view_as(ids),
        "next_sentence_label": torch.from_numpy(one.neighbours),
    }
