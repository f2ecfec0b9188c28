"""What stands beside a score: an interval, and the score of one answer throughout."""

from __future__ import annotations

from typing import Any

import numpy as np

from bertsmith.common.console import muted
from bertsmith.common.randomness import BOOTSTRAP, stream
from bertsmith.tasks.parts import Judged
from bertsmith.tasks.task import Figures, Part, Task

_SAMPLES = 300


def baseline(task: Task[Any], train: Part[Any], part: Part[Any]) -> Figures:
    """Figures of always giving the most frequent answer of ``train``; empty without labels."""
    guess = task.most_frequent(train, part) if part.labelled else None
    with muted():  # what is undefined for one answer throughout says nothing about the model
        return {} if guess is None else task.score(part, guess)


def bootstrap(task: Task[Any], judged: Judged, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % interval of a part's score when its examples are drawn again with replacement.

    300 samples (Efron 1979); the bounds are the 2.5 % and 97.5 % quantiles. It tells how much of
    the score is the choice of the dev examples, not how much is the seed of the run.

    Returns:
        The bounds; None where the score is undefined or the part has fewer than two examples.
    """
    count = len(judged.part.examples)
    if count < 2 or judged.figures.get(task.metric) is None:
        return None
    score = task.scorer(judged.part, judged.predictions)
    drawn = [
        score(stream(seed, BOOTSTRAP, number).integers(0, count, count))
        for number in range(_SAMPLES)
    ]
    known = [value for value in drawn if value is not None]
    if not known:
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
