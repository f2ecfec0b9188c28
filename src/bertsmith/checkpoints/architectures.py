"""The classes of transformers that our models are, by name: what ``config.json`` says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from bertsmith.checkpoints.names import (
    Table,
    encoder_table,
    next_sentence_table,
    pretraining_table,
    tagger_table,
    task_table,
)
from bertsmith.common.errors import ModelError
from bertsmith.model.bare import BareBert
from bertsmith.model.next_sentence import NextSentenceBert
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.tagger import FeatureTagger
from bertsmith.model.task import POOLED, BertForTask, Head, Kind

Model = BertForPreTraining | BertForTask | BareBert

_PRETRAINING, _MASKED_LM, _BARE = "BertForPreTraining", "BertForMaskedLM", "BertModel"
_NEXT_SENTENCE = "BertForNextSentencePrediction"
_FEATURE_BASED = "BertForFeatureBasedTagging"
_SEQUENCE, _TOKENS = "BertForSequenceClassification", "BertForTokenClassification"
_CHOICE, _SPAN = "BertForMultipleChoice", "BertForQuestionAnswering"
_MOST_LABELS = 100_000
# Kind of head -> class, and the problem_type that tells the three uses of one class apart.
_CLASSES: dict[Kind, tuple[str, str]] = {
    "classes": (_SEQUENCE, "single_label_classification"),
    "labels": (_SEQUENCE, "multi_label_classification"),
    "value": (_SEQUENCE, "regression"),
    "tokens": (_TOKENS, ""),
    "span": (_SPAN, ""),
    "choice": (_CHOICE, ""),
}


@dataclass(frozen=True)
class Assumed:
    """The class that a model is taken for where its configuration does not settle it.

    Attributes:
        text: what was taken for what, and why.
        others: classes whose weights look the same.
    """

    text: str
    others: tuple[str, ...] = ()

    @property
    def mend(self) -> str:
        """How to tell otherwise; empty where nothing else is possible."""
        return (
            f'if it is {" or ".join(self.others)}, say so in the configuration: "architectures": '
            f'["{self.others[0]}"]' if self.others else ""
        )  # fmt: skip


def table_of(model: nn.Module) -> Table:
    """The names of a model's parameters."""
    assert isinstance(model, BertForPreTraining | BertForTask | BareBert)
    config, layers = model.config, model.config.num_hidden_layers
    if isinstance(model, NextSentenceBert):
        return next_sentence_table(layers)
    if isinstance(model, BareBert):
        return encoder_table(layers, model.encoder.pooler is not None)
    if isinstance(model, BertForPreTraining):
        return pretraining_table(
            layers, model.next_sentence is not None, config.tie_word_embeddings
        )
    if isinstance(model, FeatureTagger):
        return tagger_table(layers, model.lstm.num_layers)
    layer = "qa_outputs" if model.spec.kind == "span" else "classifier"
    return task_table(layers, model.spec.kind in POOLED, layer)


def describe(model: nn.Module) -> dict[str, Any]:
    """The keys of ``config.json`` that name the architecture and the labels."""
    assert isinstance(model, BertForPreTraining | BertForTask | BareBert)
    if isinstance(model, NextSentenceBert):
        return {"architectures": [_NEXT_SENTENCE]}
    if isinstance(model, BareBert):
        return {"architectures": [_BARE]}
    if isinstance(model, BertForPreTraining):
        return {"architectures": [_PRETRAINING if model.next_sentence else _MASKED_LM]}
    name, problem = _CLASSES[model.spec.kind]
    labels = model.spec.labels or (("LABEL_0",) if model.spec.kind == "value" else ())
    result: dict[str, Any] = {"architectures": [name]}
    if model.spec.features:  # not a class of transformers: its AutoModel opens the encoder alone
        result = {"architectures": [_FEATURE_BASED], "feature_layers": model.spec.features}
    if problem:
        result["problem_type"] = problem
    if labels:
        result["id2label"] = {str(number): label for number, label in enumerate(labels)}
        result["label2id"] = {label: number for number, label in enumerate(labels)}
    return result


def has_task_head(config: Mapping[str, Any]) -> bool:
    """Whether a ``config.json`` names a class with the head of a task."""
    name = class_name(config)
    return name == _FEATURE_BASED or name in {known for known, _ in _CLASSES.values()}


