"""A model in three lines of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertsmith.checkpoints.directory import load_model
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.predict.embed import Embedder, Vectors
from bertsmith.predict.fill import Filled, fill
from bertsmith.text.tokenizer import Tokenizer


@dataclass
class PretrainedModel:
    """A pre-trained model that answers.

    Attributes:
        model: the model, in evaluation mode.
        tokenizer: its tokenizer.
    """

    model: BertForPreTraining
    tokenizer: Tokenizer

    def fill(self, *texts: str, top: int = 5) -> list[Filled]:
        """The ranked tokens for every ``[MASK]`` of each text.

        Raises:
            InputError: a text has no blank, or is too long.
        """
        return fill(self.model, self.tokenizer, texts, top_k=top)

    def embed(
        self, texts: Sequence[str] | str, pooling: str = "mean", layers: str = "last"
    ) -> Vectors:
        """[texts, width] a vector a text; see :meth:`~bertsmith.predict.embed.Embedder.embed`.

        One text alone is a list of one. Texts longer than the model's positions are cut. For a
        vector a token, use the Embedder.
        """
        if isinstance(texts, str):
            texts = [texts]
        longest = self.model.config.max_position_embeddings
        found = Embedder(self.model.encoder, self.tokenizer).embed(
            texts, pooling, layers, max_length=longest
        )
        vectors = [one.vectors for one in found]
        return np.stack(vectors) if vectors else np.empty((0, 0), np.float32)


def load(folder: str | Path) -> PretrainedModel:
    """The model in a directory that ``bertsmith pretrain`` wrote, or one like it.

    Raises:
        ModelError: there is no whole model with both pre-training heads.
    """
    model, tokenizer, _ = load_model(Path(folder))
    return PretrainedModel(model, tokenizer)
