"""Lone surrogates: halves of characters that JSON and UTF-16 let into Python strings."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR_OR_ONE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def has_surrogates(text: str) -> bool:
    """Whether ``text`` has any, which no UTF-8 encoder takes."""
    return _SURROGATE.search(text) is not None


def without_surrogates(text: str) -> tuple[str, list[int]]:
    """``text`` with split pairs joined and lone ones replaced by U+FFFD.

    Returns:
        The text, and for each of its characters (and its end) the place in the original.
    """
    parts: list[str] = []
    places: list[int] = []
    at = 0
    for match in _PAIR_OR_ONE.finditer(text):
        parts.append(text[at : match.start()])
        places += range(at, match.start() + 1)
        found = match.group()
        joined = len(found) == 2
        parts.append(found.encode("utf-16", "surrogatepass").decode("utf-16") if joined else "\ufffd")
        at = match.end()
    parts.append(text[at:])
    places += range(at, len(text) + 1)
    return "".join(parts), places
