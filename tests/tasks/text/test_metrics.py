"""Figures against formulas written here and against scikit-learn and scipy called here."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics

from bertsmith.tasks.text import metrics
from bertsmith.tasks.text.metrics import METRICS, answers, figures

WORDS = ["no", "perhaps", "yes"]


def drawn(seed: int, words: list[str], count: int = 200) -> tuple[list[str], list[str]]:
    draw = np.random.default_rng(seed)
    gold = draw.choice(words, count)
    predicted = np.where(draw.random(count) < 0.6, gold, draw.choice(words, count))
    return gold.tolist(), predicted.tolist()


def f1_of(gold: list[str], predicted: list[str], word: str) -> float:
    hits = sum(g == p == word for g, p in zip(gold, predicted, strict=True))
    return 2 * hits / (gold.count(word) + predicted.count(word))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    monkeypatch.setattr(metrics, "warn", texts.append)
    return texts


@pytest.mark.parametrize("seed", range(5))
def test_binary_classes(seed: int) -> None:
    gold, predicted = drawn(seed, ["0", "1"])
    given = answers("classes", gold, predicted, positive="1")
    cells = {(g, p): 0 for g in "01" for p in "01"}
    for pair in zip(gold, predicted, strict=True):
        cells[pair] += 1
    tp, tn, fp, fn = cells["1", "1"], cells["0", "0"], cells["0", "1"], cells["1", "0"]
    assert METRICS["accuracy"](given) == pytest.approx((tp + tn) / 200)
    assert METRICS["f1"](given) == pytest.approx(2 * tp / (2 * tp + fp + fn))
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert METRICS["matthews"](given) == pytest.approx((tp * tn - fp * fn) / root)


def test_f1_is_that_of_the_positive_word_whatever_its_place_in_the_alphabet() -> None:
    gold, predicted = ["a", "b", "b", "a"], ["a", "b", "a", "a"]
    assert METRICS["f1"](answers("classes", gold, predicted, "a")) == pytest.approx(0.8)
    assert METRICS["f1"](answers("classes", gold, predicted, "b")) == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(5))
def test_several_classes(seed: int) -> None:
    gold, predicted = drawn(seed, WORDS)
    given = answers("classes", gold, predicted)
    each = [f1_of(gold, predicted, word) for word in WORDS]
    assert METRICS["macro_f1"](given) == pytest.approx(sum(each) / 3)
    assert METRICS["micro_f1"](given) == METRICS["accuracy"](given)
    expected = sklearn.metrics.matthews_corrcoef(gold, predicted)
    assert METRICS["matthews"](given) == pytest.approx(expected)


def test_macro_f1_counts_a_class_that_only_one_side_has_as_nothing() -> None:
    gold, predicted = ["no", "no", "yes", "new"], ["no", "no", "yes", "yes"]
    assert METRICS["macro_f1"](answers("classes", gold, predicted)) == pytest.approx(
        (1 + 2 / 3 + 0) / 3
    )


def test_several_labels() -> None:
    gold = [("a", "b"), ("a",), (), ("c",)]
    predicted = [("b", "a"), ("a", "b"), (), ()]
    given = answers("labels", gold, predicted)
    assert METRICS["accuracy"](given) == 0.5
    assert METRICS["micro_f1"](given) == pytest.approx(2 * 3 / (4 + 4))
    assert METRICS["macro_f1"](given) == pytest.approx((1 + 2 / 3 + 0) / 3)


@pytest.mark.parametrize("labels", [["a"], ["a", "b"], ["a", "b", "c", "d"]])
def test_several_labels_against_scikit_learn(labels: list[str]) -> None:
    draw = np.random.default_rng(len(labels))
    matrix = draw.integers(0, 2, (2, 60, len(labels)))
    matrix[:, 0] = 1  # every label occurs
    gold, predicted = (
        [tuple(np.array(labels)[row == 1].tolist()) for row in side] for side in matrix
    )
    given = answers("labels", gold, predicted)
    each = [
        sklearn.metrics.f1_score(matrix[0, :, at], matrix[1, :, at]) for at in range(len(labels))
    ]
    micro = sklearn.metrics.f1_score(matrix[0].ravel(), matrix[1].ravel())
    assert METRICS["macro_f1"](given) == pytest.approx(np.mean(each))
    assert METRICS["micro_f1"](given) == pytest.approx(micro)


@pytest.mark.parametrize("seed", range(3))
def test_values(seed: int) -> None:
    draw = np.random.default_rng(seed)
    gold = np.round(draw.uniform(0, 5, 50), 1)  # with ties
    predicted = np.round(gold + draw.normal(0, 1, 50), 1)
    given = answers("value", gold.tolist(), predicted.tolist())

    def ranks(values: np.ndarray) -> np.ndarray:
        return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])

    pearson = np.corrcoef(gold, predicted)[0, 1]
    spearman = np.corrcoef(ranks(gold), ranks(predicted))[0, 1]
    assert METRICS["pearson"](given) == pytest.approx(pearson)
    assert METRICS["spearman"](given) == pytest.approx(spearman)
    assert METRICS["spearman"](given) == pytest.approx(
        scipy.stats.spearmanr(gold, predicted).statistic
    )
    assert METRICS["pearson_spearman"](given) == pytest.approx((pearson + spearman) / 2)
    assert METRICS["mean_squared_error"](given) == pytest.approx(((gold - predicted) ** 2).mean())


def test_raw_values_are_scored() -> None:
    """Case G04: the dev figures are those of raw predictions, not of clipped ones."""
    given = answers("value", [4.8, 5.0, 2.4, 1.2], [5.7, 5.2, 2.5, 1.0])
    assert METRICS["pearson"](given) == pytest.approx(0.990753, abs=5e-7)
    assert METRICS["spearman"](given) == pytest.approx(0.8)


@pytest.mark.parametrize("gold", [[4.8, 5.0, 2.4, 1.2], [2.0] * 4])
def test_constant_values_are_undefined_with_a_warning(gold: list[float], said: list[str]) -> None:
    """Case G04: constant predictions leave correlations undefined: null, never NaN."""
    names = ("pearson", "spearman", "pearson_spearman", "mean_squared_error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # those of scipy are ours to say
        found = figures(names, answers("value", gold, [2.5] * 4), "dev")
    assert [found[name] for name in names[:3]] == [None, None, None]
    assert found["mean_squared_error"] == pytest.approx(np.mean((np.array(gold) - 2.5) ** 2))
    assert said == [
        "dev: pearson, spearman, pearson_spearman not defined: all predictions are the same"
    ]


def test_values_that_are_not_numbers_are_undefined(said: list[str]) -> None:
    found = figures(("pearson",), answers("value", [1.0, 2.0, 3.0], [1.0, math.nan, 2.0]), "dev")
    assert found == {"pearson": None}
    assert said == ["dev: pearson not defined: some predictions are not numbers"]


def test_constant_classes(said: list[str]) -> None:
    """Matthews has scikit-learn's value for constant predictions, 0, and a warning."""
    gold = ["0", "1", "1", "1"]
    given = answers("classes", gold, ["0"] * 4, "1")
    found = figures(("matthews", "f1", "accuracy", "macro_f1"), given, "dev")
    assert found["matthews"] == sklearn.metrics.matthews_corrcoef(gold, ["0"] * 4) == 0
    assert (found["f1"], found["accuracy"]) == (0, 0.25)
    assert found["macro_f1"] == pytest.approx((2 / 5 + 0) / 2)
    assert said == ["dev: matthews is 0: all predictions are the same"]


