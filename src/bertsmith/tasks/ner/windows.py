"""Which words a sequence holds, and which of them it decides on.

Sizes are tokens of words; a word of size 0 became no token and is in no window.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Window:
    """A run of words.

    Attributes:
        start: its first word.
        stop: the word after its last.
        owned: the words whose prediction is taken from here.
    """

    start: int
    stop: int
    owned: tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """Words in a row, by the place of their tokens.

    Attributes:
        places: tokens before each word, and at the end all tokens.
    """

    places: list[int]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Line:
        """From the tokens of each word."""
        return cls([0, *accumulate(sizes)])

    def tokens(self, start: int, stop: int) -> int:
        """Tokens of the words from ``start`` to before ``stop``."""
        return self.places[stop] - self.places[start]

    def forward(self, start: int, stop: int, room: int) -> int:
        """The furthest end, at most ``stop``, of words from ``start`` with ``room`` tokens."""
        return min(stop, bisect_right(self.places, self.places[start] + room) - 1)

    def back(self, start: int, stop: int, room: int) -> int:
        """The earliest start, at least ``start``, of words to ``stop`` with ``room`` tokens."""
        return max(start, bisect_left(self.places, self.places[stop] - room))


def cut(line: Line, start: int, stop: int, room: int) -> list[Window]:
    """The words from ``start`` to before ``stop`` in windows of at most ``room`` tokens.

    One window where they fit. Else a window begins half a room after the one before, at the border
    of a word; the last one is moved back so that it is full. Each word with tokens is owned by
    the window in which the smaller of its two contexts, in tokens, is largest (the first one on a
    tie), so that each has its prediction from one window.

    Args:
        line: the words; none is larger than ``room``.
        start: the first word.
        stop: the word after the last.
        room: tokens of a window.
    """
    if line.tokens(start, stop) <= room:
        return [Window(start, stop, _with_tokens(line, start, stop))]
    borders = _borders(line, start, stop, room)
    starts, stops = [low for low, _ in borders], [high for _, high in borders]
    owned: list[list[int]] = [[] for _ in borders]
    for word in _with_tokens(line, start, stop):
        holding = range(bisect_right(stops, word), bisect_right(starts, word))
        contexts = [_context(line, word, *borders[at]) for at in holding]
        owned[holding[contexts.index(max(contexts))]].append(word)
    return [
        Window(low, high, tuple(words))
        for (low, high), words in zip(borders, owned, strict=True)
        if words
    ]


def widen(line: Line, start: int, stop: int, low: int, high: int, room: int) -> tuple[int, int]:
    """Words from ``start`` to before ``stop`` with as many around them as fit, evenly.

    What one side does not use goes to the other.

    Args:
        line: the words.
        start: first word to be there.
        stop: the word after the last one to be there.
        low: the first word that may be there.
        high: the word after the last one that may be there.
        room: tokens of the result.

    Returns:
        Its first word and the word after its last.
    """
    free = room - line.tokens(start, stop)
    left = min(free // 2, line.tokens(low, start))
    right = min(free - left, line.tokens(stop, high))
    left = min(free - right, line.tokens(low, start))
    return line.back(low, start, left), line.forward(stop, high, right)


def _borders(line: Line, start: int, stop: int, room: int) -> list[tuple[int, int]]:
    """First word of each window and the word after its last; the words need more than one."""
    found: list[tuple[int, int]] = []
    while True:
        end = line.forward(start, stop, room)
        if end == stop:
            found.append((line.back(found[-1][0], stop, room), stop))
            return found
        found.append((start, end))
        half = bisect_left(line.places, line.places[start] + max(1, room // 2))
        start = min(end, half)


def _with_tokens(line: Line, start: int, stop: int) -> tuple[int, ...]:
    return tuple(word for word in range(start, stop) if line.tokens(word, word + 1))


def _context(line: Line, word: int, start: int, stop: int) -> int:
    return min(line.tokens(start, word), line.tokens(word + 1, stop))
