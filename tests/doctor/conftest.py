"""A healthy model, and how to make it ill."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from bertsmith.checkpoints.save import save_model
from bertsmith.doctor.chart import Chart, Finding, Grade
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "sat", "on", "mat", "a", "dog", "##s", ".", "ran"]
Tensors = dict[str, torch.Tensor]


@pytest.fixture
def tokenizer() -> Tokenizer:
    return Tokenizer(SPECIALS + WORDS)


@pytest.fixture
def config() -> BertConfig:
    return BertConfig(
        vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=512,
    )  # fmt: skip


def stirred(model: torch.nn.Module) -> Any:
    """With weights as far from their beginning as training brings them."""
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.4 * torch.randn_like(weight))
    return model.eval()


@pytest.fixture
def model(tmp_path: Path, config: BertConfig, tokenizer: Tokenizer) -> Path:
    """The folder of a healthy model."""
    folder = tmp_path / "model"
    save_model(folder, stirred(BertForPreTraining(config)), tokenizer, "a card")
    return folder


def change_json(file: Path, **values: Any) -> None:
    """Set keys of a JSON file; None removes one."""
    raw = json.loads(file.read_text()) | values
    file.write_text(json.dumps({key: value for key, value in raw.items() if value is not None}))


def change_weights(folder: Path, change: Callable[[Tensors], object]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def bare_vocabulary(folder: Path, lines: list[str]) -> None:
    """A folder with a vocab.txt and nothing beside it."""
    (folder / "tokenizer.json").unlink(missing_ok=True)
    (folder / "tokenizer_config.json").unlink(missing_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{line}\n" for line in lines))


def broken(chart: Chart) -> list[str]:
    return [one.what for one in chart.findings if one.grade is Grade.BROKEN]


def only(chart: Chart, grade: Grade) -> Finding:
    """The finding of a grade, of which there has to be one."""
    found = [one for one in chart.findings if one.grade is grade]
    assert len(found) == 1, chart.findings
    return found[0]


def fact(chart: Chart, name: str) -> Any:
    return {one.name: one.value for one in chart.facts}[name]
