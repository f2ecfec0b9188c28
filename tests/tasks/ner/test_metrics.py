from __future__ import annotations

import random
import warnings
from itertools import pairwise

import pytest

from bertsmith.tasks.ner.metrics import entity_counts, figures, report, tag_counts
from bertsmith.tasks.ner.schemes import to_iob2

GOLD, GUESS = ("I-PER", "I-PER", "O", "I-LOC", "B-LOC"), ("B-PER", "I-PER", "O", "B-LOC", "I-LOC")


def test_the_figures_of_the_case() -> None:
    """Case N03: 3 gold entities, 2 predicted, 1 right."""
    found = report([to_iob2(GOLD)], [GUESS])
    assert found.mode == "conlleval"
    assert (found.micro.correct, found.micro.predicted, found.micro.gold) == (1, 2, 3)
    assert found.micro.precision == 0.5
    assert found.micro.recall == pytest.approx(0.333333, abs=1e-6)
    assert found.micro.f1 == pytest.approx(0.4, abs=1e-12)
    assert figures([to_iob2(GOLD)], [GUESS]) == {
        "precision": 0.5, "recall": 1 / 3, "f1": 0.4, "accuracy": 0.8, "strict_f1": 0.4,
        "f1 LOC": 0.0, "f1 PER": 1.0,
    }  # fmt: skip


def test_strict_mode_on_unconverted_gold() -> None:
    """Case N03: why gold is converted: strict IOB2 finds nothing of it."""
    found = report([GOLD], [GUESS], "strict")
    assert found.mode == "strict"
    assert found.micro.f1 == 0.0


def test_an_entity_that_begins_with_inside() -> None:
    """Case N03: conlleval takes it, strict mode does not."""
    gold, guess = [("B-X", "I-X")], [("I-X", "I-X")]
    assert report(gold, guess).micro.f1 == 1.0
    assert report(gold, guess, "strict").micro.f1 == 0.0
    found = figures(gold, guess)
    assert (found["f1"], found["strict_f1"], found["accuracy"]) == (1.0, 0.0, 0.5)


def test_what_is_not_defined_is_none() -> None:
    none = figures([("O", "O")], [("O", "O")])
    assert none == {
        "precision": None, "recall": None, "f1": None, "accuracy": 1.0, "strict_f1": None,
    }  # fmt: skip
    missed = figures([("B-X", "O")], [("O", "O")])
    assert (missed["precision"], missed["recall"], missed["f1"]) == (None, 0.0, 0.0)
    invented = figures([("O", "O")], [("B-X", "O")])
    assert (invented["precision"], invented["recall"], invented["f1"]) == (0.0, None, 0.0)
    assert figures([], [])["accuracy"] is None


def test_plain_labels_have_accuracy_only() -> None:
    assert figures([("NOUN", "VERB"), ("DET",)], [("NOUN", "NOUN"), ("DET",)]) == {
        "accuracy": 2 / 3
    }


def test_counts_by_sentence() -> None:
    gold = [("B-X", "O", "B-Y"), ("O", "O"), ("B-X", "I-X")]
    guess = [("B-X", "B-X", "O"), ("O", "O"), ("B-X", "O")]
    assert entity_counts(gold, guess).tolist() == [[1, 2, 2], [0, 0, 0], [0, 1, 1]]
    assert tag_counts(gold, guess).tolist() == [[1, 3], [2, 2], [1, 2]]


def test_lengths_have_to_agree() -> None:
    with pytest.raises(ValueError, match="1 predictions for 2 sentences"):
        figures([("O",), ("O",)], [("O",)])
    with pytest.raises(ValueError, match="sentence 0: 1 tags for 2 words"):
        figures([("O", "O")], [("O",)])


Corpus = list[list[str]]


