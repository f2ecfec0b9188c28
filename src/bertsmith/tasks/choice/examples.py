"""A context with the choices that may follow it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """One row.

    Attributes:
        id: the row's name in output files.
        context: the first segment of every sequence.
        choices: two or more.
        start: begins the second segment of every sequence; each choice follows it.
        label: which choice is right, from 0; None where that is not known.
        line: where the row begins in its file, from 1.
    """

    id: str
    context: str
    choices: tuple[str, ...]
    start: str = ""
    label: int | None = None
    line: int = 0

    def second(self, choice: str) -> str:
        """The second segment with this choice."""
        return f"{self.start} {choice}" if self.start else choice


@dataclass(frozen=True, slots=True)
class Choice:
    """A prediction.

    Attributes:
        index: the choice, from 0.
        text: its text.
        probabilities: of each choice, adding up to 1.
    """

    index: int
    text: str
    probabilities: tuple[float, ...]
