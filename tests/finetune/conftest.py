"""A small model and a task that it can learn, as files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from bertsmith.checkpoints.save import save_model
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NOUNS = ["film", "story", "cast", "music", "end", "plot", "scene", "actor"]
GOOD, BAD = ["great", "fine", "warm"], ["dull", "weak", "cold"]
WORDS = [*SPECIAL, *NOUNS, *GOOD, *BAD, "the", "is", "was", "and", "not", "."]


def sentence(rng: random.Random) -> tuple[str, str]:
    """A sentence and whether it is kind."""
    kind = rng.random() < 0.5
    word = rng.choice(GOOD if kind else BAD)
    text = (
        f"the {rng.choice(NOUNS)} and the {rng.choice(NOUNS)} {rng.choice(['is', 'was'])} {word} ."
    )
    return text, "1" if kind else "0"


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """An untrained encoder with both pre-training heads."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("pretrained") / "model"
    save_model(folder, BertForPreTraining(config), Tokenizer(WORDS), "")
    return folder


@pytest.fixture(scope="session")
def cola(tmp_path_factory) -> Path:
    """A folder in CoLA's layout."""
    folder, rng = tmp_path_factory.mktemp("data") / "CoLA", random.Random(1)
    folder.mkdir()
    for part, count in (("train", 200), ("dev", 60)):
        rows = [
            f"made\t{label}\t\t{text}\n" for text, label in (sentence(rng) for _ in range(count))
        ]
        (folder / f"{part}.tsv").write_text("".join(rows))
    rows = [f"{at}\t{sentence(rng)[0]}\n" for at in range(30)]
    (folder / "test.tsv").write_text("index\tsentence\n" + "".join(rows))
    return folder
