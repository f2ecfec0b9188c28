"""Vectors of texts by bertsmith."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bertsmith.bench.models import model_folder
from bertsmith.bench.texts import mixed
from bertsmith.bench.vectors import sample
from bertsmith.bench.work import Work
from bertsmith.predict.embed import Embedder
from bertsmith.train.peak import encoder_flops


def many(
    folder: str, model: Mapping[str, int] | None, data: str | None, texts: int, longest: int
) -> Work:
    """All texts at once."""
    return _work(folder, model, mixed(data, texts), longest, together=True)


def one(
    folder: str, model: Mapping[str, int] | None, data: str | None, texts: int, longest: int
) -> Work:
    """One text after the other."""
    return _work(folder, model, mixed(data, texts), longest, together=False)


def _work(
    folder: str, model: Mapping[str, int] | None, texts: list[str], longest: int, together: bool
) -> Work:
    embedder = Embedder.load(model_folder(model, Path(folder)))
    calls = [texts] if together else [[text] for text in texts]

    def vectors() -> list[np.ndarray]:
        return [
            found.vectors for some in calls for found in embedder.embed(some, max_length=longest)
        ]

    def go() -> None:
        vectors()

    lengths = [
        min(len(ids) + 2, longest) for ids in embedder.tokenizer.encode_ids(texts)
    ]  # with [CLS] and [SEP]
    config = embedder.encoder.config
    flops = encoder_flops(
        layers=config.num_hidden_layers, hidden=config.hidden_size,
        intermediate=config.intermediate_size, lengths=lengths,
    )  # fmt: skip
    return Work(
        go, count=len(texts), flops=flops, tokens=sum(lengths), check=sample(vectors()),
        about=f"{len(texts)} texts, {sum(lengths) / len(lengths):.1f} tokens on average, "
        f"{max(lengths)} at most",
    )  # fmt: skip
