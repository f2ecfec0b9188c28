"""The common part of tasks on texts: labels by name, decisions, mistakes, baselines."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
import sklearn.metrics

from bertsmith.common.errors import InputError, ModelError
from bertsmith.tasks.task import Data, Encoded, Feature, Head, Part
from bertsmith.tasks.text.examples import Target, TextExample
from bertsmith.tasks.text.predictions import Word
from bertsmith.tasks.text.task import TextTask
from bertsmith.text.tokenizer import Tokenizer

CLASSES = Head("classes", ("bad", "good", "so-so"))


def part(*targets: Target, name: str = "dev") -> Part[TextExample]:
    return Part(name, [TextExample(str(n), f"w{n}", None, one) for n, one in enumerate(targets)])


def decided(task: TextTask, head: Head, rows: list[list[float]]) -> list[Any]:
    outputs = [np.array(row, np.float32) for row in rows]
    return task.decide(part(*[None] * len(rows)), Encoded([]), outputs, head, {})


def test_labels_of_the_head_are_the_words_of_training(task: TextTask) -> None:
    data = Data(train=part("so-so", "good", "good", "bad", None, name="train"), dev=[part("new")])
    assert task.head(data) == CLASSES
    task.kind = "labels"
    data = Data(train=part(("b", "a"), (), ("c",), name="train"))
    assert task.head(data) == Head("labels", ("a", "b", "c"))
    task.kind = "value"
    assert task.head(data) == Head("value")


@pytest.mark.parametrize("targets", [("good", "good"), (None,), ()])
def test_one_class_is_too_few(task: TextTask, targets: tuple[Target, ...]) -> None:
    with pytest.raises(InputError, match="fewer than 2 different label"):
        task.head(Data(train=part(*targets)))


def test_targets_by_name(task: TextTask, words: Tokenizer) -> None:
    encoded = task.encode(part("so-so", "bad", "good"), words, 8, CLASSES, training=True)
    assert [one.target for one in encoded.features] == [2, 0, 1]
    assert encoded.features[1] == Feature((([2, 6, 3], [0, 0, 0]),), 1, 0)
    task.kind = "labels"
    labels = Head("labels", ("a", "b", "c"))
    encoded = task.encode(part(("c", "a"), ()), words, 8, labels, training=True)
    assert [one.target for one in encoded.features] == [(1, 0, 1), (0, 0, 0)]
    task.kind = "value"
    encoded = task.encode(part(3.8, 0.0), words, 8, Head("value"), training=True)
    assert [one.target for one in encoded.features] == [3.8, 0.0]
    assert encoded.counts == {}


def test_training_leaves_out_what_has_no_target(task: TextTask, words: Tokenizer) -> None:
    given = part(None, "good", "new", "bad")
    encoded = task.encode(given, words, 8, CLASSES, training=True)
    assert [(one.example, one.target) for one in encoded.features] == [(1, 1), (3, 0)]
    assert encoded.counts == {
        "examples without a label": 1,
        "examples with the label 'new' that training lacks": 1,
    }


def test_dev_keeps_labels_that_training_lacks_and_counts_them_wrong(
    task: TextTask, words: Tokenizer
) -> None:
    """A label of dev alone is named, counted, and can only be wrong."""
    given = part("good", "new", "new", "bad")
    encoded = task.encode(given, words, 8, CLASSES, training=False)
    assert [one.example for one in encoded.features] == [0, 1, 2, 3]
    assert [one.target for one in encoded.features] == [1, None, None, 0]
    assert encoded.counts == {"examples with the label 'new' that training lacks": 2}
    predictions = ["good", "good", "bad", "bad"]
    assert task.score(given, predictions) == {"accuracy": 0.5}
    assert task.confusion(given, predictions, CLASSES) == {
        "bad": {"bad": 1, "good": 0, "so-so": 0},
        "good": {"bad": 0, "good": 1, "so-so": 0},
        "so-so": {"bad": 0, "good": 0, "so-so": 0},
        "new": {"bad": 1, "good": 1, "so-so": 0},
    }


def test_many_unknown_labels_are_named_up_to_ten(task: TextTask, words: Tokenizer) -> None:
    given = part(*[f"new {n}" for n in range(13)])
    counts = task.encode(given, words, 8, CLASSES, training=False).counts
    assert len(counts) == 11
    assert counts["examples with the other labels that training lacks"] == 3


def test_classes_are_decided_by_the_largest_output(task: TextTask) -> None:
    found = decided(task, CLASSES, [[0, math.log(2), 0], [1000, 0, -1000], [-5, -5, 0]])
    assert found == ["good", "bad", "so-so"]
    assert [one.probability for one in found] == pytest.approx([0.5, 1, 1 / (1 + 2 * math.e**-5)])


def test_labels_are_those_above_one_half(task: TextTask) -> None:
    labels = Head("labels", ("a", "b", "c"))
    found = decided(task, labels, [[0.1, -0.1, 800], [-1, 0, -800]])
    assert found == [("a", "c"), ()]
    assert [one.probability for one in found[0]] == pytest.approx([1 / (1 + math.exp(-0.1)), 1])


def test_values_are_raw(task: TextTask) -> None:
    """Case G04: nothing is clipped or rounded before it is scored."""
    found = decided(task, Head("value"), [[5.75], [-0.5]])
    assert found == [5.75, -0.5]
    assert all(type(one) is float for one in found)


def test_nothing_to_decide(task: TextTask) -> None:
    for head in (CLASSES, Head("labels", ("a",)), Head("value")):
        assert decided(task, head, []) == []


def test_every_example_needs_an_output(task: TextTask) -> None:
    with pytest.raises(ValueError, match="1 outputs for 2 examples"):
        task.decide(part(None, None), Encoded([]), [np.zeros(3, np.float32)], CLASSES, {})


def test_a_word_is_a_word() -> None:
    word = Word("good", 0.75)
    assert (word, json.dumps(word), {"good": 1}[word]) == ("good", '"good"', 1)
    for other in (pickle.loads(pickle.dumps(word)), copy.deepcopy(word)):
        assert (other, other.probability) == ("good", 0.75)


def test_constant_predictions_are_known_whatever_their_probability(task: TextTask) -> None:
    assert task.constant([Word("good", 0.9), Word("good", 0.8)])
    assert not task.constant([Word("good", 0.9), Word("bad", 0.9)])


def test_surest_mistakes_come_first(task: TextTask) -> None:
    given = part("good", "good", "bad", None, "bad")
    predictions = [
        Word("bad", 0.6), Word("good", 0.9), Word("good", 0.99), Word("bad", 1.0),
        Word("so-so", 1.0),
    ]  # fmt: skip
    found = task.mistakes(given, predictions, 10)
    assert [(one.text, one.expected, one.got) for one in found] == [
        ("w4", "bad", "so-so"), ("w2", "bad", "good"), ("w0", "good", "bad"),
    ]  # fmt: skip
    assert found[1].loss == pytest.approx(-math.log(0.01))
    assert math.isfinite(found[0].loss)
    assert task.mistakes(given, predictions, 1) == found[:1]


def test_mistakes_of_labels_values_and_pairs(task: TextTask) -> None:
    found = task.mistakes(part(("a",), ("a", "b"), ("b",)), [(), ("b", "c"), ("b",)], 9)
    assert [(one.expected, one.got, one.loss) for one in found] == [
        ("a, b", "b, c", 2.0), ("a", "(none)", 1.0),
    ]  # fmt: skip
    found = task.mistakes(part(1.0, 2.0, 4.0), [1.25, 2.0, 1.0], 9)
    assert [(one.expected, one.got, one.loss) for one in found] == [
        ("4.000", "1.000", 3.0), ("1.000", "1.250", 0.25),
    ]  # fmt: skip
    pair = Part("dev", [TextExample("0", "one", "two", "good")])
    assert task.mistakes(pair, ["bad"], 1)[0].text == "one | two"


def test_baseline_of_the_most_frequent_answer(task: TextTask) -> None:
    train = part("bad", "good", None, "good", name="train")
    found = task.most_frequent(train, part("bad", "bad"))
    assert found == ["good", "good"]
    assert found[0].probability == pytest.approx(2 / 3)
    assert task.most_frequent(part(None), part("bad")) is None
    task.kind = "value"
    assert task.most_frequent(part(1.0, 2.0, 4.5), part(0.0, 0.0)) == [2.5, 2.5]
    task.kind = "labels"
    assert task.most_frequent(part(("a",), ("a", "b"), ("a",)), part(())) == [("a",)]


@pytest.mark.parametrize("metric", ["accuracy", "f1", "macro_f1", "matthews"])
def test_scorer_of_samples_is_the_score_of_the_sample(task: TextTask, metric: str) -> None:
    task.metric, task.positive, task.figure_names = metric, "1", (metric,)
    draw = np.random.default_rng(1)
    gold, predicted = draw.choice(["0", "1"], (2, 40)).tolist()
    given = part(*gold)
    score = task.scorer(given, predicted)
    functions = {
        "accuracy": sklearn.metrics.accuracy_score,
        "f1": lambda a, b: sklearn.metrics.f1_score(a, b, pos_label="1"),
        "macro_f1": lambda a, b: sklearn.metrics.f1_score(a, b, average="macro"),
        "matthews": sklearn.metrics.matthews_corrcoef,
    }
    for _ in range(5):
        numbers = draw.integers(0, 40, 40)
        expected = functions[metric](np.array(gold)[numbers], np.array(predicted)[numbers])
        assert score(numbers) == pytest.approx(expected)
    assert score(np.arange(40)) == task.score(given, predicted)[metric]


def test_scorer_says_nothing_of_undefined_samples(
    task: TextTask, capsys: pytest.CaptureFixture[str]
) -> None:
    task.kind, task.metric = "value", "pearson"
    score = task.scorer(part(1.0, 2.0, 3.0), [1.0, 2.5, 3.0])
    assert score(np.array([1, 1, 1])) is None
    assert score(np.array([0, 2])) == pytest.approx(1)
    assert capsys.readouterr() == ("", "")


def test_a_model_of_another_kind_is_refused(task: TextTask, words: Tokenizer) -> None:
    with pytest.raises(ModelError, match="the model gives value, plain needs classes"):
        task.encode(part("good"), words, 8, Head("value"), training=False)
