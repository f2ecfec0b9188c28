"""Vectors of texts: one a text, or one a token, from any layer or combination of layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bertsmith.checkpoints.directory import load_encoder
from bertsmith.common.console import note
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.model.encoder import Encoder
from bertsmith.model.layers import LAYERS, Combine, has_layers, known_layers
from bertsmith.model.linear import serve
from bertsmith.model.packed import PackedBatch
from bertsmith.tasks.batch import pieces
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.device import find_device

Vectors = npt.NDArray[np.float32]

POOLINGS = ("mean", "cls", "max", "pooler", "tokens")


@dataclass(frozen=True)
class Embedded:
    """The vectors of one text.

    Attributes:
        vectors: [width] for the text, or [tokens, width] for ``tokens``.
        tokens: the tokens, special ones included.
    """

    vectors: Vectors
    tokens: list[str]


class Embedder:
    """Turns texts into vectors; the same ones whatever else is embedded with them.

    Args:
        encoder: the encoder, in evaluation mode.
        tokenizer: its tokenizer.
        pooler: whether the encoder's pooler is one that was trained.
    """

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer, pooler: bool = True) -> None:
        self.encoder, self.tokenizer, self.has_pooler = encoder, tokenizer, pooler
        self.counts: Counter[str] = Counter()  # texts that were cut, and tokens that were lost

    @classmethod
    def load(cls, folder: Path) -> Embedder:
        """The embedder of a model directory, on the GPU where there is one.

        Raises:
            ModelError: there is no whole encoder in it.
        """
        encoder, tokenizer, report = load_encoder(folder)
        note(report.as_text())
        serve(encoder)
        return cls(encoder.to(find_device()), tokenizer, encoder.pooler is not None)

    def embed(
        self,
        texts: Sequence[str],
        pooling: str = "mean",
        layers: str = "last",
        *,
        max_length: int = 512,
        micro_tokens: int = 8192,
    ) -> Iterator[Embedded]:
        """The vectors of ``texts``, in their order.

        Args:
            texts: any strings; what is longer than ``max_length`` tokens is cut and counted.
            pooling: ``mean``, ``max`` over all tokens, ``cls`` the first token, ``pooler`` the
                pooled first token of pre-training, ``tokens`` every token by itself.
            layers: one of LAYERS, or a layer's number, 0 for the embeddings.
            max_length: most tokens a text, special ones included.
            micro_tokens: most tokens through the model at once.

        Raises:
            SettingsError: an unknown way, or the model has too few layers or positions for it.
            ModelError: the pooler is asked for, and the model has none.
        """
        combine = self._check(pooling, layers, max_length)
        encoded = self._encode(texts, max_length)
        with torch.inference_mode():
            for start, stop in pieces([len(ids) for ids in encoded], micro_tokens):
                some = encoded[start:stop]
                batch = PackedBatch.from_sequences([(ids, [0] * len(ids)) for ids in some])
                batch = batch.to(next(self.encoder.parameters()).device)
                states = self.encoder.every_layer(batch)
                hidden = self._vectors(states, combine, pooling, batch)
                for ids, vectors in zip(some, hidden, strict=True):
                    yield Embedded(
                        vectors.float().cpu().numpy(), [self.tokenizer.tokens[one] for one in ids]
                    )

    def _vectors(
        self,
        states: list[Tensor],
        combine: Combine,
        pooling: str,
        batch: PackedBatch,
    ) -> list[Tensor]:
        if pooling == "pooler":
            return list(self.encoder.pool(states[-1], batch).unbind())
        parts = list(torch.split(combine(states), batch.lengths.tolist()))
        if pooling == "tokens":
            return parts
        if pooling == "cls":
            return [one[0] for one in parts]
        return [one.mean(0) if pooling == "mean" else one.amax(0) for one in parts]

    def _encode(self, texts: Sequence[str], max_length: int) -> list[list[int]]:
        special, found = self.tokenizer.ids, []
        for ids in self.tokenizer.encode_ids(texts):
            kept = ids[: max_length - 2]
            if len(kept) < len(ids):
                self.counts["texts cut"] += 1
                self.counts["tokens cut"] += len(ids) - len(kept)
            found.append([special.cls, *kept, special.sep])
        return found

    def _check(self, pooling: str, layers: str, max_length: int) -> Combine:
        positions = self.encoder.config.max_position_embeddings
        if not 3 <= max_length <= positions:
            raise SettingsError(f"max_length must be from 3 to {positions}", value=max_length)
        if pooling not in POOLINGS:
            raise SettingsError("no such pooling", value=pooling, mend=", ".join(POOLINGS))
        if pooling == "pooler" and not self.has_pooler:
            raise ModelError(
                "the model has no pooler: its pooled vectors would be random", mend="use the mean"
            )
        if pooling == "pooler" and layers != "last":
            raise SettingsError("the pooler reads the last layer", value=layers)
        count = self.encoder.config.num_hidden_layers
        if layers.isascii() and layers.isdecimal() and int(layers) <= count:
            return lambda states: states[int(layers)]
        if not has_layers(layers, count):
            raise SettingsError(
                f"no such layers in a model of {count}", value=layers,
                mend=f"a number from 0 to {count}, or {', '.join(known_layers(count))}",
            )  # fmt: skip
        return LAYERS[layers]
