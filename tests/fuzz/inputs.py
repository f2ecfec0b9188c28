"""Bad input: bytes damaged and JSON gone odd; and what a reader may answer to it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from bertsmith.common.errors import BertsmithError
from tests.torture import LONG, trials

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])

# Spelled in JSON text, since no Python value gives them.
_SPELLED = {
    "@infinite": "1e999",
    "@digits": "9" * 5000,
    "@deep": "[" * 900 + "]" * 900,
    "@deeper": '{"a":' * 100_000,
    "@twice": '{"a": 1, "a": 2}',
}
_ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 0.5, 1e308, float("nan"), float("inf"), 2**31, 2**63, 10**12, 10**400,
    "", "0", "\0", "\ud800", "\u2028", "../x", "/etc/passwd", "x" * 5000, [], {}, [None], [[]],
    {"": None}, [1, "a", {}], *_SPELLED,
)  # fmt: skip


def fuzzed(little: int) -> Callable[[F], F]:
    """How many inputs a test takes; the same ones each time in an ordinary run."""
    return settings(
        max_examples=trials(little, 10_000), derandomize=not LONG, database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


def answer(read: Callable[[], T], *files: Path | str) -> T | None:
    """What the reader gives; None where it refuses the input as it should.

    Args:
        read: the reader.
        files: the message has to name one of these; any where none is given.
    """
    try:
        return read()
    except BertsmithError as error:
        text = str(error)
        assert not files or any(str(file) in text for file in files), f"no file in: {text}"
        assert len(text) < 10_000, f"a message of {len(text)} characters"
        assert not any(ord(char) < 32 and char != "\n" for char in text), repr(text)
        return None


@st.composite
def damaged(draw: st.DrawFn, *valid: bytes) -> bytes:
    """One of the valid files with some bytes changed, cut, put in or twice; or any bytes."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300))
    data = bytearray(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.sampled_from([1, 1, 2, 8, 100]))
        kind = draw(st.integers(0, 5))
        if kind == 0:
            data[at : at + length] = draw(st.binary(min_size=length, max_size=length))
        elif kind == 1 and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = draw(st.binary(max_size=20)) * draw(st.sampled_from([1, 1, 50]))
        elif kind == 4:
            del data[at:]
        else:
            data[at:at] = data[at : at + length]
    return bytes(data)


@st.composite
def odd_json(draw: st.DrawFn, *valid: Any) -> bytes:
    """A valid value with some of its parts odd, gone or called otherwise, as JSON."""
    value = copy.deepcopy(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(0, 3))):
        places = list(_places(value))
        if not places:
            break
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        kind = draw(st.integers(0, 5))
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[draw(st.sampled_from(["", "\ud800", "0", "x" * 300]))] = holder.pop(key)
        elif kind == 1:
            holder.append(holder[key])
        else:
            holder[key] = copy.deepcopy(draw(st.sampled_from(_ODD)))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    for name, spelled in _SPELLED.items():
        text = text.replace(f'"{name}"', spelled)
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any) -> Any:
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
