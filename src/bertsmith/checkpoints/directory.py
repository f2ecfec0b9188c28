"""Model directories: configuration, weights, tokenizer and card, as transformers reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from torch import nn

from bertsmith.checkpoints.architectures import Model, describe, head_of, table_of
from bertsmith.checkpoints.names import encoder_table
from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.checkpoints.weights import LoadReport, load_weights, write_weights
from bertsmith.common.errors import ModelError
from bertsmith.common.files import write_json, write_text
from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.tagger import task_model
from bertsmith.model.task import BertForTask
from bertsmith.text.tokenizer import Tokenizer

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
CARD = "README.md"
# Keys of config.json that belong to an architecture, and go when the architecture changes.
_OF_ARCHITECTURE = (
    "architectures",
    "problem_type",
    "id2label",
    "label2id",
    "num_labels",
    "feature_layers",
)


def save_model(
    folder: Path,
    model: Model,
    tokenizer: Tokenizer,
    card: str,
    records: Mapping[str, Any] | None = None,
) -> None:
    """Write a model directory; a save that fails or is killed leaves the old directory whole.

    Args:
        folder: where the directory will be; an old one is replaced.
        model: the model; its weights are stored in the type they have.
        tokenizer: the tokenizer whose ids the model knows.
        card: the text of ``README.md``.
        records: JSON files to write beside, by name.

    Raises:
        ModelError: the tokenizer has more entries than the model's embedding, or the disk is full
            or not writable.
    """
    _check_sizes(folder, model.config, tokenizer)
    others = {key: v for key, v in model.config.extra.items() if key not in _OF_ARCHITECTURE}
    config = dataclasses.replace(
        model.config, pad_token_id=tokenizer.ids.pad, extra={**others, **describe(model)}
    )
    try:
        with atomic_folder(folder) as part:
            config.to_json(part / CONFIG)
            write_weights(part / WEIGHTS, model)
            tokenizer.save(part)
            for name, record in (records or {}).items():
                write_json(part / name, record)
            write_text(part / CARD, card)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the model directory can not be written: {error}",
            file=folder,
            mend="make room or choose another folder; what was there before is untouched",
        ) from error


def load_model(folder: Path) -> tuple[BertForPreTraining, Tokenizer]:
    """Read a model with both pre-training heads, in evaluation mode and on the CPU.

    Raises:
        ModelError: a file is missing or damaged, a tensor is missing, left over or of another
            shape, or tokenizer and model do not fit together.
        InputError: the tokenizer's files are malformed.
    """
    tokenizer = _tokenizer(folder)
    model, report = load_partial(folder)
    _check_whole(folder, report, "BertForPreTraining")
    _check_sizes(folder, model.config, tokenizer)
    return model, tokenizer


def load_task_model(folder: Path) -> tuple[BertForTask, Tokenizer]:
    """Read a fine-tuned model with its head and labels, ours or one saved by transformers.

    Raises:
        ModelError: as :func:`load_model`; or the model has no head of a task.
        InputError: the tokenizer's files are malformed.
    """
    tokenizer = _tokenizer(folder)
    config = BertConfig.from_json(folder / CONFIG)
    model = task_model(config, head_of(config.extra, folder / CONFIG)).eval()
    report = load_weights(model, folder / WEIGHTS, table_of(model))
    _check_whole(folder, report, type(model).__name__)
    _check_sizes(folder, config, tokenizer)
    return model, tokenizer


def load_encoder(
    folder: Path, encoder: Encoder | None = None
) -> tuple[Encoder, Tokenizer, LoadReport]:
    """Read the encoder of any model directory, whatever heads it has.

    A pooler may be missing (``report.new`` names it): the caller decides whether that will do.

    Args:
        folder: the model directory.
        encoder: the encoder to fill, made for its configuration; None for a new one.

    Raises:
        ModelError: as :func:`load_model`, for the encoder's own tensors.
        InputError: the tokenizer's files are malformed.
    """
    tokenizer = _tokenizer(folder)
    config = BertConfig.from_json(folder / CONFIG)
    model = _Holder(Encoder(config) if encoder is None else encoder).eval()
    table = encoder_table(config.num_hidden_layers, pooler=model.encoder.pooler is not None)
    report = load_weights(model, folder / WEIGHTS, table)
    lost = [name for name in report.missing if not name.startswith("bert.pooler.")]
    _check_whole(folder, dataclasses.replace(report, missing=tuple(lost), ignored=()), "BertModel")
    _check_sizes(folder, config, tokenizer)
    return model.encoder, tokenizer, report


def load_partial(folder: Path) -> tuple[BertForPreTraining, LoadReport]:
    """A model from whatever its directory holds, with the report on what was missing.

    The parameters that the report calls new are random: the caller decides whether that will do.

    Raises:
        ModelError: a file is missing or damaged, or a tensor has the wrong shape.
    """
    model = BertForPreTraining(BertConfig.from_json(folder / CONFIG))
    return model.eval(), load_weights(model, folder / WEIGHTS, table_of(model))


class _Holder(nn.Module):
    """Gives an encoder the name that it has inside a model."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder


def _tokenizer(folder: Path) -> Tokenizer:
    if not folder.is_dir():
        raise ModelError("there is no such model directory", file=folder)
    return Tokenizer.load(folder)


def _check_whole(folder: Path, report: LoadReport, what: str) -> None:
    for problem, names in (("lacks", report.missing), ("has the unknown", report.ignored)):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise ModelError(
                f"the weight file {problem} tensor {names[0]}{more}",
                file=folder / WEIGHTS,
                mend=f"use a directory that holds a whole {what} and nothing else",
            )


def _check_sizes(folder: Path, config: BertConfig, tokenizer: Tokenizer) -> None:
    # An embedding may be larger than its vocabulary: some round the number of rows up.
    if tokenizer.size > config.vocab_size:
        raise ModelError(
            f"the tokenizer has {tokenizer.size} entries, but the model's embedding only "
            f"{config.vocab_size} rows",
            file=folder,
            mend="the vocabulary and the weights do not belong together: take both from one model",
        )