def corpora(seed: int, tags: list[str], count: int) -> list[tuple[Corpus, Corpus]]:
    """Random gold and predictions, most of them not valid, some of them right."""
    chance = random.Random(seed)

    def pair() -> tuple[Corpus, Corpus]:
        gold, guess = [], []
        for _ in range(chance.randint(1, 6)):
            right = [chance.choice(tags) for _ in range(chance.randint(1, 10))]
            wrong = chance.choice([0.1, 0.4, 1.0])
            gold.append(right)
            guess.append([chance.choice(tags) if chance.random() < wrong else tag for tag in right])
        return gold, guess

    return [pair() for _ in range(count)]


def or_zero(value: float | None) -> float:
    """seqeval gives 0 where a figure is not defined."""
    return 0.0 if value is None else value


IOB = ["O", "O", "B-X", "I-X", "B-Y", "I-Y", "B-Z-Z", "I-Z-Z"]


@pytest.mark.parametrize("tags", [IOB, [*IOB, "E-X", "S-X", "E-Y", "S-Y"]], ids=["IOB", "BIOES"])
def test_seqeval_finds_the_same(tags: list[str]) -> None:
    """seqeval's default mode, which follows conlleval; no difference between them for IOB is known.
    For E and S right after each other conlleval's own rules have gaps; there we follow seqeval."""
    seqeval = pytest.importorskip("seqeval.metrics.sequence_labeling")
    for gold, guess in corpora(1, tags, 1500):
        found = report(gold, guess)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = seqeval.precision_recall_fscore_support(gold, guess, average="micro")
            types = seqeval.f1_score(gold, guess, average=None)
        ours = (found.micro.precision, found.micro.recall, found.micro.f1)
        assert [or_zero(one) for one in ours] == pytest.approx(theirs[:3], abs=1e-12)
        assert [or_zero(one.f1) for one in found.types.values()] == pytest.approx(
            list(types), abs=1e-12
        )
        assert found.micro.gold == theirs[3]
        counts = entity_counts(gold, guess).sum(0).tolist()
        assert counts == [found.micro.correct, found.micro.predicted, found.micro.gold]


def test_seqeval_finds_the_same_in_strict_mode() -> None:
    seqeval = pytest.importorskip("seqeval.metrics")
    scheme = pytest.importorskip("seqeval.scheme")
    different = 0
    for gold, guess in corpora(2, IOB, 1500):
        found = report(gold, guess, "strict")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = [
                score(gold, guess, mode="strict", scheme=scheme.IOB2)
                for score in (seqeval.precision_score, seqeval.recall_score, seqeval.f1_score)
            ]
        ours = (found.micro.precision, found.micro.recall, found.micro.f1)
        assert [or_zero(one) for one in ours] == pytest.approx(theirs, abs=1e-12)
        different += found.micro != report(gold, guess).micro
    assert different > 1000  # else the sequences would not tell the modes apart


def conlleval(gold: Corpus, guess: Corpus) -> tuple[int, int, int]:
    """Correct, predicted and gold chunks by the description of conlleval: both taggings are walked
    together, and a chunk is right when it begins and ends in both at once with the same type."""
    right: list[str] = ["O"]
    got: list[str] = ["O"]
    for one, other in zip(gold, guess, strict=True):
        right += [*one, "O"]
        got += [*other, "O"]
    correct = predicted = real = 0
    open_both = False
    for (a0, a1), (b0, b1) in zip(pairwise(right), pairwise(got), strict=True):
        if open_both:
            ends = ended(a0, a1), ended(b0, b1)
            correct += all(ends)
            open_both = not any(ends)
        starts = started(a0, a1), started(b0, b1)
        if all(starts) and a1[1:] == b1[1:]:
            open_both = True
        real += starts[0]
        predicted += starts[1]
    return correct, predicted, real


def ended(before: str, tag: str) -> bool:
    return before != "O" and (tag[0] in "OB" or before[1:] != tag[1:])


def started(before: str, tag: str) -> bool:
    return tag != "O" and (tag[0] == "B" or before == "O" or before[1:] != tag[1:])


def test_conlleval_counts_the_same() -> None:
    for gold, guess in corpora(5, IOB, 1500):
        found = report(gold, guess).micro
        assert (found.correct, found.predicted, found.gold) == conlleval(gold, guess)
