"""The feature-based way: a frozen encoder under a BiLSTM (paper, table 7)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from bertsmith.checkpoints.directory import load_task_model
from bertsmith.checkpoints.save import save_model
from bertsmith.common.errors import ModelError
from bertsmith.model.config import BertConfig
from bertsmith.model.layers import LAYERS
from bertsmith.model.packed import PackedBatch
from bertsmith.model.tagger import FeatureTagger, task_model
from bertsmith.model.task import BertForTask, Head
from bertsmith.text.tokenizer import Tokenizer

LABELS = ("O", "B-X", "I-X")
CONFIG = BertConfig(
    vocab_size=12, hidden_size=16, num_hidden_layers=4, num_attention_heads=2,
    intermediate_size=16, max_position_embeddings=32,
)  # fmt: skip


def batch(*lengths: int) -> PackedBatch:
    rng = np.random.default_rng(0)
    return PackedBatch.from_sequences([(rng.integers(5, 12, n).tolist(), [0] * n) for n in lengths])


@pytest.mark.parametrize("features", LAYERS)
def test_every_sequence_goes_through_the_lstm_by_itself(features: str) -> None:
    torch.manual_seed(0)
    model = task_model(CONFIG, Head("tokens", LABELS, features)).eval()
    assert isinstance(model, FeatureTagger)
    packed = batch(5, 1, 9)
    with torch.inference_mode():
        together = model(packed)
        assert together.shape == (15, 3)
        for number in range(3):
            alone = model(packed.slice_sequences(number, number + 1))
            start, stop = packed.offsets[number : number + 2].tolist()
            torch.testing.assert_close(together[start:stop], alone, rtol=1e-5, atol=1e-5)
            vectors = LAYERS[features](model.encoder.every_layer(packed))[start:stop]
            found, _ = model.lstm(vectors[:, None])  # the plain way, a batch of one
            torch.testing.assert_close(alone, model.head(found[:, 0]), rtol=1e-5, atol=1e-5)


def test_the_encoder_gets_no_gradient_and_no_dropout() -> None:
    model = task_model(CONFIG, Head("tokens", LABELS, "concat-last-four")).train()
    assert model.lstm.training
    assert not model.encoder.training
    model(batch(4, 7)).sum().backward()
    assert all(weights.grad is None for weights in model.encoder.parameters())
    assert all(weights.grad is not None for weights in model.lstm.parameters())
    assert model.head.weight.grad is not None
    assert model.lstm.hidden_size == 768
    assert model.lstm.num_layers == 2


def test_a_model_directory_holds_it_whole(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefg"]
    model = task_model(CONFIG, Head("tokens", LABELS, "sum-all")).eval()
    save_model(tmp_path / "model", model, Tokenizer(words), "")
    loaded = load_task_model(tmp_path / "model").model
    assert loaded.spec == model.spec
    with torch.inference_mode():
        assert torch.equal(loaded(batch(6, 3)), model(batch(6, 3)))
    assert type(task_model(CONFIG, Head("tokens", LABELS))) is BertForTask


@pytest.mark.parametrize(
    ("head", "layers"),
    [
        (Head("classes", LABELS, "last"), 4),
        (Head("tokens", LABELS, "best"), 4),
        (Head("tokens", LABELS, "concat-last-four"), 2),
    ],
)
def test_what_can_not_be(head: Head, layers: int) -> None:
    config = BertConfig(**{**vars(CONFIG), "num_hidden_layers": layers, "extra": {}})
    with pytest.raises(ModelError, match=f"{layers} layers has no such features"):
        task_model(config, head)
