"""The tasks of multiple choice: SWAG, and the user's own tables."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bertsmith.tasks.choice.encode import encode_choices
from bertsmith.tasks.choice.examples import Choice, ChoiceExample
from bertsmith.tasks.choice.own import choose_rows
from bertsmith.tasks.choice.swag import INDEX, swag_rows
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.load import Make, Source, load
from bertsmith.tasks.tables.rows import Table
from bertsmith.tasks.tables.write import write_both
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
from bertsmith.text.tokenizer import Tokenizer

UNLABELLED = "examples without a label"
_LEAST = 1e-9  # a probability, so that its logarithm is a number


class ChoiceTask(Task[ChoiceExample]):
    """One of several choices. A task of its own adds ``name`` and :meth:`rows`."""

    metric = "accuracy"
    kind = "choice"
    max_length = 128
    id_column: str | None = None

    def __init__(self, settings: TaskSettings) -> None:
        self.settings = settings

    @abstractmethod
    def rows(self, table: Table, labelled: bool) -> Make[ChoiceExample]:
        """How the rows of a table are read; see :class:`~bertsmith.tasks.tables.load.Source`."""

    def read(self, path: Path, *, training: bool = True) -> Data[ChoiceExample]:
        """The parts in a folder or file; see :func:`~bertsmith.tasks.tables.load.load`."""
        source = Source(
            self.settings,
            self.rows,
            lambda one: one.label is not None,
            lambda examples: [str(one.label) for one in examples],
            lambda one: (one.context, one.start, one.choices),
            id_column=self.id_column,
        )
        return load(source, Path(path), training=training)

    def head(self, data: Data[ChoiceExample]) -> Head:
        """One score a choice, whatever their number."""
        del data
        return Head("choice")

    def encode(
        self,
        part: Part[ChoiceExample],
        tokenizer: Tokenizer,
        max_length: int,
        head: Head,
        *,
        training: bool,
    ) -> Encoded:
        """One feature an example, with a sequence a choice; see :func:`encode_choices`."""
        self.check(head)
        chosen = [
            at for at, one in enumerate(part.examples) if one.label is not None or not training
        ]
        found, counts = encode_choices([part.examples[at] for at in chosen], tokenizer, max_length)
        if training:
            counts[UNLABELLED] = len(part.examples) - len(chosen)
        features = [
            Feature(sequences, at, part.examples[at].label)
            for at, sequences in zip(chosen, found, strict=True)
        ]
        return Encoded(features, +counts)

    def decide(
        self,
        part: Part[ChoiceExample],
        encoded: Encoded,
        outputs: Sequence[Output],
        head: Head,
        tuned: Mapping[str, float],
    ) -> list[Choice]:
        """The choice with the highest score, the first one on a tie."""
        del encoded, head, tuned
        return [_choice(one, output) for one, output in zip(part.examples, outputs, strict=True)]

    def score(self, part: Part[ChoiceExample], predictions: Sequence[Choice]) -> Figures:
        """``accuracy``: share of the examples whose right choice is chosen."""
        right = _right(part, predictions)
        return {"accuracy": float(right.mean()) if len(right) else None}

    def scorer(
        self, part: Part[ChoiceExample], predictions: Sequence[Choice]
    ) -> Callable[[npt.NDArray[np.int64]], float | None]:
        """Accuracy of samples of the part."""
        right = _right(part, predictions)
        return lambda numbers: float(right[numbers].mean()) if len(numbers) else None

    def write(
        self, folder: Path, part: Part[ChoiceExample], predictions: Sequence[Choice]
    ) -> list[Path]:
        """``<part>.csv`` with ``id,prediction`` (the number of the choice, from 0) and
        ``<part>.jsonl`` with its text and the probabilities of all."""
        pairs = list(zip(part.examples, predictions, strict=True))
        return write_both(
            folder, part.name, [(example.id, str(one.index)) for example, one in pairs],
            [{"id": example.id, **asdict(one)} for example, one in pairs],
        )  # fmt: skip

    def most_frequent(
        self, train: Part[ChoiceExample], part: Part[ChoiceExample]
    ) -> list[Choice] | None:
        """The place that is most often right in ``train``; the first where a row lacks it."""
        counts = Counter(one.label for one in train.examples if one.label is not None)
        if not counts:
            return None
        place = counts.most_common(1)[0][0]
        return [_certain(one, place if place < len(one.choices) else 0) for one in part.examples]

    def constant(self, predictions: Sequence[Choice]) -> bool:
        """Whether the same place is chosen throughout."""
        return len(predictions) > 1 and len({one.index for one in predictions}) == 1

    def mistakes(
        self, part: Part[ChoiceExample], predictions: Sequence[Choice], most: int
    ) -> list[Mistake]:
        """Wrong choices, those first whose right choice had the least probability."""
        wrong = [
            Mistake(
                f"{example.context} | {example.start}".rstrip(" |"),
                example.choices[example.label],
                one.text,
                -math.log(max(one.probabilities[example.label], _LEAST)),
            )
            for example, one in zip(part.examples, predictions, strict=True)
            if example.label is not None and example.label != one.index
        ]
        return sorted(wrong, key=lambda one: -one.loss)[:most]


class SwagTask(ChoiceTask):
    """SWAG: which of four endings goes on (paper, section 4.4)."""

    name = "swag"
    id_column = INDEX

    def rows(self, table: Table, labelled: bool) -> Make[ChoiceExample]:
        """SWAG's columns; see :func:`swag_rows`."""
        return swag_rows(table, labelled)


class ChooseTask(ChoiceTask):
    """The user's own tables: a context and two or more choices."""

    name = "choose"

    def __init__(self, settings: TaskSettings) -> None:
        super().__init__(settings)
        self._reading = settings.choice_labels

    def read(self, path: Path, *, training: bool = True) -> Data[ChoiceExample]:
        """As :meth:`ChoiceTask.read`; labels of all files are read as those of the first one."""
        self._reading = self.settings.choice_labels
        return super().read(path, training=training)

    def remembered(self) -> dict[str, Any]:
        """What the labels of the training file are, so that others are read alike."""
        return {"choice_labels": self._reading}

    def rows(self, table: Table, labelled: bool) -> Make[ChoiceExample]:
        """The columns that the settings name; see :func:`choose_rows`."""
        make, self._reading = choose_rows(self.settings, table, labelled, self._reading)
        return make


def _choice(example: ChoiceExample, logits: Output) -> Choice:
    if logits.shape != (len(example.choices),):
        raise ValueError(f"{logits.shape} scores for {len(example.choices)} choices")
    powers = np.exp(logits.astype(np.float64) - logits.max())
    index = int(logits.argmax())
    return Choice(index, example.choices[index], tuple((powers / powers.sum()).tolist()))


def _certain(example: ChoiceExample, index: int) -> Choice:
    chances = tuple(float(at == index) for at in range(len(example.choices)))
    return Choice(index, example.choices[index], chances)


def _right(part: Part[Any], predictions: Sequence[Choice]) -> npt.NDArray[np.bool_]:
    return np.array(
        [one.label == got.index for one, got in zip(part.examples, predictions, strict=True)],
        dtype=np.bool_,
    )
