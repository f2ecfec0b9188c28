"""The GLUE tasks as task objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertsmith.common.errors import InputError, ModelError
from bertsmith.tasks.glue.find import find_files, find_glue
from bertsmith.tasks.glue.layouts import AX, Layout, Split, layout_of
from bertsmith.tasks.glue.paper import PAPER_AVERAGE, PAPER_TABLE_1, Published
from bertsmith.tasks.glue.read import read_part
from bertsmith.tasks.glue.write import write_part, zip_submission
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Data, Head, Part
from bertsmith.tasks.text.examples import TextExample
from bertsmith.tasks.text.task import TextTask

__all__ = [
    "PAPER_AVERAGE",
    "PAPER_TABLE_1",
    "GlueTask",
    "Published",
    "find_glue",
    "glue_task",
    "zip_submission",
]


def glue_task(name: str, settings: TaskSettings) -> GlueTask:
    """The GLUE task of this name, ``sst2`` or ``SST-2``.

    Raises:
        SettingsError: GLUE has no such task.
    """
    return GlueTask(layout_of(name), settings)


class GlueTask(TextTask):
    """One GLUE task, as its layout says."""

    def __init__(self, layout: Layout, settings: TaskSettings) -> None:
        self.layout, self.settings = layout, settings
        self.name, self.metric = layout.name, layout.metric
        self.figure_names, self.positive = layout.figures, layout.positive
        self.pairs = bool(layout.pair)
        self.kind = "classes" if layout.labels else "value"

    def read(self, path: Path, *, training: bool = True) -> Data[TextExample]:
        """The files of the task that are there; see :meth:`Task.read`.

        ``train`` is read for training only. MNLI's second dev part is ``dev_mismatched``, its test
        parts are ``test`` and ``test_mismatched``, and ``ax`` where the diagnostic set is there.

        Args:
            path: the folder of the task or of all of GLUE, or one file.
            training: see :meth:`Task.read`.
        """
        data: Data[TextExample] = Data()
        for layout, split, place in find_files(self.layout, Path(path)):
            if training or split.kind != "train":
                self._add(data, layout, split, place, training)
        if not training and not (data.dev or data.test):
            raise InputError(f"no file of {self.layout.title} to predict on is there", file=path)
        if training and not data.dev:
            data.notes.append(f"{self.layout.title} has no dev file there: nothing is scored")
        return data

    def check(self, head: Head) -> None:
        """As in :class:`TextTask`; a head has the words of the task's files, in any order."""
        super().check(head)
        if set(head.labels) != set(self.layout.labels):
            raise ModelError(
                f"the model's labels are not those of {self.layout.title}",
                value=head.labels,
                mend=f"those are {', '.join(self.layout.labels)}: name the model's labels so in "
                "its config.json (id2label), or fine-tune one on the task",
            )

    def head(self, data: Data[TextExample]) -> Head:
        """The labels of the task, whichever of them the training part has; or one value."""
        del data
        return Head(self.kind, self.layout.labels)

    def figures_of(self, part: Part[TextExample]) -> tuple[str, ...]:
        """The task's figures; those of the diagnostic set for ``ax``."""
        return AX.figures if part.name == "ax" else self.figure_names

    def write(
        self, folder: Path, part: Part[TextExample], predictions: Sequence[Any]
    ) -> list[Path]:
        """The leaderboard's file for a test part, the same layout in ``<part>.tsv`` for others."""
        return [write_part(folder, self.layout, part, predictions)]

    def _add(
        self, data: Data[TextExample], layout: Layout, split: Split, path: Path, training: bool
    ) -> None:
        whole = self.settings.strict or not training
        part, notes = read_part(layout, split, path, whole=whole)
        data.notes += notes
        if split.kind == "train":
            data.train = part
        elif split.kind == "dev":
            data.dev.append(part)
        else:
            data.test.append(part)
