"""How far a run has come."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Clock:
    """How far a run has come; saved in its checkpoints.

    Attributes:
        step: steps made.
        tokens: tokens of their batches.
        seconds: time spent in them.
        empty_batches: batches in which some loss had no target.
        counts: what the making of the batches did to the text, by name.
        watch: what the checks of the run remember, by name; see ``watch.py``.
        warnings: what they found, by the same names.
        best: of a run that keeps its best model, the ``step`` and ``score`` (None where undefined)
            of that one and the evaluations ``since``; empty before the first.
    """

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    empty_batches: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    watch: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)
    best: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a checkpoint."""
        return deepcopy({**vars(self), "counts": dict(self.counts)})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Clock:
        """The clock that a checkpoint holds."""
        return cls(**{**values, "counts": Counter(values["counts"])})
