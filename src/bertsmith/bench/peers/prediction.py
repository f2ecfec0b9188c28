"""Vectors of texts by transformers: its pipeline, and a loop over batches."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertsmith.bench.models import model_folder
from bertsmith.bench.texts import mixed
from bertsmith.bench.vectors import masked_mean, sample
from bertsmith.bench.work import Work

_BATCH = 32


def pipeline(
    folder: str, model: Mapping[str, int] | None, data: str | None, texts: int, longest: int
) -> Work:
    """``pipeline("feature-extraction")`` as it comes; it gives a list of floats for every token.

    It gives vectors of the padding, too; how many tokens are real is counted before the rounds.
    """
    transformers: Any = importlib.import_module("transformers")
    place, chosen = str(model_folder(model, Path(folder))), mixed(data, texts)
    cut = {"truncation": True, "max_length": longest}
    extract = transformers.pipeline(
        "feature-extraction", model=place, tokenizer=place, tokenize_kwargs=cut
    )
    lengths = [len(ids) for ids in extract.tokenizer(chosen, **cut)["input_ids"]]

    def vectors() -> list[np.ndarray]:
        found = extract(chosen, batch_size=_BATCH)
        return [
            np.asarray(one[0][:length], np.float32).mean(0)
            for one, length in zip(found, lengths, strict=True)
        ]

    def go() -> None:
        vectors()

    return Work(go, count=len(chosen), tokens=sum(lengths), check=sample(vectors()))


def batches(
    folder: str,
    model: Mapping[str, int] | None,
    data: str | None,
    texts: int,
    longest: int,
    batch: int,
) -> Work:
    """AutoModel on so many texts at a time, in their order, padded to the longest one."""
    transformers: Any = importlib.import_module("transformers")
    place, chosen = str(model_folder(model, Path(folder))), mixed(data, texts)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    encoder = transformers.AutoModel.from_pretrained(place).eval()

    def some(start: int) -> tuple[list[np.ndarray], int]:
        inputs = tokenizer(
            chosen[start : start + batch], padding=True, truncation=True, max_length=longest,
            return_tensors="pt",
        )  # fmt: skip
        lengths = inputs["attention_mask"].sum(1).tolist()
        with torch.inference_mode():
            states = encoder(**inputs).last_hidden_state
        return masked_mean(states.numpy(), lengths), sum(lengths)

    def go() -> None:
        for start in range(0, len(chosen), batch):
            some(start)

    found = [some(start) for start in range(0, len(chosen), batch)]
    vectors = [one for part, _ in found for one in part]
    return Work(
        go, count=len(chosen), tokens=sum(count for _, count in found), check=sample(vectors)
    )
