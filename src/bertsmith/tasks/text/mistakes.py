"""What a model got most wrong, and which label it took for which."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any

from bertsmith.tasks.task import Mistake
from bertsmith.tasks.text.examples import Target, TextExample
from bertsmith.tasks.text.predictions import Word

_LEAST_DOUBT = 1e-9


def worst(examples: Sequence[TextExample], predictions: Sequence[Any], most: int) -> list[Mistake]:
    """At most ``most`` mistakes, worst first; rows without a target have none."""
    wrong = [
        (how_wrong(one.target, prediction), at)
        for at, (one, prediction) in enumerate(zip(examples, predictions, strict=True))
        if one.target is not None and one.target != prediction
    ]
    return [
        Mistake(_text(examples[at]), show(examples[at].target), show(predictions[at]), loss)
        for loss, at in heapq.nsmallest(most, wrong, key=lambda pair: (-pair[0], pair[1]))
    ]


def how_wrong(target: Target, prediction: Any) -> float:
    """How wrong a wrong prediction is.

    For classes -ln(1 - p), p the probability of the wrong class: the least that the cross-entropy
    can have been. For several labels, how many of them are wrong. For values, the distance.
    """
    if isinstance(target, tuple):
        return float(len(set(target) ^ set(prediction)))
    if isinstance(target, float):
        return abs(target - float(prediction))
    chance = prediction.probability if isinstance(prediction, Word) else 0.5
    return -math.log(max(1 - chance, _LEAST_DOUBT))


def confusion(
    examples: Sequence[TextExample], predictions: Sequence[str], labels: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Gold label -> predicted label -> count, labels in the order of the head.

    Gold labels that the head lacks come last, as rows.
    """
    others = dict.fromkeys(
        one.target for one in examples
        if isinstance(one.target, str) and one.target not in labels
    )  # fmt: skip
    table = {gold: dict.fromkeys(labels, 0) for gold in (*labels, *others)}
    for one, prediction in zip(examples, predictions, strict=True):
        if isinstance(one.target, str):
            # str: a key that is a Word would carry the probability of one example
            row, word = table[one.target], str(prediction)
            row[word] = row.get(word, 0) + 1
    return table


def show(answer: Any) -> str:
    """A target or a prediction for people."""
    if isinstance(answer, tuple):
        return ", ".join(answer) or "(none)"
    return f"{answer:.3f}" if isinstance(answer, float) else str(answer)


def _text(example: TextExample) -> str:
    return example.text if example.pair is None else f"{example.text} | {example.pair}"
