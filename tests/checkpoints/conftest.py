from pathlib import Path

import pytest
import torch

from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "sat", "on", "mat", "a", "dog", "##s", ".", "ran"]


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    folder = tmp_path / "vocabulary"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(SPECIALS + WORDS) + "\n")
    return Tokenizer.load(folder)


@pytest.fixture
def model() -> BertForPreTraining:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=40,
    )  # fmt: skip
    one = BertForPreTraining(config)
    with torch.no_grad():
        for weight in one.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return one.eval()
