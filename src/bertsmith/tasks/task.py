"""What a task is: one object that reads, encodes, decides, scores and writes.

The model, the loop and the checkpoints know none of the tasks: they see features (token sequences
with a target) and give outputs (numbers); everything else about a task is in its object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from bertsmith.common.errors import ModelError
from bertsmith.model.task import Head, Kind
from bertsmith.text.tokenizer import Tokenizer

Output = npt.NDArray[np.float32]
Figures = dict[str, float | None]  # None where a figure is not defined; JSON has no NaN

EMPTY = "examples with an empty text"  # a count: a text of theirs has no token
IGNORE = -100  # the target of a token that has no label of its own


@dataclass(frozen=True, slots=True)
class Feature:
    """What the model sees of an example: one item of a batch.

    Attributes:
        sequences: (token ids with [CLS] and [SEP], segment ids); one, or one a choice.
        example: number of the example in its part; long examples have several features.
        target: see :class:`Head`; None where the example has no label.
        about: what the task needs to read the outputs (offsets, places of words).
    """

    sequences: tuple[tuple[list[int], list[int]], ...]
    example: int
    target: Any = None
    about: Any = None

    @property
    def tokens(self) -> int:
        """Tokens of all its sequences."""
        return sum(len(ids) for ids, _ in self.sequences)


__all__ = [
    "EMPTY",
    "IGNORE",
    "Data",
    "Encoded",
    "Feature",
    "Figures",
    "Head",
    "Mistake",
    "Output",
    "Part",
    "Task",
]

E = TypeVar("E")


@dataclass
class Part(Generic[E]):
    """The examples of one split: ``train``, ``dev``, ``dev_mismatched``, ``test``, ``ax``.

    Attributes:
        name: its name; figures and prediction files carry it.
        examples: in the order of the file.
        files: where they came from.
        skipped: a line a malformed row that was left out: file, line, reason.
        labelled: whether the examples carry what they are scored against.
        counts: what else was lost or changed on reading (inexact answers, repaired tags ...).
    """

    name: str
    examples: list[E]
    files: tuple[Path, ...] = ()
    skipped: list[str] = field(default_factory=list)
    labelled: bool = True
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Data(Generic[E]):
    """What a data folder holds for a task. Scores are those of ``dev``; its first part decides."""

    train: Part[E] | None = None
    dev: list[Part[E]] = field(default_factory=list)
    test: list[Part[E]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # how dev was made where there was none, ...


@dataclass
class Encoded:
    """The features of a part and what was lost on the way (``truncated examples`` ...)."""

    features: list[Feature]
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Mistake:
    """An example that the model got most wrong, for the report."""

    text: str
    expected: str
    got: str
    loss: float  # how wrong: the larger the worse


class Task(ABC, Generic[E]):
    """One task. ``E`` is its example type, ``P`` below (any object) its prediction type."""

    name: str
    metric: str  # the dev figure that chooses the best checkpoint; higher is better
    kind: Kind  # of its head
    max_length: int = 128  # tokens a sequence, where the user does not say

    def check_length(self, max_length: int) -> None:
        """Refuse a length that the task's settings do not fit, before any data is read.

        Raises:
            SettingsError: they do not.
        """
        del max_length

    def check(self, head: Head) -> None:
        """Whether a model's head is one for this task.

        Raises:
            ModelError: it is not.
        """
        if head.kind != self.kind:
            raise ModelError(
                f"the model gives {head.kind}, {self.name} needs {self.kind}",
                mend="take a model that was fine-tuned on such a task",
            )

    def remembered(self) -> dict[str, Any]:
        """Settings that reading the training part decided; they are kept with the model."""
        return {}

    @abstractmethod
    def read(self, path: Path, *, training: bool = True) -> Data[E]:
        """The data in a folder or file.

        Args:
            path: what ``--data`` names.
            training: whether rows will be trained on: then malformed ones are skipped and counted;
                else files to predict on must be whole, since ids may not shift.

        Raises:
            InputError: nothing of the task is there, or a file is malformed; names file and line.
        """

    @abstractmethod
    def head(self, data: Data[E]) -> Head:
        """The head for these data: labels by name, found in the training part or fixed."""

    @abstractmethod
    def encode(
        self, part: Part[E], tokenizer: Tokenizer, max_length: int, head: Head, *, training: bool
    ) -> Encoded:
        """The features of a part.

        Args:
            part: the examples.
            tokenizer: that of the model.
            max_length: most tokens a sequence.
            head: the head that the features are for.
            training: whether targets are needed. Examples that can not be trained on (no label, a
                wrong one) are then left out and counted; otherwise every example has a feature.
        """

    def tune(
        self, part: Part[E], encoded: Encoded, outputs: Sequence[Output], head: Head
    ) -> dict[str, float]:
        """What is fitted on dev beside the weights (a threshold); kept with the model."""
        del part, encoded, outputs, head
        return {}

    @abstractmethod
    def decide(
        self,
        part: Part[E],
        encoded: Encoded,
        outputs: Sequence[Output],
        head: Head,
        tuned: Mapping[str, float],
    ) -> list[Any]:
        """One prediction an example, in the order of the part.

        Args:
            part: the examples.
            encoded: its features.
            outputs: one array a feature, see :class:`Head`.
            head: the head that made them.
            tuned: what :meth:`tune` gave on dev.
        """

    @abstractmethod
    def score(self, part: Part[E], predictions: Sequence[Any]) -> Figures:
        """The task's official figures for a labelled part, in the order people print them."""

    @abstractmethod
    def write(self, folder: Path, part: Part[E], predictions: Sequence[Any]) -> list[Path]:
        """Write the task's official output files for a part; returns their paths."""

    def scorer(
        self, part: Part[E], predictions: Sequence[Any]
    ) -> Callable[[npt.NDArray[np.int64]], float | None]:
        """``metric`` as a function of a sample of the part: numbers of examples, some repeated.

        A task whose figure is a mean over examples, or is made from sums over them, overrides this
        with something faster.
        """

        def score(numbers: npt.NDArray[np.int64]) -> float | None:
            chosen = numbers.tolist()
            sample = replace(part, examples=[part.examples[one] for one in chosen])
            return self.score(sample, [predictions[one] for one in chosen]).get(self.metric)

        return score

    def most_frequent(self, train: Part[E], part: Part[E]) -> list[Any] | None:
        """For a baseline, the most frequent answer of ``train`` as prediction for every example
        of ``part`` (the mean for values); None where that means nothing."""
        del train, part
        return None

    def constant(self, predictions: Sequence[Any]) -> bool:
        """Whether all predictions are the same: a model that learnt nothing."""
        return len(predictions) > 1 and all(one == predictions[0] for one in predictions[1:])

    def confusion(
        self, part: Part[E], predictions: Sequence[Any], head: Head
    ) -> dict[str, dict[str, int]]:
        """How often each label was taken for each other one, gold first; empty where it has no
        meaning."""
        del part, predictions, head
        return {}

    def mistakes(self, part: Part[E], predictions: Sequence[Any], most: int) -> list[Mistake]:
        """The worst mistakes, worst first."""
        del part, predictions, most
        return []
