"""Weights of a model from a checkpoint, with a report; and into a safetensors file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from bertsmith.checkpoints.architectures import Assumed, Model, table_of
from bertsmith.checkpoints.checkpoint import Checkpoint
from bertsmith.checkpoints.checksums import write_tensors
from bertsmith.checkpoints.locate import TENSORFLOW
from bertsmith.checkpoints.names import (
    DECODER,
    TIED_COPIES,
    UNTIED_COPIES,
    Table,
    from_hugging_face,
    of_encoder,
    to_hugging_face,
)
from bertsmith.common.errors import ModelError
from bertsmith.model.encoder import Encoder

# Others hold numbers only together with scales that stand elsewhere, or none at all.
WEIGHT_TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
QUANTISED = "quantised weights are not read: take the model's float32 weights"
_POOLER = "bert.pooler.dense."


@dataclass(frozen=True)
class LoadReport:
    """What became of the tensors of a checkpoint, and of the parameters of a model.

    Names of tensors are Hugging Face's present ones.
    """

    found: tuple[str, ...]  # tensors that are now in the model, or are copies of such
    missing: tuple[str, ...]  # tensors that the checkpoint lacks
    new: tuple[str, ...]  # parameters of the model, by our names, that keep their initial values
    ignored: tuple[str, ...]  # tensors that no parameter takes
    renamed: Mapping[str, str] = field(default_factory=dict)  # stored name -> present name
    skipped: Mapping[str, str] = field(default_factory=dict)  # stored name -> why it is no weight
    layout: str = "safetensors"
    stand_ins: Mapping[str, str] = field(default_factory=dict)  # missing tensor -> the one taken
    idle: tuple[str, ...] = ()  # tensors of the class that take no part in what it computes
    assumed: Assumed | None = None  # the class that it was taken for, where that was a guess

    def as_text(self) -> str:
        """The report in one line for people."""
        parts = [f"{len(self.found)} tensors from {self.layout}"]
        if self.renamed and self.layout != TENSORFLOW:  # whose names are all of their own
            stored, name = next(iter(self.renamed.items()))
            parts.append(f"{len(self.renamed)} renamed ({stored} is {name})")
        if self.skipped:
            reasons = ", ".join(dict.fromkeys(self.skipped.values()))
            parts.append(f"{len(self.skipped)} skipped ({reasons})")
        if self.ignored:
            parts.append(f"{len(self.ignored)} ignored ({_groups(self.ignored)})")
        parts += [f"no {name}: {other} stands in" for name, other in self.stand_ins.items()]
        if self.idle:
            parts.append(f"idle and not kept: {', '.join(self.idle)}")
        if self.new:
            parts.append(f"new and random: {', '.join(dict.fromkeys(map(_layer, self.new)))}")
        if self.assumed:
            parts += [one for one in (self.assumed.text, self.assumed.mend) if one]
        return "weights: " + "; ".join(parts)


def write_weights(file: Path, model: Model) -> None:
    """Write the parameters, each stored once: a decoder that is the word embedding has no copy."""
    table = table_of(model)
    with torch.no_grad():
        named = to_hugging_face(model.state_dict(), table)
        if _copies(table) is UNTIED_COPIES:  # transformers asks for the idle bias, too
            named |= {copy: named[original] for copy, original in UNTIED_COPIES.items()}
        # Copies: parts of a joined matrix share memory, which safetensors refuses.
        whole = {name: tensor.cpu().clone() for name, tensor in named.items()}
    write_tensors(file, whole)


def fill_model(model: nn.Module, checkpoint: Checkpoint, table: Table) -> LoadReport:
    """Put a checkpoint's tensors into ``model``; what it lacks keeps its initial values.

    Args:
        model: whose parameters are filled.
        checkpoint: the tensors.
        table: the parameters to fill, by our names, with theirs.

    Raises:
        ModelError: a tensor has another shape than the configuration says, or is not of floating
            point numbers, or a decoder differs from the embedding that it should be.
    """
    copies = _copies(table)
    _check_types(checkpoint, {part for parts in table.values() for part in parts} | copies.keys())
    tensors, stand_ins, idle = _without_copies(checkpoint, copies)
    ours = from_hugging_face(tensors, table)
    state = model.state_dict()
    _check_shapes(tensors, to_hugging_face(state, table), checkpoint.file)
    with torch.no_grad():
        for name, tensor in ours.items():
            state[name].copy_(tensor)
    taken = {part for name in ours for part in table[name]}
    taken |= {copy for copy, original in copies.items() if original in taken}
    return LoadReport(
        found=tuple(name for name in checkpoint.tensors if name in taken),
        missing=tuple(part for parts in table.values() for part in parts if part not in tensors),
        new=tuple(name for name in table if name not in ours),
        ignored=tuple(name for name in checkpoint.tensors if name not in taken),
        renamed=checkpoint.renamed,
        skipped=checkpoint.skipped,
        layout=checkpoint.layout,
        stand_ins=stand_ins,
        idle=idle,
    )


def left_over(names: Iterable[str], model: nn.Module) -> tuple[list[str], list[str]]:
    """The tensors that no parameter of ``model`` takes and that call for a word.

    Returns:
        Those of an encoder of other mathematics, which its configuration does not describe; and
        those beside the encoder. A pooler that the model does not read is in neither: other
        programs store one with every model.
    """
    encoder = model.encoder
    assert isinstance(encoder, Encoder)
    pooler = (_POOLER,) if encoder.pooler is None else ()
    rest = [name for name in names if not name.startswith(pooler)]
    return [n for n in rest if of_encoder(n)], [n for n in rest if not of_encoder(n)]


def _without_copies(
    checkpoint: Checkpoint, copies: Mapping[str, str]
) -> tuple[dict[str, Tensor], dict[str, str], tuple[str, ...]]:
    """The tensors without copies, which are compared with their originals or stand in for them.

    Returns:
        The tensors; original that is missing -> copy that stands in; and copies that differ from
        their originals where that changes nothing.
    """
    tensors, stand_ins, idle = dict(checkpoint.tensors), {}, []
    for copy, original in copies.items():
        a, b = tensors.pop(copy, None), tensors.get(original)
        if a is None:
            continue
        if b is None:
            tensors[original] = a
            stand_ins[original] = copy
        elif a.shape == b.shape and torch.equal(a, b):
            continue
        elif not checkpoint.config.tie_word_embeddings:
            idle.append(copy)
        else:
            raise ModelError(
                f"tensor {copy} differs from {original}, although the two are one in BERT",
                file=checkpoint.file,
                mend="if the model was trained with a decoder of its own, say so in config.json: "
                '"tie_word_embeddings": false',
            )
    return tensors, stand_ins, tuple(idle)


def _copies(table: Table) -> dict[str, str]:
    """Copies, with their originals, of tensors that the table names."""
    names = {part for parts in table.values() for part in parts}
    if "cls.predictions.transform.dense.weight" not in names:
        return {}
    return UNTIED_COPIES if DECODER in names else TIED_COPIES


def _check_types(checkpoint: Checkpoint, names: set[str]) -> None:
    for name, tensor in checkpoint.tensors.items():
        if name in names and tensor.dtype not in WEIGHT_TYPES:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise ModelError(
                f"tensor {name} holds numbers of type {kind}, not weights", file=checkpoint.file,
                mend=QUANTISED,
            )  # fmt: skip


def _check_shapes(tensors: dict[str, Tensor], expected: dict[str, Tensor], file: Path) -> None:
    for name, tensor in expected.items():
        if name not in tensors:
            continue
        if tensors[name].shape != tensor.shape:
            raise ModelError(
                f"tensor {name} has shape {list(tensors[name].shape)}, but the configuration "
                f"says {list(tensor.shape)}",
                file=file,
                mend="config.json and the weights do not belong together: take both from one model",
            )
        wide = tensors[name].dtype == torch.float64
        if wide and not torch.equal(tensors[name].float().double(), tensors[name]):
            raise ModelError(
                f"tensor {name} is of float64 and has numbers that float32 does not", file=file,
                mend="round the weights to float32 yourself, if that is what you want",
            )  # fmt: skip


def _groups(names: Iterable[str]) -> str:
    """The first parts of the names, each once."""
    return ", ".join(dict.fromkeys(".".join(name.split(".")[:2]) for name in names))


def _layer(parameter: str) -> str:
    return parameter.rpartition(".")[0].removeprefix("encoder.") or parameter
