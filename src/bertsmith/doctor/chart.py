"""The chart of an examination: facts, and findings of three grades."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from bertsmith.common.errors import BertsmithError

P = ParamSpec("P")
T = TypeVar("T")


class Grade(StrEnum):
    """How bad a finding is."""

    BROKEN = "broken"  # it can not be used, or gives wrong results
    WARNING = "warning"  # it works, and may well not do what its user thinks
    NOTE = "note"  # worth knowing


@dataclass(frozen=True)
class Fact:
    """Something that is so.

    Attributes:
        name: what it is about, in words.
        value: a JSON value, for programs.
        text: for people; the value itself where it is empty.
    """

    name: str
    value: Any
    text: str = ""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or odd.

    Attributes:
        grade: how bad it is.
        what: one sentence, without a full stop.
        where: the file, with its line where it has one.
        mend: what the user can do; empty where nothing has to be done.
    """

    grade: Grade
    what: str
    where: str = ""
    mend: str = ""


Observations = Iterable[Fact | Finding]


class Chart:
    """Collects what the examinations see; one that meets an error does not stop the others.

    Args:
        path: what is examined.
        kind: ``model`` or ``corpus``.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self.facts: list[Fact] = []
        self.findings: list[Finding] = []

    def add(self, observations: Observations) -> bool:
        """Take what an examination yields; an error that a user can mend is its last finding.

        Returns:
            Whether it found nothing broken.
        """
        before = self.count(Grade.BROKEN)
        try:
            for one in observations:
                if isinstance(one, Fact):
                    self.facts.append(one)
                elif one not in self.findings:
                    self.findings.append(one)
        except BertsmithError as error:
            self._add_error(error)
        return self.count(Grade.BROKEN) == before

    def attempt(self, read: Callable[P, T], *args: P.args, **options: P.kwargs) -> T | None:
        """What ``read`` returns; None, and a finding, where it meets what a user can mend."""
        try:
            return read(*args, **options)
        except BertsmithError as error:
            self._add_error(error)
            return None

    def count(self, grade: Grade) -> int:
        """Number of findings of a grade."""
        return sum(one.grade is grade for one in self.findings)

    def by_grade(self) -> list[Finding]:
        """The findings, the worst first."""
        order = list(Grade)
        return sorted(self.findings, key=lambda one: order.index(one.grade))

    def as_dict(self) -> dict[str, Any]:
        """The chart as plain JSON values."""
        return {
            "path": str(self.path),
            "kind": self.kind,
            "facts": {re.sub(r"\W+", "_", one.name.lower()): one.value for one in self.facts},
            "findings": [
                {"grade": str(one.grade), "what": one.what, "where": one.where, "mend": one.mend}
                for one in self.by_grade()
            ],
            **{str(grade): self.count(grade) for grade in Grade},
        }

    def _add_error(self, error: BertsmithError) -> None:
        what = error.message
        if error.value is not None:
            what += f" (got {error.value!r})"
        where = "" if error.file is None else self._short(error.file)
        if error.line is not None:
            where += f", line {error.line}" if where else f"line {error.line}"
        found = Finding(Grade.BROKEN, what, where, error.mend or "")
        if found not in self.findings:
            self.findings.append(found)

    def _short(self, file: str) -> str:
        """A file's name inside what is examined."""
        path = Path(file)
        inside = path != self.path and path.is_relative_to(self.path)
        return str(path.relative_to(self.path)) if inside else file


def some(names: Iterable[object], most: int = 3) -> str:
    """The first of ``names``, and how many more there are."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def megabytes(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def percent(share: float) -> str:
    """A small share for people."""
    return "below 0.01%" if 0 < share < 0.0001 else f"{share:.2%}"


def counted(number: int, what: str, plural: str = "") -> str:
    """``1 piece``, ``2 pieces``."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"
