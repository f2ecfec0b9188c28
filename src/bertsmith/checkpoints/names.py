"""One reversible table between our parameter names and those of Hugging Face's BERT."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

# A parameter of ours is theirs unchanged, or three of theirs joined along the first dimension.
Table = dict[str, tuple[str, ...]]

DECODER, DECODER_BIAS = "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"
_BIAS = "cls.predictions.bias"
# Copies that other programs store, copy -> original: a decoder that is the word embedding has two;
# beside a decoder of its own, which has its own bias, that of the head is idle.
TIED_COPIES = {DECODER: "bert.embeddings.word_embeddings.weight", DECODER_BIAS: _BIAS}
UNTIED_COPIES = {_BIAS: DECODER_BIAS}

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
_POOLER = {
    "encoder.pooler.weight": "bert.pooler.dense.weight",
    "encoder.pooler.bias": "bert.pooler.dense.bias",
}
_MASKED_LM = {
    "masked_lm.dense.weight": "cls.predictions.transform.dense.weight",
    "masked_lm.dense.bias": "cls.predictions.transform.dense.bias",
    "masked_lm.norm.weight": "cls.predictions.transform.LayerNorm.weight",
    "masked_lm.norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "masked_lm.bias": _BIAS,
}
_UNTIED = {"masked_lm.bias": DECODER_BIAS, "masked_lm.decoder.weight": DECODER}
# Where the encoder's tensors lie, by Hugging Face's names and by Google's.
_OF_ENCODER = ("bert.", "bert/")
_NEXT_SENTENCE = {
    "next_sentence.dense.weight": "cls.seq_relationship.weight",
    "next_sentence.dense.bias": "cls.seq_relationship.bias",
}


def of_encoder(name: str) -> bool:
    """Whether a tensor, known or unknown, is one of the encoder: without it, its vectors differ."""
    return name.startswith(_OF_ENCODER)


def encoder_table(layers: int, pooler: bool = True) -> Table:
    """Our names of an encoder's parameters, in order, with theirs."""
    table: Table = {ours: (theirs,) for ours, theirs in _EMBEDDINGS.items()}
    for number in range(layers):
        for ours, theirs in _LAYER.items():
            for kind in ("weight", "bias"):
                table[f"encoder.layers.{number}.{ours}.{kind}"] = tuple(
                    f"bert.encoder.layer.{number}.{name}.{kind}" for name in theirs
                )
    return table | ({ours: (theirs,) for ours, theirs in _POOLER.items()} if pooler else {})


def pretraining_table(layers: int, next_sentence: bool = True, tied: bool = True) -> Table:
    """The names of a model with the masked-LM head, and with the pooler's head or without.

    Args:
        layers: layers of the encoder.
        next_sentence: whether there are a pooler and the next-sentence head.
        tied: whether the decoder is the word embedding.
    """
    heads = _MASKED_LM | ({} if tied else _UNTIED)
    heads |= _NEXT_SENTENCE if next_sentence else {}
    table = encoder_table(layers, next_sentence)
    return table | {ours: (theirs,) for ours, theirs in heads.items()}


def next_sentence_table(layers: int) -> Table:
    """The names of an encoder with the next-sentence head alone."""
    return encoder_table(layers) | {ours: (theirs,) for ours, theirs in _NEXT_SENTENCE.items()}


def task_table(layers: int, pooler: bool, layer: str) -> Table:
    """The names of a task's model, whose own layer they call ``classifier`` or ``qa_outputs``."""
    own: Table = {f"head.{kind}": (f"{layer}.{kind}",) for kind in ("weight", "bias")}
    return encoder_table(layers, pooler) | own


def tagger_table(layers: int, lstm_layers: int) -> Table:
    """The names of a feature-based model; its BiLSTM is one that they do not have."""
    parts = [
        f"lstm.{kind}_{way}_l{number}{direction}"
        for number in range(lstm_layers)
        for direction in ("", "_reverse")
        for kind in ("weight", "bias")
        for way in ("ih", "hh")
    ]
    return task_table(layers, False, "classifier") | {name: (name,) for name in parts}


def to_hugging_face(tensors: Mapping[str, Tensor], table: Table) -> dict[str, Tensor]:
    """Tensors under their names; joined ones are split into views, and no bit changes.

    Args:
        tensors: one tensor for each of our parameters: the parameters themselves, gradients, or
            anything of the same shapes.
        table: the names.

    Raises:
        KeyError: a parameter is absent.
    """
    renamed: dict[str, Tensor] = {}
    for ours, theirs in table.items():
        parts = tensors[ours].chunk(len(theirs))
        renamed.update(zip(theirs, parts, strict=True))
    return renamed


def from_hugging_face(tensors: Mapping[str, Tensor], table: Table) -> dict[str, Tensor]:
    """The way back from :func:`to_hugging_face`; a parameter whose parts are absent is left out."""
    renamed: dict[str, Tensor] = {}
    for ours, theirs in table.items():
        if all(name in tensors for name in theirs):
            parts = [tensors[name] for name in theirs]
            renamed[ours] = parts[0] if len(parts) == 1 else torch.cat(parts)
    return renamed
