"""JSON records that carry a SHA-256 of themselves: a damaged one is not taken for another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_SEAL = "sha256"


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its seal, under ``sha256``."""
    return {**record, _SEAL: _digest(record)}


def opened(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without its seal; ValueError unless it is as it was sealed."""
    said = {name: value for name, value in record.items() if name != _SEAL}
    if record.get(_SEAL) != _digest(said):
        raise ValueError("its own checksum is wrong")
    return said


def _digest(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
