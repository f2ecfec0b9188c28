"""JSON Lines, or one JSON list of objects, as rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.tables.rows import Row


def _scalar(text: str) -> str:
    return text


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(one for one in names if names.count(one) > 1)!r} stands twice")
    return made


# Numbers keep their spelling: the label 1 is "1", and 1.0 is "1.0". NaN is a null.
_DECODER = json.JSONDecoder(
    parse_int=_scalar, parse_float=_scalar, parse_constant=lambda _: None, object_pairs_hook=_once
)
_BLANK = " \t\r\n"


def object_rows(text: str, path: Path) -> Iterator[Row]:
    """A row an object; what is no object is a row with a problem.

    Raises:
        InputError: a list of objects is broken, so that what follows can not be read.
    """
    if text.lstrip(_BLANK).startswith("["):
        yield from _items(text, path)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(_BLANK):
            yield _row(line.strip(_BLANK), number)


def plain(value: object) -> object:
    """A value with true and false as words and without nulls; lists and objects inside too."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items() if one is not None}
    return value


def _row(text: str, line: int) -> Row:
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        return Row(line, problem=f"not JSON: {error}")
    return _of(value, line)


def _of(value: object, line: int) -> Row:
    try:
        cells = plain(value)
    except RecursionError:
        return Row(line, problem="lists and objects are too deep inside each other")
    if not isinstance(cells, dict):
        return Row(line, problem="not a JSON object")
    return Row(line, cells)


def _items(text: str, path: Path) -> Iterator[Row]:
    at, line, counted = text.index("[") + 1, 1, 0
    while True:
        while at < len(text) and text[at] in _BLANK + ",":
            at += 1
        if text[at : at + 1] == "]":
            if text[at + 1 :].strip(_BLANK):
                raise InputError(
                    "something stands behind the list of objects", file=path,
                    line=text.count("\n", 0, at) + 1, value=text[at + 1 :].strip(_BLANK)[:40],
                    mend="give one list alone, or an object a line",
                )  # fmt: skip
            return
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"the list of objects is broken: {error}", file=path, line=line
            ) from None
        yield _of(value, line)
