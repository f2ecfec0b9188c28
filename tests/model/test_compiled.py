"""Compiled layers: the same results, one compilation for all layers and lengths."""

from __future__ import annotations

import shutil

import pytest
import torch
from torch._dynamo.utils import counters

from bertsmith.model import compiled
from bertsmith.model.config import BertConfig
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining

CONFIG = BertConfig(
    vocab_size=50, hidden_size=32, num_hidden_layers=3, num_attention_heads=2,
    intermediate_size=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
)  # fmt: skip


def loss_and_gradients(model: BertForPreTraining, lengths: list[int]) -> list[torch.Tensor]:
    rows = [([n % 40 + 5] * n, [0] * n) for n in lengths]
    batch = PackedBatch.from_sequences(rows)
    words, neighbours = model(batch, torch.tensor([0, 1]))
    assert neighbours is not None
    loss = words.square().sum() + neighbours.sum()
    return [loss, *torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler for torch.compile")
def test_results_stay_and_one_compilation_serves_all() -> None:
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    model = BertForPreTraining(CONFIG).train()
    batches = [[40, 30, 20, 8], [9, 12, 9, 9], [100, 3, 17, 17, 5]]  # one way of attention for all
    expected = [loss_and_gradients(model, lengths) for lengths in batches]
    names = list(model.state_dict())
    compiled.compile_layers(model.encoder)
    assert list(model.state_dict()) == names
    found = [loss_and_gradients(model, lengths) for lengths in batches]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert counters["stats"]["unique_graphs"] == 1


def test_a_processor_is_not_compiled_for() -> None:
    assert not compiled.can_compile(torch.device("cpu"))
