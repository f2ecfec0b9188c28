"""Model directories out: configuration, weights, tokenizer and card, as transformers reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from bertsmith.checkpoints.architectures import Model, describe
from bertsmith.checkpoints.beside import Beside, save_tokenizer
from bertsmith.checkpoints.locate import CONFIG, WEIGHTS
from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.checkpoints.weights import write_weights
from bertsmith.common.errors import ModelError
from bertsmith.common.files import write_json, write_text
from bertsmith.model.config import BertConfig
from bertsmith.text.tokenizer import Tokenizer

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
# Keys about the form of other weights: ours are stored as the model has them.
_OF_STORAGE = ("dtype", "torch_dtype", "quantization_config", "transformers_version")


def save_model(
    folder: Path,
    model: Model,
    tokenizer: Tokenizer,
    card: str,
    records: Mapping[str, Any] | None = None,
    beside: Beside | None = None,
) -> None:
    """Write a model directory; a save that fails or is killed leaves the old directory whole.

    Args:
        folder: where the directory will be; an old one is replaced.
        model: the model; its weights are stored in the type they have.
        tokenizer: the tokenizer whose ids the model knows.
        card: the text of ``README.md``.
        records: JSON files to write beside, by name.
        beside: what other programs said of the tokenizer where it came from.

    Raises:
        ModelError: the tokenizer has more entries than the model's embedding, or the disk is full
            or not writable.
    """
    check_sizes(folder, model.config, tokenizer)
    try:
        with atomic_folder(folder) as part:
            described_config(model, tokenizer).to_json(part / CONFIG)
            write_weights(part / WEIGHTS, model)
            save_tokenizer(part, tokenizer, model.config.max_position_embeddings, beside)
            for name, record in (records or {}).items():
                write_json(part / name, record)
            write_text(part / CARD, card)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the model directory can not be written: {error}",
            file=folder,
            mend="make room or choose another folder; what was there before is untouched",
        ) from error


def described_config(model: Model, tokenizer: Tokenizer) -> BertConfig:
    """The configuration with the keys that name architecture and labels."""
    gone = _OF_ARCHITECTURE + _OF_STORAGE
    others = {key: v for key, v in model.config.extra.items() if key not in gone}
    return dataclasses.replace(
        model.config, pad_token_id=tokenizer.ids.pad, extra={**others, **describe(model)}
    )


def check_sizes(folder: Path, config: BertConfig, tokenizer: Tokenizer) -> None:
    """Raise ModelError where the tokenizer knows ids that the model does not."""
    # An embedding may be larger than its vocabulary: some round the number of rows up.
    if tokenizer.size > config.vocab_size:
        raise ModelError(
            f"the tokenizer has {tokenizer.size} entries, but the model's embedding only "
            f"{config.vocab_size} rows",
            file=folder,
            mend="the vocabulary and the weights do not belong together: take both from one model",
        )
