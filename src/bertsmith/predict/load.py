"""A model in three lines of Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bertsmith.checkpoints.architectures import Model
from bertsmith.checkpoints.directory import load_any
from bertsmith.checkpoints.locate import locate
from bertsmith.checkpoints.weights import LoadReport
from bertsmith.common.errors import ModelError
from bertsmith.model.linear import serve
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.task import BertForTask
from bertsmith.predict.embed import Embedder, Vectors
from bertsmith.predict.fill import Filled, fill
from bertsmith.predict.lines import Predictor
from bertsmith.text.tokenizer import Tokenizer


class LoadedModel:
    """A model that answers, as far as its heads go.

    Attributes:
        model: the model, in evaluation mode.
        tokenizer: its tokenizer.
        report: what was found in its files, renamed, skipped and ignored.
    """

    def __init__(
        self, folder: Path, model: Model, tokenizer: Tokenizer, report: LoadReport
    ) -> None:
        self.model, self.tokenizer, self.report = model, tokenizer, report
        self._folder = folder

    def fill(self, *texts: str, top: int = 5) -> list[Filled]:
        """The ranked tokens for every ``[MASK]`` of each text.

        Raises:
            InputError: a text has no blank, or is too long.
            ModelError: the model has no masked-LM head.
        """
        if not isinstance(self.model, BertForPreTraining):
            raise ModelError("the model has no masked-LM head", file=self._folder)
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
        encoder = self.model.encoder
        embedder = Embedder(encoder, self.tokenizer, pooler=encoder.pooler is not None)
        longest = self.model.config.max_position_embeddings
        found = embedder.embed(texts, pooling, layers, max_length=longest)
        vectors = [one.vectors for one in found]
        return np.stack(vectors) if vectors else np.empty((0, 0), np.float32)

    def predict(self, inputs: Sequence[str] | str) -> list[dict[str, Any]]:
        """The answers of a fine-tuned model to lines of text, or of JSON with named fields.

        See :meth:`~bertsmith.predict.lines.Predictor.predict`. One input alone is a list of one.

        Raises:
            InputError: an input is not what the model needs.
            ModelError: the model has no head of a task.
        """
        return self._predictor.predict([inputs] if isinstance(inputs, str) else inputs)

    @cached_property
    def _predictor(self) -> Predictor:
        if not isinstance(self.model, BertForTask):
            raise ModelError(
                "the model has no head of a task", file=self._folder,
                mend="give a fine-tuned model: bertsmith finetune makes one",
            )  # fmt: skip
        return Predictor.of(locate(self._folder).folder, self.model, self.tokenizer)


def load(folder: str | Path) -> LoadedModel:
    """The model in a directory, ours or another program's, of any layout.

    Raises:
        ModelError: there is no whole model.
        InputError: its tokenizer's files are malformed.
    """
    place = Path(folder)
    loaded = load_any(place)
    serve(loaded.model)
    return LoadedModel(place, *loaded)