def class_name(config: Mapping[str, Any]) -> str:
    """The first of ``architectures``; empty where none is named."""
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list | tuple) and names else ""


def complete(
    config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, Any], Assumed | None]:
    """The keys of a ``config.json`` with the architecture and number of labels that it lacks.

    Configurations of 2018 say neither; the heads among the tensors do, although several classes
    may have the same. What was assumed comes with it; None where the file names a class, or the
    weights have no head of a task.

    Args:
        config: the keys.
        shapes: shape of each tensor, under Hugging Face's names.
    """
    found = dict(config)
    heads = [name for name in ("classifier", "qa_outputs") if f"{name}.weight" in shapes]
    assumed = None
    if not class_name(found) and heads:
        name, assumed = _assume(heads, shapes)
        found["architectures"] = [name]
    if "classifier" in heads and not {"id2label", "num_labels"} & found.keys():
        found["num_labels"] = _rows(shapes["classifier.weight"])
    return found, assumed


def _rows(shape: tuple[int, ...]) -> int:
    """Outputs of a layer; a lone number has none, which is found where shapes are compared."""
    return shape[0] if shape else 1


def _assume(heads: list[str], shapes: Mapping[str, tuple[int, ...]]) -> tuple[str, Assumed]:
    """The likeliest class of a task's head, from the tensors alone."""
    outputs = _rows(shapes[f"{heads[0]}.weight"])
    pooler = "bert.pooler.dense.weight" in shapes
    name = _TOKENS
    others: tuple[str, ...] = ()
    if heads == ["qa_outputs"]:
        name = _SPAN
    elif pooler:  # which other programs store with every model, read or not
        name = _SEQUENCE
        others = (_CHOICE, _TOKENS) if outputs == 1 else (_TOKENS,)
    words = f"a {heads[0]} of {outputs} output{'s' * (outputs != 1)} "
    words += "beside a pooler" if pooler else "without a pooler"
    return name, Assumed(f"no class is named: {words} is taken for {name}", others)


def head_of(config: Mapping[str, Any], file: Path) -> Head:
    """The head that a ``config.json`` describes, ours or another program's.

    Raises:
        ModelError: it describes no model with a task's head, or its labels have gaps.
    """
    name = class_name(config)
    if name == _FEATURE_BASED:
        return Head("tokens", _labels(config, file), str(config.get("feature_layers")))
    kinds = [kind for kind, (known, _) in _CLASSES.items() if known == name]
    if not kinds:
        raise ModelError(
            "the model has no head of a task", file=file, value=name or None,
            mend="give a fine-tuned model: bertsmith finetune makes one",
        )  # fmt: skip
    problem = config.get("problem_type")
    fitting = [kind for kind in kinds if problem and _CLASSES[kind][1] == problem]
    labels = _labels(config, file)
    if kinds[0] == "classes" and not fitting and len(labels) == 1:
        fitting = ["value"]  # as transformers reads a single output
    kind = (fitting or kinds)[0]
    if kind == "value" and len(labels) != 1:
        raise ModelError(
            f"a regression with {len(labels)} outputs is not read, only one with a single number "
            "a text",
            file=file, value=problem,
            mend="its encoder can be used (bertsmith embed, finetune); or, if the outputs are "
            "scores of labels, write another problem_type: single_label_classification or "
            "multi_label_classification",
        )  # fmt: skip
    return Head(kind, labels if kind in ("classes", "labels", "tokens") else ())


def _labels(config: Mapping[str, Any], file: Path) -> tuple[str, ...]:
    words = config.get("id2label")
    if words is None:  # what transformers takes where nothing is said
        count = config.get("num_labels", 2)
        if not isinstance(count, int) or not 1 <= count <= _MOST_LABELS:
            raise ModelError(
                f"num_labels takes a whole number from 1 to {_MOST_LABELS:,}", file=file,
                value=count,
            )  # fmt: skip
        return tuple(f"LABEL_{number}" for number in range(count))
    try:
        return tuple(str(words[str(number)]) for number in range(len(words)))
    except (KeyError, TypeError):
        raise ModelError("id2label does not count from 0", file=file, value=words) from None
