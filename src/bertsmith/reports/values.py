"""Careful looks into a summary, which may be of another version or damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def mapping(summary: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The mapping at ``key``, empty where there is none."""
    value = summary.get(key)
    return value if isinstance(value, dict) else {}


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a float can hold; JSON has integers of any length."""
    return isinstance(value, float) or (
        isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1023
    )


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list."""
    return isinstance(value, list)
