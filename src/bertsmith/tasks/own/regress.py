"""``regress``: the user's own tables of texts, or pairs of texts, with a number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertsmith.tasks.own.texts import text_source, value
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.load import load
from bertsmith.tasks.tables.write import write_both
from bertsmith.tasks.task import Data, Part
from bertsmith.tasks.text.examples import TextExample
from bertsmith.tasks.text.task import TextTask


class RegressTask(TextTask):
    """A number a row, of any size; the model is trained on it as it stands."""

    name = "regress"
    metric = "pearson"
    kind = "value"
    figure_names = (
        "pearson", "spearman", "mean_squared_error", "root_mean_squared_error",
        "mean_absolute_error", "gold_standard_deviation",
    )  # fmt: skip

    def __init__(self, settings: TaskSettings) -> None:
        self.settings, self.pairs = settings, bool(settings.pair_column)

    def read(self, path: Path, *, training: bool = True) -> Data[TextExample]:
        """The parts in a folder or file; see :func:`~bertsmith.tasks.tables.load.load`."""
        return load(text_source(self.settings, value), Path(path), training=training)

    def write(
        self, folder: Path, part: Part[TextExample], predictions: Sequence[Any]
    ) -> list[Path]:
        """``<part>.csv``: id and value; ``<part>.jsonl``: the same."""
        pairs = [(one.id, float(got)) for one, got in zip(part.examples, predictions, strict=True)]
        return write_both(
            folder, part.name, [(name, repr(got)) for name, got in pairs],
            [{"id": name, "value": got} for name, got in pairs],
        )  # fmt: skip
