"""One step of bertsmith's pre-training."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch

from bertsmith.bench.shapes import FullBatch, full_batches
from bertsmith.bench.work import Work
from bertsmith.model.config import BertConfig
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.batches import PretrainingBatch
from bertsmith.pretrain.objective import pretraining_sums
from bertsmith.pretrain.pairs import PairCounts
from bertsmith.train.loop import Trainer
from bertsmith.train.memory import choose_micro_tokens
from bertsmith.train.optimizers import build_optimizer
from bertsmith.train.peak import pretraining_flops

RATE = 1e-4


def step(
    folder: str,  # noqa: ARG001 - every side has one
    layers: int,
    hidden: int,
    vocabulary: int,
    sequences: int,
    length: int,
    steps: int,
) -> Work:
    """Steps on batches of random ids; the flops are those of the real tokens, all of them."""
    config = shaped(layers, hidden, vocabulary)
    trainer = new_trainer(config, length)
    made = full_batches(vocabulary, sequences, length)
    batches = [packed(one) for one in made]
    numbers = itertools.count()

    def go() -> None:
        for number in itertools.islice(numbers, steps):
            trainer.step(number, batches[number % len(batches)], RATE)

    flops = pretraining_flops(
        layers=layers, hidden=hidden, intermediate=config.intermediate_size,
        vocabulary=vocabulary, lengths=[length] * sequences, masked=len(made[0].labels),
    )  # fmt: skip
    return Work(
        go, count=steps, flops=steps * flops, tokens=steps * sequences * length,
        check=(parameters(trainer.model),),
    )  # fmt: skip


def shaped(layers: int, hidden: int, vocabulary: int) -> BertConfig:
    """A BERT with heads of 64."""
    return BertConfig(
        vocab_size=vocabulary, num_hidden_layers=layers, hidden_size=hidden,
        num_attention_heads=max(1, hidden // 64), intermediate_size=4 * hidden,
    )  # fmt: skip


def new_trainer(config: BertConfig, length: int) -> Trainer[PretrainingBatch]:
    """The trainer of a run with default settings."""
    torch.manual_seed(0)
    model = BertForPreTraining(config).train()
    optimizer = build_optimizer("adamw", model.named_parameters(), RATE)
    micro_tokens = choose_micro_tokens(config, length)
    return Trainer(model, pretraining_sums, optimizer, 0, micro_tokens, 1.0)


def packed(one: FullBatch) -> PretrainingBatch:
    """A batch as the objective takes it."""
    return PretrainingBatch(
        packed=PackedBatch.from_arrays(
            one.ids.reshape(-1),
            one.segments.reshape(-1),
            np.full(len(one.ids), one.ids.shape[1]),
        ),
        masked_positions=torch.from_numpy(one.positions),
        masked_labels=torch.from_numpy(one.labels),
        next_labels=torch.from_numpy(one.neighbours),
        pairs=True,
        pair_counts=PairCounts(),
    )


def parameters(model: Any) -> int:
    """Numbers that are trained."""
    return sum(one.numel() for one in model.parameters())
