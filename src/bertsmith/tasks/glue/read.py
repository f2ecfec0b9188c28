"""From the rows of a GLUE file to examples."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.glue.layouts import LEAST, MOST, NO_GOLD, PLACEHOLDERS, Layout, Split
from bertsmith.tasks.glue.table import Row, Table, read_table
from bertsmith.tasks.task import Part
from bertsmith.tasks.text.examples import TextExample

WITHOUT_GOLD = "rows without a gold label"
UNUSED = "labels not used, since other rows have none"


class BadRow(ValueError):
    """A row that is not as it should be; its text says why."""


def read_part(
    layout: Layout, split: Split, path: Path, *, whole: bool
) -> tuple[Part[TextExample], list[str]]:
    """One file of a task.

    A row is malformed where it has more or fewer fields than there are columns, where it has no
    label in ``train`` or ``dev``, where its value is no number from 0 to 5, or, in ``train``, where
    its label is none of the task's. Dev rows with a label unknown to the task are kept: the model
    can only be wrong on them.

    Args:
        layout: the task.
        split: which of its files it is.
        path: the file.
        whole: refuse a malformed row instead of skipping it. Test files always are to be whole,
            since the ids of predictions may not shift.

    Returns:
        The part, and notes on what was skipped.

    Raises:
        InputError: the file can not be read, a column is missing, or a row is refused.
    """
    table = read_table(path, split.columns)
    reader = _Reader(layout, split, table)
    part: Part[TextExample] = Part(split.part, [], (path,))
    for number, row in enumerate(table.rows):
        try:
            example = reader.example(row, number)
        except BadRow as problem:
            if whole or split.kind == "test":
                raise _refusal(problem, path, row, split) from None
            part.skipped.append(f"{path}:{row.line}: {problem}")
            continue
        if example is None:
            part.counts[WITHOUT_GOLD] += 1
        else:
            part.examples.append(example)
    if split.kind == "test":
        _decide_labels(part)
    elif not part.examples:
        raise InputError(f"none of the {len(table.rows)} rows can be used", file=path)
    return part, _notes(part, reader.unknown)


class _Reader:
    """Rows of one table to examples."""

    def __init__(self, layout: Layout, split: Split, table: Table) -> None:
        self.layout, self.split, self.width = layout, split, len(table.columns)
        self.text = table.need(layout.text)
        self.pair = table.need(layout.pair) if layout.pair else None
        find = table.find if split.kind == "test" else table.need
        self.label = find(layout.label)
        self.index = table.find(layout.index)
        self.unknown: Counter[str] = Counter()

    def example(self, row: Row, number: int) -> TextExample | None:
        """The example of a row; None where it has no gold label by intent."""
        fields = row.fields
        if len(fields) != self.width:
            raise BadRow(f"{len(fields)} fields instead of {self.width}")
        label = None if self.label is None else fields[self.label]
        if label == NO_GOLD and self.split.kind != "test":
            return None
        return TextExample(
            str(number) if self.index is None else fields[self.index],
            fields[self.text],
            None if self.pair is None else fields[self.pair],
            None if label is None else self._target(label),
        )

    def _target(self, label: str) -> str | float | None:
        if label in PLACEHOLDERS:
            if self.split.kind == "test":
                return None
            raise BadRow(f"no label (got {label!r})")
        if not self.layout.labels:
            return _value(label)
        if self.split.kind == "train" and label not in self.layout.labels:
            self.unknown[label] += 1
            raise BadRow(f"unknown label {label!r}; known: {', '.join(self.layout.labels)}")
        return label


def _value(text: str) -> float:
    try:
        value = float(text.replace("_", "?"))  # Python's 1_000 is no number elsewhere
    except ValueError:
        raise BadRow(f"{text!r} is not a number") from None
    if not (math.isfinite(value) and LEAST <= value <= MOST):
        raise BadRow(f"{text!r} is not from {LEAST:g} to {MOST:g}")
    return value


def _refusal(problem: BadRow, path: Path, row: Row, split: Split) -> InputError:
    mend = "rows to predict on can not be left out, since ids would shift: mend the file"
    if split.kind == "train":
        mend = "mend the file, or train without --strict: such rows are then skipped and counted"
    return InputError(str(problem), file=path, line=row.line, mend=mend)


def _decide_labels(part: Part[TextExample]) -> None:
    """A test part is scored where every row has a label, and only there."""
    known = sum(one.target is not None for one in part.examples)
    part.labelled = 0 < known == len(part.examples)
    if known and not part.labelled:
        part.counts[UNUSED] = known


def _notes(part: Part[TextExample], unknown: Counter[str]) -> list[str]:
    name = f"{part.name} ({part.files[0].name})"
    notes = [f"{name}: {len(part.skipped)} skipped"] if part.skipped else []
    if unknown:
        words = ", ".join(f"{word!r} ({count})" for word, count in unknown.most_common(10))
        notes.append(f"{name}: labels unknown to the task, rows skipped: {words}")
    if part.counts[WITHOUT_GOLD]:
        notes.append(f"{name}: {part.counts[WITHOUT_GOLD]} rows without a gold label left out")
    return notes
