"""SQuAD's figures and threshold against the official rules, written down once more, otherwise."""

from __future__ import annotations

import itertools
import random
import string

import numpy as np
import pytest

from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.examples import SquadExample
from bertsmith.tasks.squad.metrics import best_scores, best_threshold, normalise
from bertsmith.tasks.squad.task import SquadTask
from bertsmith.tasks.task import Head, Part
from bertsmith.text.tokenizer import Tokenizer

HEAD = Head("span")
PIECES = ["a", "an", "the", "The", "AN", "Leeds", "leeds", "été", "红", "theme", "a_b", "19th",
          " ", "  ", "\t", "\u00a0", ".", "'", "-", "“", "”", "_", "a\u0301"]  # fmt: skip


def words_of(text: str) -> list[str]:
    """The words that count: from runs of letters, not by a pattern."""
    bare = [char for char in text.lower() if char not in set(string.punctuation)]
    runs = itertools.groupby(bare, key=lambda char: char.isalnum() or char == "_")
    kept = ["".join(run) for _, run in runs]
    return "".join(" " if run in ("a", "an", "the") else run for run in kept).split()


def overlap(found: list[str], known: list[str]) -> float:
    left, shared = list(known), 0
    for word in found:
        if word in left:
            left.remove(word)
            shared += 1
    return 2 * shared / (len(found) + len(known)) if shared else 0.0


def official(answer: str, golds: list[str], version_2: bool) -> tuple[float, float]:
    found = words_of(answer)
    known = [words_of(one) for one in golds]
    if version_2:
        known = [one for one in known if one] or [[]]
    exact = max(float(one == found) for one in known)
    both = [
        float(one == found) if version_2 and not (one and found) else overlap(found, one)
        for one in known
    ]
    return exact, max(both)


@pytest.mark.parametrize("version_2", [False, True])
def test_figures_of_random_answers(version_2: bool) -> None:
    """Case Q06, beyond its examples: 3000 answers with articles, marks and odd spaces."""
    rng, seen = random.Random(1), set()

    def text() -> str:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 6)))

    for _ in range(3000):
        golds = [text() for _ in range(rng.randint(1, 3))]
        answer = rng.choice([text(), golds[-1].upper() + rng.choice(["", " the", "."])])
        assert normalise(answer) == " ".join(words_of(answer))
        expected = official(answer, golds, version_2)
        assert best_scores(answer, golds, version_2=version_2) == pytest.approx(expected, abs=1e-12)
        seen.add((expected[0], 0 < expected[1] < 1, expected[1] == 1))
    # wrong, half right, and right answers were all among them
    assert {(0.0, False, False), (0.0, True, False), (1.0, False, True)} <= seen


def official_threshold(odds: list[float], gain: list[float]) -> tuple[float, float | None]:
    """The best sum of gains, and its threshold (``find_best_thresh``), None for no question."""
    order = sorted(range(len(odds)), key=odds.__getitem__)
    total, best, place = 0.0, 0.0, None
    for at in order:
        total += gain[at]
        if total > best:
            best, place = total, odds[at]
    return best, place


@pytest.mark.parametrize("seed", range(40))
def test_the_threshold_is_the_official_one(seed: int) -> None:
    """Gains are multiples of 1/8: sums are exact, equals are equal."""
    rng = np.random.default_rng(seed)
    odds = rng.permutation(np.linspace(-5, 5, 30))
    gain = rng.choice([-1.0, 0.0, 0.125, 1.0], 30, p=[0.55, 0.1, 0.15, 0.2])
    best, place = official_threshold(odds.tolist(), gain.tolist())
    found = best_threshold(odds, gain)
    assert gain[odds <= found].sum() == best
    assert found == place if place is not None else found < odds.min()


def test_both_ends_of_the_threshold() -> None:
    odds = np.array([-3.0, 1.0, 2.0])
    assert best_threshold(odds, np.array([-1.0, -1.0, -1.0])) < -3  # best to answer nothing
    assert best_threshold(odds, np.array([1.0, 1.0, 1.0])) == 2
    assert best_threshold(odds, np.array([1.0, -1.0, 1.0])) == -3  # the lowest of equals


@pytest.mark.parametrize("seed", range(30))
def test_of_equal_odds_all_or_none_are_answered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    odds = rng.integers(-5, 6, 12).astype(np.float64)
    gain = rng.choice([-1.0, 0.0, 0.4, 1.0], 12)
    found = best_threshold(odds, gain)
    every = [float(odds.min() - 1), *odds.tolist()]
    assert gain[odds <= found].sum() == pytest.approx(max(gain[odds <= one].sum() for one in every))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_tuned_is_the_best_for_f1(seed: int) -> None:
    """From scores to figures: no threshold between two questions gives a better F1."""
    rng = np.random.default_rng(seed)
    words = ["red", "fox", "runs", "far"]
    examples = [
        SquadExample(str(at), "who", "red fox runs far", (), True)
        if at % 3 == 0
        else SquadExample(str(at), "who", "red fox runs far", (("red fox", 0),), False)
        for at in range(24)
    ]
    part = Part("dev", examples)
    task = SquadTask(TaskSettings(max_length=64, max_query_length=8))
    known = Tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", *words])
    encoded = task.encode(part, known, 64, HEAD, training=False)
    outputs = [rng.normal(size=(one.tokens, 2)).astype(np.float32) for one in encoded.features]
    tuned = task.tune(part, encoded, outputs, HEAD)

    def f1(threshold: float) -> float:
        found = task.decide(part, encoded, outputs, HEAD, {"null_threshold": threshold})
        return task.score(part, found)["f1"]

    odds = [one.null_odds for one in task.decide(part, encoded, outputs, HEAD, tuned)]
    best = max(f1(one) for one in [min(odds) - 1, *odds])
    assert f1(tuned["null_threshold"]) == pytest.approx(best)
    assert best > min(f1(one) for one in [min(odds) - 1, *odds])
