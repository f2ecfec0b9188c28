"""Rows of the user's own tables as texts with a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.load import Make, Source
from bertsmith.tasks.tables.rows import BadRow, Row, Table
from bertsmith.tasks.tables.split import rarest
from bertsmith.tasks.text.examples import Target, TextExample

_LARGEST = 1e15
ReadTarget = Callable[[Row, str], Target]  # of a row and the label column; None where none is given


def text_source(settings: TaskSettings, target: ReadTarget) -> Source[TextExample]:
    """How rows become examples: ``text_column``, ``pair_column`` if it is named, and a target.

    Args:
        settings: names the columns.
        target: reads the target of a row; raises :class:`BadRow`.
    """

    def make(table: Table, labelled: bool) -> Make[TextExample]:
        text = table.need(settings.text_column, "--text-column")
        pair = table.need(settings.pair_column, "--pair-column") if settings.pair_column else None
        label = settings.label_column
        if labelled or table.columns.count(label) > 1:
            table.need(label, "--label-column")

        def example(row: Row, name: str) -> TextExample:
            found = target(row, label)
            if found is None and labelled:
                raise BadRow(f"no label in column {label!r}")
            return TextExample(
                name, row.need(text), None if pair is None else row.need(pair), found
            )

        return example

    return Source(settings, make, lambda one: one.target is not None, _strata, _given)


def _given(example: TextExample) -> tuple[str, str | None]:
    return example.text, example.pair


def word(row: Row, column: str) -> str | None:
    """A label, without white space around it."""
    found = (row.text(column) or "").strip() or None
    _check_label(found or "", column)
    return found


def words(row: Row, column: str, separator: str) -> tuple[str, ...] | None:
    """Labels in alphabetical order, from a text or a list of texts; an empty cell has none."""
    value = row.cells.get(column)
    if isinstance(value, list):
        found = row.texts(column)
    else:
        text = row.text(column)
        found = None if text is None else tuple(text.split(separator))
    if found is None:
        return None
    _check_label("".join(found), column)
    return tuple(sorted({one.strip() for one in found} - {""}))


def _check_label(label: str, column: str) -> None:
    if "\0" in label:
        raise BadRow(f"the label {label[:40]!r} in column {column!r} holds a NUL character")


def value(row: Row, column: str) -> float | None:
    """A finite number whose square has room in 32-bit floats."""
    text = (row.text(column) or "").strip()
    if not text:
        return None
    try:
        found = float(text.replace("_", "?"))  # Python's 1_000 is no number elsewhere
    except ValueError:
        raise BadRow(f"{text!r} in column {column!r} is not a number") from None
    if not math.isfinite(found):
        raise BadRow(f"{text!r} in column {column!r} is not a finite number")
    if abs(found) > _LARGEST:
        raise BadRow(
            f"{text!r} in column {column!r} is beyond {_LARGEST:g}: its squared error has no place "
            "in 32-bit floats; give the values in a larger unit"
        )
    return found


def _strata(examples: Sequence[TextExample]) -> list[str]:
    """Classes; the rarest of several labels; values are all alike."""
    targets = [one.target for one in examples]
    if any(isinstance(one, tuple) for one in targets):
        return rarest([one if isinstance(one, tuple) else () for one in targets])
    return [one if isinstance(one, str) else "" for one in targets]
