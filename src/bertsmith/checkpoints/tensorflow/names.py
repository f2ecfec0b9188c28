"""One reversible table between the variables of Google's 2018 code and Hugging Face's names.

Source: ``modeling.py``, ``run_pretraining.py``, ``run_classifier.py`` and ``run_squad.py`` of
google-research/bert; ``modeling_bert.py`` of transformers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertsmith.checkpoints.tensorflow.bundle import TensorBundle
from bertsmith.common.errors import ModelError

# Google's name, Hugging Face's; `*` is the number of a layer. A dense layer or LayerNorm is a pair.
_EMBEDDING = (
    ("bert/embeddings/word_embeddings", "bert.embeddings.word_embeddings.weight"),
    ("bert/embeddings/position_embeddings", "bert.embeddings.position_embeddings.weight"),
    ("bert/embeddings/token_type_embeddings", "bert.embeddings.token_type_embeddings.weight"),
)
_NORM = (
    ("bert/embeddings/LayerNorm", "bert.embeddings.LayerNorm"),
    ("bert/encoder/layer_*/attention/output/LayerNorm",
     "bert.encoder.layer.*.attention.output.LayerNorm"),
    ("bert/encoder/layer_*/output/LayerNorm", "bert.encoder.layer.*.output.LayerNorm"),
    ("cls/predictions/transform/LayerNorm", "cls.predictions.transform.LayerNorm"),
)  # fmt: skip
_DENSE = (
    ("bert/encoder/layer_*/attention/self/query", "bert.encoder.layer.*.attention.self.query"),
    ("bert/encoder/layer_*/attention/self/key", "bert.encoder.layer.*.attention.self.key"),
    ("bert/encoder/layer_*/attention/self/value", "bert.encoder.layer.*.attention.self.value"),
    ("bert/encoder/layer_*/attention/output/dense", "bert.encoder.layer.*.attention.output.dense"),
    ("bert/encoder/layer_*/intermediate/dense", "bert.encoder.layer.*.intermediate.dense"),
    ("bert/encoder/layer_*/output/dense", "bert.encoder.layer.*.output.dense"),
    ("bert/pooler/dense", "bert.pooler.dense"),
    ("cls/predictions/transform/dense", "cls.predictions.transform.dense"),
)
# Heads that are matrices with a row for each output, as Hugging Face has them, not kernels.
_HEAD = (
    ("cls/predictions/output_bias", "cls.predictions.bias"),
    ("cls/seq_relationship/output_weights", "cls.seq_relationship.weight"),
    ("cls/seq_relationship/output_bias", "cls.seq_relationship.bias"),
    ("cls/squad/output_weights", "qa_outputs.weight"),
    ("cls/squad/output_bias", "qa_outputs.bias"),
    ("output_weights", "classifier.weight"),
    ("output_bias", "classifier.bias"),
)

_OPTIMIZER = "state of the optimizer"
_NOT_WEIGHTS = (
    (re.compile(r"(.*/)?global_step"), "a counter of steps"),
    (re.compile(r".*_power(_\d+)?"), _OPTIMIZER),
    (re.compile(r".*/(adam|lamb)_[mv]"), _OPTIMIZER),
    (re.compile(r".*/(Adam|LAMB|LAMBOptimizer)(_\d+)?(/[mv])?"), _OPTIMIZER),
    (re.compile(r"(.*/)?AdamWeightDecayOptimizer.*"), _OPTIMIZER),
)
_OBJECTS = "/.ATTRIBUTES/VARIABLE_VALUE"


@dataclass(frozen=True)
class _Rule:
    """A variable's two names, and whether one side's matrix is the other's transposed."""

    google: str
    hugging_face: str
    transposed: bool = False


def _rules() -> Iterator[_Rule]:
    """The table: embeddings, LayerNorms, dense layers, heads."""
    for google, theirs in _EMBEDDING:
        yield _Rule(google, theirs)
    for google, theirs in _NORM:
        yield _Rule(f"{google}/gamma", f"{theirs}.weight")
        yield _Rule(f"{google}/beta", f"{theirs}.bias")
    for google, theirs in _DENSE:
        yield _Rule(f"{google}/kernel", f"{theirs}.weight", transposed=True)
        yield _Rule(f"{google}/bias", f"{theirs}.bias")
    for google, theirs in _HEAD:
        yield _Rule(google, theirs)


RULES = tuple(_rules())
_NUMBER = re.compile(r"(?<=layer[_.])(0|[1-9]\d*)(?=[/.])", re.ASCII)
_BY_GOOGLE = {rule.google: rule for rule in RULES}
_BY_HUGGING_FACE = {rule.hugging_face: rule for rule in RULES}


def to_hugging_face_names(
    bundle: TensorBundle,
) -> tuple[dict[str, NDArray[Any]], dict[str, str], dict[str, str]]:
    """Read a checkpoint's weights under Hugging Face's names.

    Returns:
        The tensors in C order by Hugging Face's names, kernels (``[in, out]``) transposed to
        ``[out, in]``, and unknown variables by their own names; stored name -> new name; and
        stored name -> why it is no weight.

    Raises:
        ModelError: a file of data is missing or damaged, or the names are those of TensorFlow 2's
            checkpoints of objects.
    """
    bundle.check_total()
    tensors: dict[str, NDArray[Any]] = {}
    renamed: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for name, entry in bundle.entries.items():
        rule, number = _find(name, _BY_GOOGLE)
        if rule is not None:
            renamed[name] = rule.hugging_face.replace("*", number)
            tensors[renamed[name]] = _turned(bundle.read(name), rule)
        elif reason := _reason(name, entry.dtype):
            skipped[name] = reason
        elif name.endswith(_OBJECTS):
            raise ModelError(
                f"the checkpoint is one of objects, as TensorFlow 2 saves them ({name}), not one "
                "of the variables of Google's 2018 code", file=bundle.prefix,
                mend="take the model in Hugging Face's layout or as bert_model.ckpt of 2018",
            )  # fmt: skip
        else:
            tensors[name] = bundle.read(name)
    return tensors, renamed, skipped


def to_google_names(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The way back from :func:`to_hugging_face_names`, in the order given.

    Raises:
        ModelError: Google's code has no such variable.
    """
    named: dict[str, NDArray[Any]] = {}
    for name, tensor in tensors.items():
        rule, number = _find(name, _BY_HUGGING_FACE)
        if rule is None:
            raise ModelError(
                "Google's 2018 code has no variable for this tensor", value=name,
                mend="its models are BERT with the heads for pre-training, for one label of a text "
                "or for SQuAD",
            )  # fmt: skip
        named[rule.google.replace("*", number)] = _turned(tensor, rule)
    return named


def _find(name: str, table: Mapping[str, _Rule]) -> tuple[_Rule | None, str]:
    """The rule for a name, and the number of its layer as text."""
    number = _NUMBER.search(name)
    if number is None:
        return None if "*" in name else table.get(name), ""
    return table.get(f"{name[: number.start()]}*{name[number.end() :]}"), number[0]


def _turned(tensor: NDArray[Any], rule: _Rule) -> NDArray[Any]:
    return np.ascontiguousarray(tensor.T) if rule.transposed else tensor


def _reason(name: str, dtype: str) -> str | None:
    """Why a variable is no weight; None where it might be one."""
    for pattern, reason in _NOT_WEIGHTS:
        if pattern.fullmatch(name):
            return reason
    return "text, not numbers" if dtype == "string" else None
