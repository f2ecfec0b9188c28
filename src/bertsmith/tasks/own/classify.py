"""``classify``: the user's own tables, text or pair of texts -> a class or several labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertsmith.tasks.own.texts import text_source, word, words
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.load import load
from bertsmith.tasks.tables.rows import Row
from bertsmith.tasks.tables.write import write_both
from bertsmith.tasks.task import Data, Part
from bertsmith.tasks.text.examples import Target, TextExample
from bertsmith.tasks.text.task import TextTask

_MANY = 20  # training rows from which on the number of labels is looked at


class ClassifyTask(TextTask):
    """A class a row; with ``label_separator`` any number of labels a row, also none."""

    name = "classify"

    def __init__(self, settings: TaskSettings) -> None:
        self.settings = settings
        self.pairs = bool(settings.pair_column)
        self.kind, self.metric = "classes", "accuracy"
        self.figure_names = ("accuracy", "macro_f1")
        if settings.label_separator:
            self.kind, self.metric = "labels", "micro_f1"
            self.figure_names = ("micro_f1", "macro_f1", "accuracy")

    def read(self, path: Path, *, training: bool = True) -> Data[TextExample]:
        """The parts in a folder or file; see :func:`~bertsmith.tasks.tables.load.load`."""
        data = load(text_source(self.settings, self._target), Path(path), training=training)
        data.notes += self._many_labels(data)
        return data

    def write(
        self, folder: Path, part: Part[TextExample], predictions: Sequence[Any]
    ) -> list[Path]:
        """``<part>.csv``: id and label, several set apart by the separator; ``<part>.jsonl``:
        with ``label`` and ``probability``, or ``labels`` with the probability of each."""
        separator = self.settings.label_separator
        objects: list[dict[str, Any]]
        ids = [one.id for one in part.examples]
        if self.kind == "labels":
            rows = [separator.join(one) for one in predictions]
            objects = [
                {"labels": {str(label): label.probability for label in one}} for one in predictions
            ]
        else:
            rows = [str(one) for one in predictions]
            objects = [{"label": str(one), "probability": one.probability} for one in predictions]
        return write_both(
            folder, part.name, zip(ids, rows, strict=True),
            [{"id": name, **one} for name, one in zip(ids, objects, strict=True)],
        )  # fmt: skip

    def _target(self, row: Row, column: str) -> Target:
        separator = self.settings.label_separator
        return words(row, column, separator) if separator else word(row, column)

    def _many_labels(self, data: Data[TextExample]) -> list[str]:
        """Nearly a label a row: most likely the column is another one."""
        examples = [] if data.train is None else data.train.examples
        count = len({one.target for one in examples})
        if len(examples) < _MANY or count * 2 < len(examples):
            return []
        column = self.settings.label_column
        return [
            f"{count} different labels in {len(examples)} training rows: does column {column!r} "
            "hold the labels (--label-column)?"
        ]
