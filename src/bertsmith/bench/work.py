"""What a side of a row does in one round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Round = Callable[[], Mapping[str, float] | None]


@dataclass(frozen=True)
class Work:
    """A side that is set up.

    Attributes:
        go: does one round. It is timed from outside; what it returns goes beside or, for
            ``seconds``, in place of that time.
        count: units of work in a round: steps, batches, texts.
        flops: operations of the matrix products that the real tokens of a round need, 0 where they
            do not tell anything.
        tokens: real tokens of a round, 0 where they do not tell anything.
        check: numbers that are the same on every side that does the same work.
        about: what the work is made of, for the reader of the table.
        facts: anything else to keep, as JSON values.
        memory: bytes at the peak; None for those of the side's own process.
    """

    go: Round
    count: int = 1
    flops: float = 0.0
    tokens: int = 0
    check: tuple[float, ...] = ()
    about: str = ""
    memory: Callable[[], int] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
