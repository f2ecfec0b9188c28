"""The example of tagging: a sentence in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence.

    Attributes:
        words: its words, at least one; any text, also such that becomes no token.
        tags: a tag a word; None where they are not known.
        document: number of its document; 0 before the first document marker of a file.
        line: where its first word stands, from 1; the others follow line by line.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    document: int = 0
    line: int = 1
