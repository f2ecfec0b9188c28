"""Where the answers of a row stand in its text."""

from __future__ import annotations

from collections import Counter

from bertsmith.tasks.tables.rows import BadRow, Row

START = "answer_start"  # the column, and the key, of the place of an answer
AMBIGUOUS = "answers that stand in the text more than once, the first place taken"
ABSENT = "answers that do not stand in the text"

Span = tuple[str, int]  # an answer and its first character in the text, -1 where it is not there


def spans_of(row: Row, column: str, context: str, counts: Counter[str]) -> tuple[Span, ...]:
    """The gold answers of a row.

    The cell holds one answer, a list of them, or an object with the lists ``text`` and
    ``answer_start``. Places come from that object or from a column ``answer_start``; without one
    an answer stands where the text has it first. A null or an empty cell is no answer.

    Args:
        row: the row.
        column: the column of the answers.
        context: the text.
        counts: told of answers that are not in the text, or more than once.

    Raises:
        BadRow: places are no numbers from 0, or not as many as answers.
    """
    cell = row.cells.get(column)
    if isinstance(cell, dict):
        inner = Row(row.line, cell)
        texts, places = _texts(inner, "text"), _places(inner)
    else:
        texts, places = _texts(row, column), _places(row)
    if not texts:
        return ()
    if places and len(places) != len(texts):
        raise BadRow(f"{len(places)} places in {START!r} for {len(texts)} answers")
    if places:
        return tuple(zip(texts, places, strict=True))
    return tuple((text, _find(text, context, counts)) for text in texts)


def _find(text: str, context: str, counts: Counter[str]) -> int:
    place = context.find(text)
    if place < 0:
        counts[ABSENT] += 1
    elif context.find(text, place + 1) >= 0:
        counts[AMBIGUOUS] += 1
    return place


def _texts(row: Row, column: str) -> tuple[str, ...]:
    found = _cell(row, column)
    return tuple(one for one in found if one.strip())


def _places(row: Row) -> tuple[int, ...]:
    found = _cell(row, START)
    wrong = [one for one in found if not (one.isascii() and one.isdecimal())]
    if wrong:
        raise BadRow(f"{wrong[0]!r} in {START!r} is not a number of a character from 0")
    return tuple(int(one) for one in found)


def _cell(row: Row, column: str) -> tuple[str, ...]:
    """A list as it is; a text as a list of one; an empty cell as none."""
    if isinstance(row.cells.get(column), list):
        return row.texts(column) or ()
    text = row.text(column)
    return (text,) if text and text.strip() else ()
