"""Which choice a label means: its number, its letter, its column or its text."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bertsmith.common.errors import InputError

PLACEHOLDERS = ("-1", "?")  # labels of files to predict on that say nothing
Find = Callable[[str, "Choices"], int | None]


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a row: their texts, and the columns they stand in."""

    texts: tuple[str, ...]
    columns: tuple[str, ...]


def _by_column(label: str, choices: Choices) -> int | None:
    return choices.columns.index(label) if label in choices.columns else None


def _by_number(label: str, choices: Choices) -> int | None:
    plain = label.isascii() and label.isdecimal() and len(label) < 4
    return int(label) if plain and int(label) < len(choices.texts) else None


def _by_letter(label: str, choices: Choices) -> int | None:
    at = string.ascii_uppercase.find(label.upper()) if len(label) == 1 else -1
    return at if 0 <= at < len(choices.texts) else None


def _by_text(label: str, choices: Choices) -> int | None:
    same = [at for at, text in enumerate(choices.texts) if text.strip() == label]
    return same[0] if len(same) == 1 else None


# In this order where two of them fit equally many rows.
READINGS: dict[str, Find] = {
    "column": _by_column,
    "number": _by_number,
    "letter": _by_letter,
    "text": _by_text,
}
_CALLED = {
    "column": "names of the choices' columns",
    "number": "numbers of choices, from 0",
    "letter": "letters of choices, from A",
    "text": "texts of choices",
}


def reading_of(rows: Sequence[tuple[str, Choices]], path: Path, known: str = "auto") -> str:
    """The way of reading labels that fits most rows of a file.

    Args:
        rows: labels with the choices of their rows.
        path: the file, for messages.
        known: the way that is given or that the training file had; ``auto`` for none.

    Raises:
        InputError: no way fits half of them, or the numbers begin at 1; or another way than the
            known one fits more of them.
    """
    fits = {
        name: sum(find(label, choices) is not None for label, choices in rows)
        for name, find in READINGS.items()
    }
    best = max(fits, key=lambda name: fits[name])
    labels = {label for label, _ in rows}
    beyond = any(label == str(len(choices.texts)) for label, choices in rows)
    if READINGS[best] is _by_number and beyond and "0" not in labels:
        raise InputError(
            "the labels are numbers from 1", file=path, value=sorted(labels)[:10],
            mend="count choices from 0, or give letters, texts or names of columns",
        )  # fmt: skip
    if fits[best] * 2 < len(rows):
        raise InputError(
            f"at most {fits[best]} of {len(rows)} labels name a choice of their row", file=path,
            value=sorted(labels)[:10],
            mend="labels are numbers from 0, letters from A, names of columns, or texts of choices",
        )  # fmt: skip
    if known != "auto" and fits[best] > fits[known]:
        raise InputError(
            f"the labels look like {_CALLED[best]} ({fits[best]} of {len(rows)}), but are to be "
            f"read as {_CALLED[known]} ({fits[known]}), as in training or by --choice-labels",
            file=path, value=sorted(labels)[:10],
            mend=f"write them as {_CALLED[known]}, or give --choice-labels {best}",
        )  # fmt: skip
    return best if known == "auto" else known
