"""The tensors against the configuration: what is missing, left over, or of another shape."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor

from bertsmith.checkpoints.architectures import Model, describe, has_task_head, table_of
from bertsmith.checkpoints.checkpoint import Checkpoint
from bertsmith.checkpoints.names import (
    DECODER,
    TIED_COPIES,
    UNTIED_COPIES,
    to_hugging_face,
)
from bertsmith.checkpoints.weights import left_over
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, counted, some
from bertsmith.doctor.heads import HEADS, MASKED_LM
from bertsmith.doctor.numbers import same_numbers
from bertsmith.model.bare import BareBert
from bertsmith.model.pretraining import BertForPreTraining

_LAYER = re.compile(r"bert\.encoder\.layer\.(\d{1,4})\.")
_TOGETHER = "config.json and the weights do not belong together: take both from one model"


def stored_layers(checkpoint: Checkpoint) -> int:
    """How many layers there are tensors of."""
    found = [_LAYER.match(name) for name in checkpoint.tensors]
    return max((int(one[1]) + 1 for one in found if one), default=0)


def layers(checkpoint: Checkpoint) -> Observations:
    """Layers of the weights against those of the configuration."""
    said, there = checkpoint.config.num_hidden_layers, stored_layers(checkpoint)
    if said != there:
        yield Finding(
            Grade.BROKEN,
            f"the configuration says {counted(said, 'layer')}, and the weights have {there:,}",
            checkpoint.file.name, _TOGETHER,
        )  # fmt: skip


def tensors(checkpoint: Checkpoint, model: Model) -> Observations:
    """Tensors that ``model`` lacks, has no use for, or has in another shape.

    Args:
        checkpoint: the tensors.
        model: what they are to fill; only the shapes of its parameters are looked at.
    """
    where, stored = checkpoint.file.name, checkpoint.tensors
    expected = to_hugging_face(model.state_dict(), table_of(model))
    copies = {a: b for a, b in _copies(model).items() if a in stored}
    there = {*stored, *copies.values()}
    absent = [name for name in expected if name not in there]
    # A whole head that is missing is a finding of the heads.
    absent = [name for name in absent if name.startswith("bert.") or _has_part(checkpoint, name)]
    if absent:
        yield Finding(
            Grade.BROKEN, f"{counted(len(absent), 'tensor is', 'tensors are')} missing: "
            f"{some(absent)}", where, _TOGETHER,
        )  # fmt: skip
    yield from _shapes(stored, expected, where)
    left = [name for name in stored if name not in expected and name not in copies]
    inner, others = left_over(left, model)
    if isinstance(model, BareBert) and has_task_head(checkpoint.config.extra):
        # A head that is not understood is a finding of its own.
        others = [name for name in others if not name.startswith(tuple(HEADS))]
    yield from _left_over(inner, others, model, where)
    if checkpoint.renamed:
        old, new = next(iter(checkpoint.renamed.items()))
        yield Fact("renamed tensors", len(checkpoint.renamed),
                   f"{len(checkpoint.renamed)} ({old} is {new})")  # fmt: skip
    if checkpoint.skipped:
        why = ", ".join(dict.fromkeys(checkpoint.skipped.values()))
        yield Fact("skipped tensors", checkpoint.skipped, f"{len(checkpoint.skipped)} ({why})")


def unread(stored: Mapping[str, Tensor], model: Model) -> set[str]:
    """The tensors beside the encoder that ``model`` has no place for."""
    expected = to_hugging_face(model.state_dict(), table_of(model))
    left = [name for name in stored if name not in expected and name not in _copies(model)]
    return set(left_over(left, model)[1])


def decoder(checkpoint: Checkpoint) -> Observations:
    """Whether the masked-LM head's decoder is the word embedding."""
    stored, where = checkpoint.tensors, checkpoint.file.name
    tied = checkpoint.config.tie_word_embeddings
    if not checkpoint.has(MASKED_LM):
        return
    yield Fact("decoder", "tied" if tied else "untied",
               "the word embedding" if tied else "a matrix of its own")  # fmt: skip
    if not tied:
        yield from _own_bias(checkpoint)
        return
    for copy, original in TIED_COPIES.items():
        a, b = stored.get(copy), stored.get(original)
        if a is None or b is None:
            continue
        if not same_numbers(a, b):
            yield Finding(
                Grade.BROKEN, f"{copy} differs from {original}, although the two are one in BERT",
                where,
                "if the model was trained with a decoder of its own, say so in config.json: "
                '"tie_word_embeddings": false',
            )  # fmt: skip
        elif copy == DECODER:
            size = a.numel() * a.element_size() / 1e6
            yield Finding(
                Grade.NOTE,
                f"the word embedding is stored a second time, as the decoder: {size:,.1f} MB",
                where,
                "bertsmith convert writes it once",
            )


def _own_bias(checkpoint: Checkpoint) -> Observations:
    """The bias of an own decoder, which programs store under one name, the other, or both."""
    (copy, original), stored = next(iter(UNTIED_COPIES.items())), checkpoint.tensors
    if original not in stored and copy in stored:
        yield Finding(Grade.NOTE, f"there is no {original}: {copy} stands in",
                      checkpoint.file.name)  # fmt: skip
    elif copy in stored and not same_numbers(stored[copy], stored[original]):
        yield Finding(Grade.NOTE, f"{copy} is idle beside {original}: bertsmith does not keep it",
                      checkpoint.file.name)  # fmt: skip


def _copies(model: Model) -> dict[str, str]:
    if not isinstance(model, BertForPreTraining):
        return {}
    return TIED_COPIES if model.config.tie_word_embeddings else UNTIED_COPIES


def _has_part(checkpoint: Checkpoint, name: str) -> bool:
    """Whether another tensor of the head that ``name`` is of is there."""
    return any(name.startswith(one) and checkpoint.has(one) for one in HEADS)


def _shapes(stored: dict[str, Tensor], expected: dict[str, Tensor], where: str) -> Observations:
    wrong = [
        f"{name} is {list(stored[name].shape)}, not {list(one.shape)}"
        for name, one in expected.items()
        if name in stored and stored[name].shape != one.shape
    ]
    if wrong:
        noun = counted(len(wrong), "tensor has", "tensors have")
        yield Finding(Grade.BROKEN, f"{noun} another shape than the configuration says: "
                      f"{some(wrong)}", where, _TOGETHER)  # fmt: skip


def _left_over(inner: list[str], others: list[str], model: Model, where: str) -> Observations:
    """Of the encoder: another model's. Beside it: of no use to this class."""
    if inner:
        yield Finding(
            Grade.BROKEN,
            f"{counted(len(inner), 'tensor')} of an encoder that config.json does not describe: "
            f"{some(inner)}",
            where, _TOGETHER,
        )  # fmt: skip
    if others:
        name = describe(model)["architectures"][0]
        yield Finding(
            Grade.WARNING,
            f"{counted(len(others), 'tensor')} that a {name} has no place for: {some(others)}",
            where,
            "every command leaves them out; if they are the head of another class, name it under "
            "architectures in the configuration",
        )
