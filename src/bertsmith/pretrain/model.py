"""The model of a run: new, or one that is trained further."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch

from bertsmith.checkpoints.directory import load_for_pretraining
from bertsmith.checkpoints.weights import LoadReport
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.model.config import BertConfig, preset
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.text.tokenizer import Tokenizer


def new_model(settings: PretrainSettings, vocabulary: int, pairs: bool) -> BertForPreTraining:
    """A model of random weights, drawn from the run's seed.

    Args:
        settings: preset, activation, dropout and seed.
        vocabulary: rows of the embedding.
        pairs: whether next sentence is trained; else the model has no head for it, nor a pooler.
    """
    torch.manual_seed(settings.seed)
    config = preset(
        settings.preset,
        vocabulary,
        hidden_act=settings.hidden_act,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
    )
    return BertForPreTraining(config, next_sentence=pairs)


def started_from(
    start: Path, settings: PretrainSettings, tokenizer: Tokenizer, pairs: bool
) -> tuple[BertForPreTraining, LoadReport]:
    """The model at ``start``, of any layout, with new heads where it has none.

    Args:
        start: the model to go on with; its shape and activation stay.
        settings: dropout, and the seed of heads that are new.
        tokenizer: that of the corpus.
        pairs: as for :func:`new_model`.

    Raises:
        ModelError: there is no whole encoder, or its tokenizer is not that of the corpus.
        SettingsError: a phase is longer than the model's positions.
    """
    torch.manual_seed(settings.seed)
    model, theirs, report = load_for_pretraining(
        start, pairs, lambda config: _with_dropout(config, settings.dropout)
    )
    if theirs.digest != tokenizer.digest:
        raise ModelError(
            "the corpus was not made with this model's tokenizer: its ids mean other pieces",
            file=start,
            mend=f"build the corpus with the model's: bertsmith corpus ... --vocab {start}",
        )
    positions = model.config.max_position_embeddings
    if max(settings.lengths) > positions:
        raise SettingsError(
            f"the model has {positions} positions", value=max(settings.lengths),
            mend=f"give --lengths of at most {positions}",
        )  # fmt: skip
    return model.train(), report


def _with_dropout(config: BertConfig, dropout: float) -> BertConfig:
    return dataclasses.replace(
        config, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout
    )
