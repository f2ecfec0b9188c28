"""Models in, from any layout: each whole, with a report, or not at all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from torch import nn

from bertsmith.checkpoints.architectures import (
    Assumed,
    Model,
    class_name,
    describe,
    has_task_head,
    head_of,
    table_of,
)
from bertsmith.checkpoints.checkpoint import Checkpoint, open_checkpoint
from bertsmith.checkpoints.save import check_sizes
from bertsmith.checkpoints.weights import LoadReport, fill_model, left_over
from bertsmith.common.console import warn
from bertsmith.common.errors import ModelError
from bertsmith.model.bare import BareBert
from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder
from bertsmith.model.next_sentence import NextSentenceBert
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.tagger import task_model
from bertsmith.model.task import BertForTask, Head
from bertsmith.text.tokenizer import Tokenizer

M = TypeVar("M", bound=nn.Module)
_POOLER, _MASKED_LM, _NEXT = "bert.pooler.", "cls.predictions.", "cls.seq_relationship."


class Loaded(NamedTuple, Generic[M]):
    """A model in evaluation mode on the CPU, its tokenizer, and where its weights came from."""

    model: M
    tokenizer: Tokenizer
    report: LoadReport


def load_model(path: Path) -> Loaded[BertForPreTraining]:
    """Read a model with a masked-LM head, and with the next-sentence head where it has one.

    Args:
        path: as for :func:`~bertsmith.checkpoints.locate.locate`, here and below.

    Raises:
        ModelError: a file is missing or damaged, a tensor is missing or of another shape, one of
            the encoder is left over, or tokenizer and model do not fit together.
        InputError: the tokenizer's files are malformed.
    """
    checkpoint = open_checkpoint(path)
    if not checkpoint.has(_MASKED_LM):
        raise ModelError(
            "the model has no masked-LM head", file=checkpoint.file,
            mend="give a pre-trained model that still has it: bertsmith pretrain makes one",
        )  # fmt: skip
    model = BertForPreTraining(checkpoint.config, next_sentence=checkpoint.has(_NEXT))
    return _load(checkpoint, model)


def load_task_model(path: Path) -> Loaded[BertForTask]:
    """Read a fine-tuned model with its head and labels, ours or another program's.

    Raises:
        ModelError: as :func:`load_model`; or the model has no head of a task.
        InputError: the tokenizer's files are malformed.
    """
    checkpoint = open_checkpoint(path)
    head = head_of(checkpoint.config.extra, checkpoint.location.config)
    return _load(checkpoint, task_model(checkpoint.config, head))


def load_encoder(path: Path, encoder: Encoder | None = None) -> Loaded[Encoder]:
    """Read the encoder of any model, whatever heads it has.

    Args:
        path: the model.
        encoder: the encoder to fill, made for its configuration; None for a new one, which has a
            pooler where the checkpoint has one. A pooler that the checkpoint lacks keeps its random
            values; the report names it, and the caller decides whether that will do.

    Raises:
        ModelError: as :func:`load_model`, for the encoder's own tensors.
        InputError: the tokenizer's files are malformed.
    """
    checkpoint = open_checkpoint(path)
    encoder = encoder or Encoder(checkpoint.config, pooler=checkpoint.has(_POOLER))
    bare = BareBert(encoder)
    loaded = _load(checkpoint, bare, (_POOLER,), other_heads=True)
    return Loaded(bare.encoder, loaded.tokenizer, loaded.report)


def load_for_pretraining(
    path: Path, next_sentence: bool, change: Callable[[BertConfig], BertConfig]
) -> Loaded[BertForPreTraining]:
    """Read what a checkpoint has of a model to pre-train; heads that it lacks stay random.

    Args:
        path: the model.
        next_sentence: whether the model is to have a pooler and the next-sentence head.
        change: gives the configuration in force from that of the checkpoint.

    Raises:
        ModelError: as :func:`load_model`, for the encoder's own tensors.
        InputError: the tokenizer's files are malformed.
    """
    checkpoint = open_checkpoint(path)
    model = BertForPreTraining(change(checkpoint.config), next_sentence)
    return _load(checkpoint, model, ("cls.", _POOLER), other_heads=True)


def load_any(path: Path) -> Loaded[Model]:
    """Read a model as what it is: with its pre-training heads, its task's head, or without any.

    Raises:
        ModelError: as :func:`load_model`.
        InputError: the tokenizer's files are malformed.
    """
    return load_checkpoint(open_checkpoint(path))


def load_checkpoint(checkpoint: Checkpoint, tokenizer: Tokenizer | None = None) -> Loaded[Model]:
    """:func:`load_any` of what is read already, with its tokenizer or the one given."""
    extra = checkpoint.config.extra
    head = head_of(extra, checkpoint.location.config) if has_task_head(extra) else None
    return _load(checkpoint, blank_model(checkpoint, head), tokenizer=tokenizer)


def blank_model(checkpoint: Checkpoint, head: Head | None) -> Model:
    """The model that a checkpoint is, with random weights.

    Args:
        checkpoint: its configuration and tensors.
        head: the head of its task; None for a model without, or where the head is not understood.
    """
    config = checkpoint.config
    if head is not None:
        return task_model(config, head)
    if checkpoint.has(_MASKED_LM) and not has_task_head(config.extra):
        return BertForPreTraining(config, next_sentence=checkpoint.has(_NEXT))
    if checkpoint.has(_NEXT) and not has_task_head(config.extra):
        return NextSentenceBert(config)
    return BareBert(Encoder(config, pooler=checkpoint.has(_POOLER)))


def _load(
    checkpoint: Checkpoint,
    model: M,
    may_be_missing: tuple[str, ...] = (),
    other_heads: bool = False,
    tokenizer: Tokenizer | None = None,
) -> Loaded[M]:
    """Fill ``model`` and judge the report.

    Args:
        checkpoint: what to fill it from.
        model: the model.
        may_be_missing: beginnings of names that may keep their random values.
        other_heads: whether heads may be left over without a warning.
        tokenizer: instead of the one beside the weights.
    """
    tokenizer = tokenizer or checkpoint.tokenizer()
    report = fill_model(model, checkpoint, table_of(model))
    lost = [name for name in report.missing if not name.startswith(may_be_missing)]
    inner, others = left_over(report.ignored, model)
    for problem, names in (("lacks", lost), ("has the unknown", inner)):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise ModelError(
                f"the checkpoint {problem} tensor {names[0]}{more}",
                file=checkpoint.file,
                mend="config.json and the weights do not belong together, or the weights are not "
                f"those of a whole {type(model).__name__}",
            )
    if not other_heads:
        report = dataclasses.replace(report, assumed=_assumed(checkpoint, model))
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            name = describe(model)["architectures"][0]
            warn(f"no place in a {name}, left out: {', '.join(others[:3])}{more}")
    check_sizes(checkpoint.folder, checkpoint.config, tokenizer)
    if tokenizer.foreign:
        warn(
            f"the tokenizer's {len(tokenizer.foreign)} added tokens are not honoured here: text "
            f"with them is cut into pieces ({', '.join(tokenizer.foreign[:5])})"
        )
    return Loaded(model.eval(), tokenizer, report)


def _assumed(checkpoint: Checkpoint, model: nn.Module) -> Assumed | None:
    """What a model was taken for by its tensors, where its configuration says less or other."""
    named, taken = class_name(checkpoint.config.extra), describe(model)["architectures"][0]
    if named == taken:
        return checkpoint.assumed
    if named and checkpoint.assumed is None:
        return Assumed(f"{checkpoint.location.config.name} says {named}, but by its heads the "
                       f"model is a {taken}")  # fmt: skip
    return None
