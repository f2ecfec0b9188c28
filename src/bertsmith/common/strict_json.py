"""JSON of files that others wrote: every value that it gives can be shown and written again."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from bertsmith.common.files import read_small

DEEPEST = 100  # lists and objects inside each other


def read(path: Path) -> Any:
    """The value of a file of JSON in UTF-8.

    Raises:
        OSError: it can not be read, or is larger than such files are.
        ValueError: as :func:`loads`.
    """
    return loads(read_small(path).decode("utf-8"))


def loads(text: str) -> Any:
    """The value of a JSON text; of a name that stands twice in an object, the last one.

    Raises:
        ValueError: it is not JSON, has a number that is not finite (``NaN``, ``1e999``), or lists
            and objects are more than 100 deep.
    """
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return value
    raise ValueError(_TOO_DEEP)


_TOO_DEEP = f"lists and objects are more than {DEEPEST} deep"


def _inside(value: Any) -> list[Any]:
    """The lists and objects that are items of ``value``."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in items if isinstance(one, dict | list)]


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _no_number(text)
    return number


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
