"""The graph of a BERT on padded inputs with a mask: the one place where there is padding.

Others feed ONNX graphs with rectangles of ids, so this is written out once more, after the 2018
modeling.py. Everything is read from a model of ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from bertsmith.checkpoints.architectures import Model
from bertsmith.common.errors import ModelError
from bertsmith.export.builder import GraphBuilder, Name
from bertsmith.model.encoder import Encoder, Layer
from bertsmith.model.next_sentence import NextSentenceBert
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.tagger import FeatureTagger
from bertsmith.model.task import POOLED, BertForTask

if TYPE_CHECKING:
    import onnx

# In the order in which transformers passes them.
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# Added to the scores of padding (2018 modeling.py, attention_layer): exp() of it is exactly 0 in
# float32, it overflows in no type, and a row of padding alone stays finite.
_MASKED = -10000.0
_ZERO = np.array(0, np.int64)


def build_graph(model: Model) -> onnx.ModelProto:
    """The graph of an encoder or of a model with its heads, for any batch and length.

    Inputs ``[batch, sequence]`` int64 (``[batch, choices, sequence]`` for multiple choice); outputs
    named as those of transformers' classes.

    Raises:
        ModelError: a feature-based tagger, which is no BERT above its encoder.
    """
    if isinstance(model, FeatureTagger):
        raise ModelError("feature-based taggers are not exported: their BiLSTM is no part of BERT")
    graph = GraphBuilder()
    choices = isinstance(model, BertForTask) and model.spec.kind == "choice"
    shape: list[str | int] = ["batch", "choices", "sequence"] if choices else ["batch", "sequence"]
    ids, mask, segments = INPUTS
    if choices:  # [batch, choices, sequence] -> [batch * choices, sequence]
        length = graph.add("Shape", ids, start=2, end=3)
        flat = graph.add("Concat", graph.integers(-1), length, axis=0)
        ids, mask, segments = (graph.add("Reshape", name, flat) for name in INPUTS)
    hidden = _encoder(graph, model.encoder, ids, mask, segments)
    outputs = _heads(graph, model, hidden)
    return graph.model(dict.fromkeys(INPUTS, shape), outputs, version("bertsmith"))


def _encoder(graph: GraphBuilder, encoder: Encoder, ids: Name, mask: Name, segments: Name) -> Name:
    parts = encoder.embeddings
    words = graph.add("Gather", graph.weight("word_embeddings", parts.word.weight), ids)
    kinds = graph.add("Gather", graph.weight("segment_embeddings", parts.segment.weight), segments)
    length = graph.add("Shape", ids, start=1, end=2)
    table = graph.weight("position_embeddings", parts.position.weight)
    places = graph.add("Slice", table, graph.integers(0), length, graph.integers(0))
    x = graph.add("Add", graph.add("Add", words, kinds), places)
    x = _norm(graph, x, parts.norm, "embeddings.norm")
    wide = graph.add("Unsqueeze", mask, graph.integers(1))
    wide = graph.add("Unsqueeze", wide, graph.integers(2))  # [batch, 1, 1, sequence]
    padding = graph.add("Sub", graph.number(1.0), graph.add("Cast", wide, to=1))
    bias = graph.add("Mul", padding, graph.number(_MASKED))
    for number, layer in enumerate(encoder.layers):
        assert isinstance(layer, Layer)
        x = _layer(graph, layer, x, bias, f"layer.{number}", encoder.config.hidden_act)
    return x


def _layer(
    graph: GraphBuilder, layer: Layer, x: Name, bias: Name, name: str, activation: str
) -> Name:
    y = _attention(graph, layer, x, bias, name)
    y = _linear(graph, y, layer.attention_output, f"{name}.attention_output")
    x = _norm(graph, graph.add("Add", y, x), layer.attention_norm, f"{name}.attention_norm")
    y = _linear(graph, x, layer.feed_forward, f"{name}.feed_forward")
    y = _ACTIVATIONS[activation](graph, y)
    y = _linear(graph, y, layer.feed_forward_output, f"{name}.feed_forward_output")
    return _norm(graph, graph.add("Add", y, x), layer.output_norm, f"{name}.output_norm")


def _attention(graph: GraphBuilder, layer: Layer, x: Name, bias: Name, name: str) -> Name:
    heads, size = layer.heads, layer.head_size
    split = graph.integers(0, 0, heads, size)
    parts = []
    weights, biases = layer.qkv.weight.chunk(3), layer.qkv.bias.chunk(3)
    for part, weight, offset in zip(("query", "key", "value"), weights, biases, strict=True):
        # Three products: this is the form that optimisers know as attention.
        product = graph.add("MatMul", x, graph.weight(f"{name}.{part}.weight", weight.T))
        y = graph.add("Add", product, graph.weight(f"{name}.{part}.bias", offset))
        order = [0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]
        parts.append(graph.add("Transpose", graph.add("Reshape", y, split), perm=order))
    query, key, value = parts  # [batch, heads, sequence, size], the key's last two turned
    scores = graph.add("MatMul", query, key)
    scores = graph.add("Div", scores, graph.number(math.sqrt(size)))
    chances = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
    y = graph.add("Transpose", graph.add("MatMul", chances, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", y, graph.integers(0, 0, heads * size))


def _heads(graph: GraphBuilder, model: Model, x: Name) -> dict[Name, list[str | int]]:
    if isinstance(model, BertForPreTraining):
        return _pretraining(graph, model, x)
    if isinstance(model, BertForTask):
        return _task(graph, model, x)
    if isinstance(model, NextSentenceBert):
        pairs = _linear(graph, _pooled(graph, model.encoder, x), model.next_sentence.dense,
                        "next_sentence.dense")  # fmt: skip
        graph.called("logits", pairs)
        return {"logits": ["batch", 2]}
    width = model.config.hidden_size
    outputs: dict[Name, list[str | int]] = {"last_hidden_state": ["batch", "sequence", width]}
    graph.called("last_hidden_state", x)
    if model.encoder.pooler is not None:
        graph.called("pooler_output", _pooled(graph, model.encoder, x))
        outputs["pooler_output"] = ["batch", width]
    return outputs


def _pretraining(
    graph: GraphBuilder, model: BertForPreTraining, x: Name
) -> dict[Name, list[str | int]]:
    head, pairs = model.masked_lm, model.next_sentence
    y = _linear(graph, x, head.dense, "masked_lm.dense")
    y = _ACTIVATIONS[model.config.hidden_act](graph, y)
    y = _norm(graph, y, head.norm, "masked_lm.norm")
    if head.decoder is None:
        matrix = graph.add("Transpose", "word_embeddings", perm=[1, 0])
    else:
        matrix = graph.weight("masked_lm.decoder", head.decoder.weight.T)
    y = graph.add("Add", graph.add("MatMul", y, matrix), graph.weight("masked_lm.bias", head.bias))
    name = "logits" if pairs is None else "prediction_logits"
    graph.called(name, y)
    outputs: dict[Name, list[str | int]] = {name: ["batch", "sequence", model.config.vocab_size]}
    if pairs is not None:
        pooled = _pooled(graph, model.encoder, x)
        y = _linear(graph, pooled, pairs.dense, "next_sentence.dense")
        graph.called("seq_relationship_logits", y)
        outputs["seq_relationship_logits"] = ["batch", 2]
    return outputs


def _task(graph: GraphBuilder, model: BertForTask, x: Name) -> dict[Name, list[str | int]]:
    kind, width = model.spec.kind, model.spec.outputs
    y = _pooled(graph, model.encoder, x) if kind in POOLED else x
    y = _linear(graph, y, model.head, "head")
    if kind == "span":
        for name, part in zip(
            ("start_logits", "end_logits"), graph.add_many("Split", [y], 2, axis=2), strict=True
        ):
            graph.called(name, graph.add("Squeeze", part, graph.integers(2)))
        return {name: ["batch", "sequence"] for name in ("start_logits", "end_logits")}
    if kind == "choice":  # [batch * choices, 1] -> [batch, choices]
        count = graph.add("Shape", INPUTS[0], start=1, end=2)
        y = graph.add("Reshape", y, graph.add("Concat", graph.integers(-1), count, axis=0))
        graph.called("logits", y)
        return {"logits": ["batch", "choices"]}
    graph.called("logits", y)
    return {"logits": ["batch", "sequence", width] if kind == "tokens" else ["batch", width]}


def _pooled(graph: GraphBuilder, encoder: Encoder, x: Name) -> Name:
    assert encoder.pooler is not None
    first = graph.add("Gather", x, graph.weight("first", _ZERO), axis=1)  # [batch, hidden]
    return graph.add("Tanh", _linear(graph, first, encoder.pooler, "pooler"))


def _linear(graph: GraphBuilder, x: Name, layer: nn.Linear, name: str) -> Name:
    product = graph.add("MatMul", x, graph.weight(f"{name}.weight", layer.weight.T))
    return graph.add("Add", product, graph.weight(f"{name}.bias", layer.bias))


def _norm(graph: GraphBuilder, x: Name, norm: nn.LayerNorm, name: str) -> Name:
    weight, bias = (
        graph.weight(f"{name}.{part}", getattr(norm, part)) for part in ("weight", "bias")
    )
    return graph.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=norm.eps)


def _gelu(graph: GraphBuilder, x: Name) -> Name:
    erf = graph.add("Erf", graph.add("Div", x, graph.number(math.sqrt(2.0))))
    both = graph.add("Mul", x, graph.add("Add", erf, graph.number(1.0)))
    return graph.add("Mul", both, graph.number(0.5))


def _gelu_tanh(graph: GraphBuilder, x: Name) -> Name:
    cube = graph.add("Mul", graph.add("Mul", x, graph.add("Mul", x, x)), graph.number(0.044715))
    inner = graph.add("Mul", graph.add("Add", x, cube), graph.number(math.sqrt(2.0 / math.pi)))
    both = graph.add("Mul", x, graph.add("Add", graph.add("Tanh", inner), graph.number(1.0)))
    return graph.add("Mul", both, graph.number(0.5))


def _silu(graph: GraphBuilder, x: Name) -> Name:
    return graph.add("Mul", x, graph.add("Sigmoid", x))


# The same names as in model/activations.py; a test sees to it.
_ACTIVATIONS: dict[str, Callable[[GraphBuilder, Name], Name]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": lambda graph, x: graph.add("Relu", x),
    "silu": _silu,
    "swish": _silu,
    "tanh": lambda graph, x: graph.add("Tanh", x),
}
