"""Precision, recall and F1 of entities, and the accuracy of tags.

An entity is right when its type, its first and its last word are. ``conlleval`` mode finds
entities in any sequence, as the scorer of the CoNLL shared tasks does; ``strict`` mode only where
the tags are valid IOB2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bertsmith.tasks.ner.schemes import entities, is_plain, strict_entities
from bertsmith.tasks.task import Figures

Mode = Literal["conlleval", "strict"]
Tags = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Scores:
    """Counts of entities; precision, recall and F1 are from 0 to 1, None where undefined."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the predicted entities that are right."""
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """Share of the gold entities that are found."""
        return self.correct / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """Their harmonic mean: 0 where nothing is right, None where there is no entity at all."""
        both = self.predicted + self.gold
        return 2 * self.correct / both if both else None


@dataclass(frozen=True)
class Report:
    """Scores of entities.

    Attributes:
        mode: how entities were found in tags.
        micro: over all entities.
        types: of each type, in alphabetical order.
    """

    mode: Mode
    micro: Scores
    types: dict[str, Scores]


def report(gold: Tags, predicted: Tags, mode: Mode = "conlleval") -> Report:
    """Entity scores over sentences.

    Args:
        gold: the tags of each sentence, in any scheme with prefixes (strict mode: IOB2).
        predicted: as many for each sentence.
        mode: how entities are found in tags.
    """
    correct, guessed, real = Counter[str](), Counter[str](), Counter[str]()
    find = entities if mode == "conlleval" else strict_entities
    for right, got in _together(gold, predicted):
        there, found = set(find(right)), set(find(got))
        real.update(one.type for one in there)
        guessed.update(one.type for one in found)
        correct.update(one.type for one in there & found)
    types = {
        name: Scores(correct[name], guessed[name], real[name]) for name in sorted(real | guessed)
    }
    return Report(mode, Scores(correct.total(), guessed.total(), real.total()), types)


def entity_counts(gold: Tags, predicted: Tags, mode: Mode = "conlleval") -> npt.NDArray[np.int64]:
    """[sentences, 3] correct, predicted and gold entities: sums over rows make precision ..."""
    find = entities if mode == "conlleval" else strict_entities
    rows = [
        (len(there & found), len(found), len(there))
        for there, found in (
            (set(find(right)), set(find(got))) for right, got in _together(gold, predicted)
        )
    ]
    return np.array(rows, np.int64).reshape(-1, 3)


def tag_counts(gold: Tags, predicted: Tags) -> npt.NDArray[np.int64]:
    """[sentences, 2] right tags and words."""
    rows = [
        (sum(a == b for a, b in zip(right, got, strict=True)), len(right))
        for right, got in _together(gold, predicted)
    ]
    return np.array(rows, np.int64).reshape(-1, 2)


def figures(gold: Tags, predicted: Tags) -> Figures:
    """All figures, from 0 to 1; None where a figure is not defined.

    Entities: ``precision``, ``recall``, ``f1`` (micro, conlleval mode), ``accuracy`` of tags,
    ``strict_f1`` (strict mode), then ``f1 TYPE`` of each type (conlleval mode). For plain labels
    only ``accuracy``.
    """
    right, words = tag_counts(gold, predicted).sum(0).tolist()
    accuracy = right / words if words else None
    if is_plain(tag for one in (*gold, *predicted) for tag in one):
        return {"accuracy": accuracy}
    found = report(gold, predicted)
    return {
        "precision": found.micro.precision,
        "recall": found.micro.recall,
        "f1": found.micro.f1,
        "accuracy": accuracy,
        "strict_f1": report(gold, predicted, "strict").micro.f1,
        **{f"f1 {name}": one.f1 for name, one in found.types.items() if name},
    }


def _together(gold: Tags, predicted: Tags) -> list[tuple[Sequence[str], Sequence[str]]]:
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} sentences")
    pairs = list(zip(gold, predicted, strict=True))
    for at, (right, got) in enumerate(pairs):
        if len(right) != len(got):
            raise ValueError(f"sentence {at}: {len(got)} tags for {len(right)} words")
    return pairs
