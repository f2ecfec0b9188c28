"""The common part of all tasks on whole texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bertsmith.common.errors import InputError
from bertsmith.tasks.task import (
    Data,
    Encoded,
    Feature,
    Figures,
    Head,
    Mistake,
    Output,
    Part,
    Task,
)
from bertsmith.tasks.text import metrics, mistakes
from bertsmith.tasks.text.encode import encode_texts
from bertsmith.tasks.text.examples import Target, TextExample
from bertsmith.tasks.text.predictions import Word, decide
from bertsmith.text.tokenizer import Tokenizer

UNLABELLED = "examples without a label"
_NAMED = 10  # labels that counts name one by one


class TextTask(Task[TextExample]):
    """A text or a pair of texts -> a class, several labels or a value.

    What is left to a task of its own: ``read``, ``write``, and these:

    Attributes:
        kind: what a prediction is: ``classes`` a :class:`Word`, ``labels`` a tuple of them,
            ``value`` a float.
        figure_names: keys of ``METRICS`` in the order to print; ``metric`` may be one of them.
        positive: the positive class of ``f1``.
        pairs: whether the model is trained on pairs of texts.
    """

    kind: Literal["classes", "labels", "value"] = "classes"
    figure_names: tuple[str, ...] = ("accuracy",)
    positive: str | None = None
    pairs: bool = False

    def figures_of(self, part: Part[TextExample]) -> tuple[str, ...]:
        """Names of the figures of a part: ``figure_names``, where a task does not say otherwise."""
        del part
        return self.figure_names

    def head(self, data: Data[TextExample]) -> Head:
        """A value, or the labels of the training part in alphabetical order.

        Raises:
            InputError: there are no labels, or all examples are of one class.
        """
        if self.kind == "value":
            return Head("value")
        found = Counter(word for one in _training(data) for word in _words(one.target))
        least = 2 if self.kind == "classes" else 1
        if len(found) < least:
            train = data.train
            rows = 0 if train is None else len(train.examples)
            left = f", after {len(train.skipped)} skipped" if train and train.skipped else ""
            raise InputError(
                f"the {rows} training examples{left} have fewer than {least} different label(s)",
                file=train.files[0] if train and train.files else None,
                value=train.skipped[0] if train and train.skipped else list(found),
                mend="give examples of every label in the training file; where there is no dev "
                "file, some of its rows are held back for one",
            )
        return Head(self.kind, tuple(sorted(found)))

    def encode(
        self,
        part: Part[TextExample],
        tokenizer: Tokenizer,
        max_length: int,
        head: Head,
        *,
        training: bool,
    ) -> Encoded:
        """See :meth:`Task.encode`; labels that the head lacks are counted by name.

        Raises:
            ModelError: the head is of another kind or has other labels than the task.
        """
        self.check(head)
        number = {word: at for at, word in enumerate(head.labels)}
        targets = [_target(one.target, head, number) for one in part.examples]
        kept = [at for at, one in enumerate(targets) if one is not None or not training]
        sequences, counts = encode_texts([part.examples[at] for at in kept], tokenizer, max_length)
        features = [
            Feature((sequence,), at, targets[at])
            for at, sequence in zip(kept, sequences, strict=True)
        ]
        if training:
            counts[UNLABELLED] = sum(one.target is None for one in part.examples)
        return Encoded(features, +(counts + _unknown(part.examples, number, head)))

    def decide(
        self,
        part: Part[TextExample],
        encoded: Encoded,
        outputs: Sequence[Output],
        head: Head,
        tuned: Mapping[str, float],
    ) -> list[Any]:
        """A :class:`Word`, a tuple of them, or a float for each example."""
        del encoded, tuned
        if len(outputs) != len(part.examples):
            raise ValueError(f"{len(outputs)} outputs for {len(part.examples)} examples")
        return list(decide(outputs, head))

    def score(self, part: Part[TextExample], predictions: Sequence[Any]) -> Figures:
        """The figures of :meth:`figures_of`, on raw predictions; from 0 or -1 to 1."""
        return metrics.figures(self.figures_of(part), self._answers(part, predictions), part.name)

    def scorer(
        self, part: Part[TextExample], predictions: Sequence[Any]
    ) -> Callable[[npt.NDArray[np.int64]], float | None]:
        """``metric`` of samples; a sample that leaves it undefined gives no warning."""
        given, metric = self._answers(part, predictions), metrics.METRICS[self.metric]
        return lambda numbers: metric(given.sample(numbers))

    def most_frequent(self, train: Part[TextExample], part: Part[TextExample]) -> list[Any] | None:
        """The most frequent class or set of labels of ``train``, or the mean value, throughout."""
        known = [one.target for one in train.examples if one.target is not None]
        if not known:
            return None
        guess: Any
        if self.kind == "value":
            guess = float(np.mean(np.array(known, np.float64)))
        else:
            [(guess, count)] = Counter(known).most_common(1)
            if isinstance(guess, str):
                guess = Word(guess, count / len(known))
        return [guess] * len(part.examples)

    def confusion(
        self, part: Part[TextExample], predictions: Sequence[Any], head: Head
    ) -> dict[str, dict[str, int]]:
        """Gold class -> predicted class -> count; empty for other kinds than classes."""
        if self.kind != "classes":
            return {}
        return mistakes.confusion(part.examples, predictions, head.labels)

    def mistakes(
        self, part: Part[TextExample], predictions: Sequence[Any], most: int
    ) -> list[Mistake]:
        """The surest wrong classes, the sets with most wrong labels, the largest errors."""
        return mistakes.worst(part.examples, predictions, most)

    def _answers(self, part: Part[TextExample], predictions: Sequence[Any]) -> metrics.Answers:
        gold = [one.target for one in part.examples]
        return metrics.answers(self.kind, gold, predictions, self.positive)


def _training(data: Data[TextExample]) -> list[TextExample]:
    return [] if data.train is None else data.train.examples


def _words(target: Target) -> tuple[str, ...]:
    """The labels in a target, which is not a value."""
    if isinstance(target, tuple):
        return target
    return (target,) if isinstance(target, str) else ()


def _target(target: Target, head: Head, number: Mapping[str, int]) -> Any:
    """The target as :class:`Head` wants it; None where it is not known or the head lacks it."""
    if target is None or head.kind == "value":
        return target
    if not all(word in number for word in _words(target)):
        return None
    if head.kind == "classes":
        return number[_words(target)[0]]
    there = {number[word] for word in _words(target)}
    return tuple(int(at in there) for at in range(len(head.labels)))


def _unknown(
    examples: Sequence[TextExample], number: Mapping[str, int], head: Head
) -> Counter[str]:
    """Examples with labels that the head lacks: they are kept on dev, and count as wrong."""
    if head.kind == "value":
        return Counter()
    found = Counter(word for one in examples for word in _words(one.target) if word not in number)
    named: Counter[str] = Counter()
    for at, (word, count) in enumerate(found.most_common()):
        name = f"label {word!r}" if at < _NAMED else "other labels"
        named[f"examples with the {name} that training lacks"] += count
    return named
