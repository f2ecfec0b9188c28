"""Model directories: configuration, weights, tokenizer and card, as transformers reads them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from safetensors import SafetensorError

from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.checkpoints.weights import LoadReport, load_weights, write_weights
from bertsmith.common.errors import ModelError
from bertsmith.common.files import write_text
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
CARD = "README.md"


def save_model(folder: Path, model: BertForPreTraining, tokenizer: Tokenizer, card: str) -> None:
    """Write a model directory; a save that fails or is killed leaves the old directory whole.

    Args:
        folder: where the directory will be; an old one is replaced.
        model: the model; its weights are stored in the type they have.
        tokenizer: the tokenizer whose ids the model knows.
        card: the text of ``README.md``.

    Raises:
        ModelError: the tokenizer has more entries than the model's embedding, or the disk is full
            or not writable.
    """
    _check_sizes(folder, model.config, tokenizer)
    config = dataclasses.replace(model.config, pad_token_id=tokenizer.ids.pad)
    try:
        with atomic_folder(folder) as part:
            config.to_json(part / CONFIG)
            write_weights(part / WEIGHTS, model)
            tokenizer.save(part)
            write_text(part / CARD, card)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the model directory can not be written: {error}",
            file=folder,
            mend="make room or choose another folder; what was there before is untouched",
        ) from error


def load_model(folder: Path) -> tuple[BertForPreTraining, Tokenizer]:
    """Read a model directory, in evaluation mode and on the CPU.

    Raises:
        ModelError: a file is missing or damaged, a tensor is missing, left over or of another
            shape, or tokenizer and model do not fit together.
        InputError: the tokenizer's files are malformed.
    """
    if not folder.is_dir():
        raise ModelError("there is no such model directory", file=folder)
    tokenizer = Tokenizer.load(folder)
    model, report = load_partial(folder)
    for what, names in (("lacks", report.missing), ("has the unknown", report.ignored)):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise ModelError(
                f"the weight file {what} tensor {names[0]}{more}",
                file=folder / WEIGHTS,
                mend="use a directory that holds a whole BertForPreTraining and nothing else",
            )
    _check_sizes(folder, model.config, tokenizer)
    return model, tokenizer


def load_partial(folder: Path) -> tuple[BertForPreTraining, LoadReport]:
    """A model from whatever its directory holds, with the report on what was missing.

    The parameters that the report calls new are random: the caller decides whether that will do.

    Raises:
        ModelError: a file is missing or damaged, or a tensor has the wrong shape.
    """
    model = BertForPreTraining(BertConfig.from_json(folder / CONFIG))
    return model.eval(), load_weights(model, folder / WEIGHTS)


def _check_sizes(folder: Path, config: BertConfig, tokenizer: Tokenizer) -> None:
    # An embedding may be larger than its vocabulary: some round the number of rows up.
    if tokenizer.size > config.vocab_size:
        raise ModelError(
            f"the tokenizer has {tokenizer.size} entries, but the model's embedding only "
            f"{config.vocab_size} rows",
            file=folder,
            mend="the vocabulary and the weights do not belong together: take both from one model",
        )
