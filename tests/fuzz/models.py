"""A small model in every layout, made once a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from bertsmith.checkpoints.convert import convert
from bertsmith.checkpoints.save import save_model
from bertsmith.common.console import muted
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.task import BertForTask, Head
from bertsmith.text.tokenizer import Tokenizer

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "a", "."]
CONFIG = BertConfig(
    vocab_size=10, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=8, max_position_embeddings=16,
)  # fmt: skip
LAYOUTS = ("safetensors", "sharded", "pickle", "old_pickle", "sharded_pickle", "google", "task")


def make(root: Path) -> dict[str, Path]:
    """Folders by layout."""
    torch.manual_seed(0)
    tokenizer = Tokenizer(PIECES)
    folders = {name: root / name for name in LAYOUTS}
    save_model(folders["safetensors"], BertForPreTraining(CONFIG), tokenizer, "A card.")
    head = Head("classes", ("good", "bad", "ugly"))
    save_model(folders["task"], BertForTask(CONFIG, head), tokenizer, "A card.")
    with muted():
        convert(folders["safetensors"], folders["google"], "tensorflow")
    tensors = load_file(folders["safetensors"] / "model.safetensors")
    first, second = dict(list(tensors.items())[:9]), dict(list(tensors.items())[9:])
    for name in ("sharded", "pickle", "old_pickle", "sharded_pickle"):
        folders[name].mkdir()
        for file in folders["safetensors"].glob("*.*"):
            if file.name != "model.safetensors":
                (folders[name] / file.name).write_bytes(file.read_bytes())
    torch.save(tensors, folders["pickle"] / "pytorch_model.bin")
    torch.save(
        tensors, folders["old_pickle"] / "pytorch_model.bin", _use_new_zipfile_serialization=False
    )
    for name, stem, ending, save in (
        ("sharded", "model", "safetensors", save_file),
        ("sharded_pickle", "pytorch_model", "bin", torch.save),
    ):
        places = {}
        for number, part in enumerate((first, second)):
            file = f"{stem}-{number}.{ending}"
            save(part, folders[name] / file)  # type: ignore[operator]
            places |= dict.fromkeys(part, file)
        index: dict[str, Any] = {"metadata": {"total_size": 1}, "weight_map": places}
        (folders[name] / f"{stem}.{ending}.index.json").write_text(json.dumps(index))
    return folders
