"""Lone surrogates: halves of characters that JSON and UTF-16 let into Python strings."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR_OR_ONE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def has_surrogates(text: str) -> bool:
    """Whether ``text`` has any, which no UTF-8 encoder takes."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def clean(text: str) -> str:
    """``text`` with split pairs joined and lone surrogates replaced by U+FFFD."""
    return without_surrogates(text)[0] if has_surrogates(text) else text


def without_surrogates(text: str) -> tuple[str, list[int]]:
    """As :func:`clean`, with places.

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
        if len(found) == 2:
            parts.append(found.encode("utf-16", "surrogatepass").decode("utf-16"))
        else:
            parts.append("\ufffd")
        at = match.end()
    parts.append(text[at:])
    places += range(at, len(text) + 1)
    return "".join(parts), places
