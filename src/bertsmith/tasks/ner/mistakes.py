"""Which sentences a model got most wrong, and which tag it took for which."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.schemes import entities
from bertsmith.tasks.task import Mistake


def worst(
    examples: Sequence[TaggedSentence],
    predictions: Sequence[Sequence[str]],
    wrong: Sequence[int],
    most: int,
    *,
    plain: bool,
) -> list[Mistake]:
    """At most ``most`` sentences, worst first.

    Args:
        examples: labelled sentences.
        predictions: the tags of each.
        wrong: how wrong each is: entities missed and invented, or wrong labels.
        most: how many to give.
        plain: whether tags are plain labels.
    """
    chosen = heapq.nsmallest(
        most, (at for at, count in enumerate(wrong) if count), key=lambda at: (-wrong[at], at)
    )
    found = []
    for at in chosen:
        words, gold = examples[at].words, examples[at].tags or ()
        show = _labels if plain else _entities
        expected, got = show(words, gold, predictions[at]), show(words, predictions[at], gold)
        found.append(Mistake(" ".join(words), expected, got, float(wrong[at])))
    return found


def confusion(
    examples: Sequence[TaggedSentence],
    predictions: Sequence[Sequence[str]],
    labels: Sequence[str],
) -> dict[str, dict[str, int]]:
    """Gold tag -> predicted tag -> words, tags in the order of the head, unknown ones last."""
    there = {tag for one in examples for tag in one.tags or ()}
    others = sorted(there - set(labels))
    table = {tag: dict.fromkeys(labels, 0) for tag in (*labels, *others)}
    for one, tags in zip(examples, predictions, strict=True):
        for gold, tag in zip(one.tags or (), tags, strict=True):
            table[gold][tag] = table[gold].get(tag, 0) + 1
    return table


def _entities(words: Sequence[str], tags: Sequence[str], others: Sequence[str]) -> str:
    """The entities in ``tags`` that are not in ``others``."""
    different = sorted(set(entities(tags)) - set(entities(others)), key=lambda one: one.start)
    shown = [f"{' '.join(words[one.start : one.stop])} [{one.type}]" for one in different]
    return ", ".join(shown) or "(none)"


def _labels(words: Sequence[str], tags: Sequence[str], others: Sequence[str]) -> str:
    """The words that ``others`` label differently."""
    return ", ".join(
        f"{word} [{tag}]"
        for word, tag, other in zip(words, tags, others, strict=True)
        if tag != other
    )