@pytest.mark.parametrize("gold", [["0", "1"], ["1", "1"], ["0", "0"]])
@pytest.mark.filterwarnings("error")
def test_matthews_of_a_constant_side_is_that_of_scikit_learn(gold: list[str]) -> None:
    for predicted in (["0", "0"], ["1", "1"]):
        for one, other in ((gold, predicted), (predicted, gold)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = sklearn.metrics.matthews_corrcoef(one, other)
            assert METRICS["matthews"](answers("classes", one, other)) == expected == 0


def test_f1_of_a_class_that_nobody_mentions_is_undefined(said: list[str]) -> None:
    found = figures(("f1", "accuracy"), answers("classes", ["0"] * 3, ["0"] * 3, "1"), "dev")
    assert found == {"f1": None, "accuracy": 1.0}
    assert len(said) == 1
    assert said[0].startswith("dev: f1 not defined")


@pytest.mark.parametrize("kind", ["classes", "labels", "value"])
def test_no_examples_leave_everything_undefined(kind: str, said: list[str]) -> None:
    values = ("pearson", "spearman", "mean_squared_error")
    names = tuple(METRICS) if kind == "classes" else ("accuracy", "macro_f1", "micro_f1")
    names = values if kind == "value" else names
    found = figures(names, answers(kind, [], []), "dev")  # type: ignore[arg-type]
    assert found == dict.fromkeys(names)
    assert len(said) == 1


def test_labels_that_nobody_gives() -> None:
    given = answers("labels", [(), ()], [(), ()])
    assert METRICS["accuracy"](given) == 1.0
    assert METRICS["micro_f1"](given) is METRICS["macro_f1"](given) is None


def test_figures_keep_the_order_asked_for() -> None:
    given = answers("classes", ["0", "1"], ["0", "1"], "1")
    assert list(figures(("matthews", "accuracy", "f1"), given, "dev")) == [
        "matthews", "accuracy", "f1",
    ]  # fmt: skip


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="1 predictions for 2 examples"):
        answers("classes", ["0", "1"], ["0"])
