"""The three lines of Python in the README."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from tests.predict.test_lines import made

import bertsmith
from bertsmith.checkpoints.save import save_model
from bertsmith.common.errors import ModelError
from bertsmith.model.config import BertConfig
from bertsmith.model.linear import Linear
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.predict.lines import Predictor
from bertsmith.text.tokenizer import Tokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "fox", "."]


def test_load_fill_embed(tmp_path) -> None:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=16,
    )  # fmt: skip
    save_model(tmp_path / "model", BertForPreTraining(config), Tokenizer(WORDS), "")
    model = bertsmith.load(tmp_path / "model")
    (filled,) = model.fill("red [MASK] .", top=2)
    assert len(filled.blanks[0]) == 2
    vectors = model.embed(["red", "red fox"])
    assert vectors.shape == (2, 16)
    np.testing.assert_allclose(vectors[1], model.embed(["red fox"])[0], atol=1e-6)
    assert all(layer.serves for layer in model.model.modules() if isinstance(layer, Linear))
    with pytest.raises(ModelError, match="no such model"):
        bertsmith.load(tmp_path / "nowhere")
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        bertsmith.lod  # noqa: B018


def test_a_fine_tuned_model_predicts_as_the_command_does(tmp_path) -> None:
    folder = made(tmp_path, "classify")
    model = bertsmith.load(folder)
    texts = ["red fox", "far"]
    assert model.predict(texts) == Predictor.load(folder).predict(texts)
    (alone,), together = model.predict("red fox"), model.predict(texts)[0]
    assert alone["label"] == together["label"]
    assert alone["probability"] == pytest.approx(together["probability"], abs=1e-6)
    assert model.embed("red").shape == (1, model.model.config.hidden_size)
    with pytest.raises(ModelError, match="no masked-LM head"):
        model.fill("red [MASK]")


def test_a_pretrained_model_has_no_predictions(tmp_path) -> None:
    config = BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=16,
    )  # fmt: skip
    save_model(tmp_path / "model", BertForPreTraining(config), Tokenizer(WORDS), "")
    with pytest.raises(ModelError, match="no head of a task"):
        bertsmith.load(tmp_path / "model").predict("red")


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, bertsmith; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_text_and_none(tmp_path) -> None:
    config = BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=16,
    )  # fmt: skip
    save_model(tmp_path / "model", BertForPreTraining(config), Tokenizer(WORDS), "")
    model = bertsmith.load(tmp_path / "model")
    np.testing.assert_array_equal(model.embed("red fox"), model.embed(["red fox"]))
    assert len(model.embed([])) == 0
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()}
    assert len(modes) == 1  # the weights are as readable as the rest
