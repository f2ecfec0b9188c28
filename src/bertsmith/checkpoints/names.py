"""One reversible table between our parameter names and those of Hugging Face's BERT."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

# A parameter of ours is theirs unchanged, or three of theirs joined along the first dimension.
Table = dict[str, tuple[str, ...]]

# Copies that other programs store although they are bound to another tensor, or are no weights.
ALIASES = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
BUFFERS = ("bert.embeddings.position_ids", "bert.embeddings.token_type_ids")

_EMBEDDINGS = {
    "encoder.embeddings.word.weight": "bert.embeddings.word_embeddings.weight",
    "encoder.embeddings.position.weight": "bert.embeddings.position_embeddings.weight",
    "encoder.embeddings.segment.weight": "bert.embeddings.token_type_embeddings.weight",
    "encoder.embeddings.norm.weight": "bert.embeddings.LayerNorm.weight",
    "encoder.embeddings.norm.bias": "bert.embeddings.LayerNorm.bias",
}
_LAYER = {
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention_output": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "feed_forward": ("intermediate.dense",),
    "feed_forward_output": ("output.dense",),
    "output_norm": ("output.LayerNorm",),
}
_HEADS = {
    "encoder.pooler.weight": "bert.pooler.dense.weight",
    "encoder.pooler.bias": "bert.pooler.dense.bias",
    "masked_lm.dense.weight": "cls.predictions.transform.dense.weight",
    "masked_lm.dense.bias": "cls.predictions.transform.dense.bias",
    "masked_lm.norm.weight": "cls.predictions.transform.LayerNorm.weight",
    "masked_lm.norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "masked_lm.bias": "cls.predictions.bias",
    "next_sentence.dense.weight": "cls.seq_relationship.weight",
    "next_sentence.dense.bias": "cls.seq_relationship.bias",
}


def name_table(layers: int) -> Table:
    """Our parameter names, in order, with theirs, for a model of ``layers`` layers."""
    table: Table = {ours: (theirs,) for ours, theirs in _EMBEDDINGS.items()}
    for number in range(layers):
        for ours, theirs in _LAYER.items():
            for kind in ("weight", "bias"):
                table[f"encoder.layers.{number}.{ours}.{kind}"] = tuple(
                    f"bert.encoder.layer.{number}.{name}.{kind}" for name in theirs
                )
    return table | {ours: (theirs,) for ours, theirs in _HEADS.items()}


def to_hugging_face(tensors: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Tensors under their names; joined ones are split into views, and no bit changes.

    Args:
        tensors: one tensor for each of our parameters: the parameters themselves, gradients, or
            anything of the same shapes.
        layers: number of layers.

    Raises:
        KeyError: a parameter is absent.
    """
    renamed: dict[str, Tensor] = {}
    for ours, theirs in name_table(layers).items():
        parts = tensors[ours].chunk(len(theirs))
        renamed.update(zip(theirs, parts, strict=True))
    return renamed


def from_hugging_face(tensors: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """The way back from :func:`to_hugging_face`; a parameter whose parts are absent is left out."""
    renamed: dict[str, Tensor] = {}
    for ours, theirs in name_table(layers).items():
        if all(name in tensors for name in theirs):
            parts = [tensors[name] for name in theirs]
            renamed[ours] = parts[0] if len(parts) == 1 else torch.cat(parts)
    return renamed
