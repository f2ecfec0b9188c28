"""A text, or a pair of texts, with what it is to be given."""

from __future__ import annotations

from dataclasses import dataclass

# A class, several labels at once, a value; None where it is not known (rows of a test file).
Target = str | tuple[str, ...] | float | None


@dataclass(frozen=True, slots=True)
class TextExample:
    """One row.

    Attributes:
        id: the row's name in output files.
        text: the text, or the first of two.
        pair: the second text, which may be empty; None where the task has one text only.
        target: the label as a word, the labels as words, or the value; None where not known.
    """

    id: str
    text: str
    pair: str | None = None
    target: Target = None
