"""How far a run has come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bertsmith.pretrain.pairs import PairCounts


@dataclass
class Clock:
    """How far a run has come; saved in its checkpoints."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    empty_batches: int = 0
    cut: PairCounts = field(default_factory=PairCounts)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a checkpoint."""
        return {**vars(self), "cut": self.cut.as_dict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Clock:
        """The clock that a checkpoint holds."""
        return cls(**{**values, "cut": PairCounts(**values["cut"])})
