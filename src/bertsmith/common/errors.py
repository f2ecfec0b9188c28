"""The one family of errors that a user can mend.

Everything below :class:`BertsmithError` ends a command with exit status 2 and one message, without
a traceback. Any other exception is a fault of ours: exit status 1, with its traceback.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

# A file may hold anything: what is shown of it is of limited length, and can not steer a terminal.
_LONGEST_VALUE, _LONGEST_TEXT = 500, 2000  # characters
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class BertsmithError(Exception):
    """Something the user can mend: what is wrong, where, with which value, and what to do.

    Args:
        message: what is wrong, one sentence, without a full stop.
        file: the file or folder at fault.
        line: its line, counted from 1.
        value: the value at fault, shown with ``repr``.
        mend: what the user can do about it, one sentence.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        value: object = None,
        mend: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.value = value
        self.mend = mend
        super().__init__(self.__str__())

    def __str__(self) -> str:
        where = self.file or ""
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
        text = f"{where}: {self.message}" if where else self.message
        text = readable(text)
        if self.value is not None:
            text += f" (got {readable(_spelled(self.value), _LONGEST_VALUE)})"
        if self.mend:
            text += f"\n  mend: {readable(self.mend)}"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders by pickle; the keyword arguments have to come along.
        return _rebuild, (
            type(self), self.message, self.file, self.line, self.value, self.mend,
        )  # fmt: skip


def readable(text: str, most: int = _LONGEST_TEXT) -> str:
    """The text with at most ``most`` characters, none of which steers a terminal."""
    if len(text) > most:
        text = f"{text[:most]} ... and {len(text) - most:,} characters"
    return _CONTROL.sub(lambda char: repr(char[0])[1:-1], text)


def _spelled(value: object) -> str:
    try:
        return repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        return f"a {type(value).__name__}"


def _rebuild(
    kind: type[BertsmithError], message: str, file: str, line: int, value: object, mend: str
) -> BertsmithError:
    return kind(message, file=file, line=line, value=value, mend=mend)


class SettingsError(BertsmithError):
    """A setting, flag or recipe that is unknown, out of range or contradicts another."""


class InputError(BertsmithError):
    """Text, data or vocabulary files that are missing, unreadable or malformed."""


class CorpusError(BertsmithError):
    """A corpus folder that is missing, incomplete, damaged or does not fit what is asked of it."""


class ModelError(BertsmithError):
    """A model directory that is missing, incomplete, damaged or does not fit what is asked."""


class CheckpointError(BertsmithError):
    """A training checkpoint that is missing, incomplete or damaged."""


class TrainingError(BertsmithError):
    """A run that can not go on, a loss that is not a number for instance."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is closest in spelling to ``name``, or None where none is close."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return matches[0] if matches else None
