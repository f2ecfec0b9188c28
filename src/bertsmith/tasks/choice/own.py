"""Rows of the user's own tables as contexts with choices."""

from __future__ import annotations

from bertsmith.common.errors import SettingsError
from bertsmith.tasks.choice.examples import ChoiceExample
from bertsmith.tasks.choice.labels import PLACEHOLDERS, READINGS, Choices, reading_of
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.load import Make
from bertsmith.tasks.tables.rows import BadRow, Row, Table


def choose_rows(
    settings: TaskSettings, table: Table, labelled: bool, reading: str = "auto"
) -> tuple[Make[ChoiceExample], str]:
    """How the rows of a file are read.

    ``text_column`` is the context. ``choice_columns`` are the choices, in their order; an empty
    cell is no choice. One column may hold a list of them instead (JSON Lines, Parquet). At least
    two are needed. ``label_column`` says which is right: see ``READINGS``, of which the one that
    fits most rows of the file holds for the whole file.

    Args:
        settings: names the columns.
        table: the file.
        labelled: whether each row needs a label.
        reading: the key of ``READINGS`` that holds already; ``auto`` for none.

    Returns:
        How a row is made an example, and the reading; ``auto`` still where no row has a label.

    Raises:
        InputError: a column is missing, or the labels can not be understood.
        SettingsError: no columns of choices are named.
    """
    if not settings.choice_columns:
        raise SettingsError(
            "the columns of the choices are not named",
            mend="give --choice-columns once for each of them, "
            f"of {', '.join(map(repr, table.columns[:20]))}",
        )
    for column in settings.choice_columns:
        table.need(column, "--choice-columns")
    context = table.need(settings.text_column, "--text-column")
    column = settings.label_column
    if labelled:
        table.need(column, "--label-column")
    empty = () if labelled else PLACEHOLDERS
    known = [
        pair for row in table.rows if (pair := _known(row, column, settings, empty)) is not None
    ]
    if known:
        reading = reading_of(known, table.path, reading)
    find = READINGS[reading] if known else None

    def make(row: Row, name: str) -> ChoiceExample:
        choices = _choices(row, settings.choice_columns)
        label = _label(row, column, empty)
        if labelled and not label:
            raise BadRow("no label")
        at = find(label, choices) if find is not None and label else None
        if label and at is None:
            raise BadRow(f"the label names none of the {len(choices.texts)} choices: {label!r}")
        return ChoiceExample(name, row.need(context), choices.texts, "", at, row.line)

    return make, reading


def _known(
    row: Row, column: str, settings: TaskSettings, empty: tuple[str, ...]
) -> tuple[str, Choices] | None:
    """Label and choices of a row that has both."""
    try:
        label = _label(row, column, empty)
        return (label, _choices(row, settings.choice_columns)) if label else None
    except BadRow:
        return None  # named when its example is made


def _label(row: Row, column: str, empty: tuple[str, ...]) -> str:
    label = (row.text(column) or "").strip()
    return "" if label in empty else label


def _choices(row: Row, columns: tuple[str, ...]) -> Choices:
    cells = row.cells.get(columns[0]) if len(columns) == 1 else None
    if isinstance(cells, list):
        texts = row.texts(columns[0]) or ()
        found = [(text, "") for text in texts]
    else:
        found = [(text, column) for column in columns if (text := row.text(column) or "").strip()]
    if len(found) < 2:
        raise BadRow(f"{len(found)} choices instead of two or more")
    return Choices(tuple(text for text, _ in found), tuple(column for _, column in found))
