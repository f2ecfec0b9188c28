"""Vectors of texts by sentence-transformers, which sorts by length by itself."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertsmith.bench.models import model_folder
from bertsmith.bench.texts import mixed
from bertsmith.bench.vectors import sample
from bertsmith.bench.work import Work

_BATCH = 32


def encode(
    folder: str, model: Mapping[str, int] | None, data: str | None, texts: int, longest: int
) -> Work:
    """``SentenceTransformer.encode`` with batches of 32."""
    tool: Any = importlib.import_module("sentence_transformers")
    chosen = mixed(data, texts)
    encoder = tool.SentenceTransformer(str(model_folder(model, Path(folder))), device="cpu")
    encoder.max_seq_length = longest

    def vectors() -> Any:
        return encoder.encode(chosen, batch_size=_BATCH, show_progress_bar=False)

    def go() -> None:
        vectors()

    return Work(go, count=len(chosen), check=sample(vectors()))
