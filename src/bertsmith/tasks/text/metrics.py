"""The field's figures, computed by scikit-learn and scipy; None where a figure is not defined."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bertsmith.common.console import warn
from bertsmith.model.task import Kind
from bertsmith.tasks.task import Figures


@dataclass(frozen=True)
class Answers:
    """What was right and what was predicted, as numbers.

    Attributes:
        gold: [N] int64 for classes, [N, L] int64 0/1 for several labels, [N] float64 for values.
        predicted: of the same shape and type.
        positive: for classes, the number of the positive class; -1 where there is none.
    """

    gold: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    positive: int = -1

    def sample(self, numbers: npt.NDArray[np.int64]) -> Answers:
        """The examples of these numbers, some of them more than once."""
        return Answers(self.gold[numbers], self.predicted[numbers], self.positive)


def answers(
    kind: Kind, gold: Sequence[Any], predicted: Sequence[Any], positive: str | None = None
) -> Answers:
    """Words or values as numbers; words are matched by name, also words no model knows.

    Args:
        kind: ``classes``, ``labels`` or ``value``.
        gold: words, tuples of words, or floats.
        predicted: the same, in the same order.
        positive: for classes, the word of the positive class, if there is one.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} examples")
    if kind == "value":
        return Answers(np.array(gold, np.float64), np.array(predicted, np.float64))
    if kind == "labels":
        number = _numbers([word for one in (*gold, *predicted) for word in one])
        return Answers(_indicators(gold, number), _indicators(predicted, number))
    number = _numbers([*gold, *predicted])
    return Answers(
        np.array([number[word] for word in gold], np.int64),
        np.array([number[word] for word in predicted], np.int64),
        -1 if positive is None else number.get(positive, -1),
    )


def accuracy(given: Answers) -> float | None:
    """Share of the examples that are right; for several labels, right in all of them."""
    if not len(given.gold):
        return None
    if given.gold.ndim == 2:
        return float(np.mean((given.gold == given.predicted).all(1)))
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(given.gold, given.predicted))


def f1(given: Answers) -> float | None:
    """F1 of the positive class; not defined where it neither occurs nor is predicted."""
    gold, predicted = given.gold == given.positive, given.predicted == given.positive
    if not (gold.any() or predicted.any()):
        return None
    from sklearn.metrics import f1_score

    return float(f1_score(gold, predicted))


def macro_f1(given: Answers) -> float | None:
    """Mean of the F1 of each class or label that occurs or is predicted."""
    gold, predicted = given.gold, given.predicted
    if gold.ndim == 2:
        there = np.flatnonzero((gold | predicted).any(0))
        # One by one: scikit-learn takes a matrix of one column for two classes.
        each = [f1(Answers(gold[:, at], predicted[:, at], positive=1)) for at in there]
        known = [one for one in each if one is not None]
        return sum(known) / len(known) if known else None
    return _f1_of_classes(given, "macro")


def micro_f1(given: Answers) -> float | None:
    """F1 over all decisions on all labels; for classes that is their accuracy."""
    if given.gold.ndim == 2:
        return f1(Answers(given.gold.ravel(), given.predicted.ravel(), positive=1))
    return _f1_of_classes(given, "micro")


def matthews(given: Answers) -> float | None:
    """Matthews correlation, for any number of classes; 0 where one side is constant.

    That it is 0 and not undefined there is the convention of scikit-learn and of the GLUE server.
    """
    if not len(given.gold):
        return None
    if _constant(given.gold) or _constant(given.predicted):
        return 0.0  # scikit-learn says so too, but warns where both are
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(given.gold, given.predicted))


def pearson(given: Answers) -> float | None:
    """Pearson correlation of raw values; not defined where one side is constant."""
    if not _correlates(given):
        return None
    from scipy.stats import pearsonr

    return _finite(pearsonr(given.gold, given.predicted).statistic)


def spearman(given: Answers) -> float | None:
    """Spearman rank correlation; not defined where one side is constant."""
    if not _correlates(given):
        return None
    from scipy.stats import spearmanr

    return _finite(spearmanr(given.gold, given.predicted).statistic)


def pearson_spearman(given: Answers) -> float | None:
    """Mean of both, GLUE's figure for STS-B."""
    both = pearson(given), spearman(given)
    return None if both[0] is None or both[1] is None else (both[0] + both[1]) / 2


def mean_squared_error(given: Answers) -> float | None:
    """Mean squared difference; the lower the better."""
    return _finite(np.mean((given.gold - given.predicted) ** 2)) if len(given.gold) else None


def root_mean_squared_error(given: Answers) -> float | None:
    """Root of the mean squared difference, in the unit of the values; the lower the better."""
    squared = mean_squared_error(given)
    return None if squared is None else math.sqrt(squared)


def mean_absolute_error(given: Answers) -> float | None:
    """Mean absolute difference, in the unit of the values; the lower the better."""
    return _finite(np.mean(np.abs(given.gold - given.predicted))) if len(given.gold) else None


def gold_standard_deviation(given: Answers) -> float | None:
    """Standard deviation (over N) of the right values: the root mean squared error of always
    giving their mean, which a model that learnt stays below."""
    return _finite(np.std(given.gold)) if len(given.gold) else None


METRICS: dict[str, Callable[[Answers], float | None]] = {
    function.__name__: function
    for function in (
        accuracy, f1, macro_f1, micro_f1, matthews, pearson, spearman, pearson_spearman,
        mean_squared_error, root_mean_squared_error, mean_absolute_error, gold_standard_deviation,
    )
}  # fmt: skip


def figures(names: Sequence[str], given: Answers, where: str) -> Figures:
    """The figures of these names, in this order; warns of those that mean nothing.

    Args:
        names: keys of ``METRICS``.
        given: gold and predictions.
        where: name of the part, for warnings.
    """
    found = {name: METRICS[name](given) for name in names}
    undefined = [name for name, value in found.items() if value is None]
    if undefined:
        warn(f"{where}: {', '.join(undefined)} not defined: {_reason(given)}")
    if found.get("matthews") == 0 and (_constant(given.predicted) or _constant(given.gold)):
        warn(f"{where}: matthews is 0: {_reason(given)}")
    return found


def _reason(given: Answers) -> str:
    if len(given.gold) < 2:
        return f"the part has {len(given.gold)} labelled example(s)"
    if not np.isfinite(given.predicted).all():
        return "some predictions are not numbers"
    if _constant(given.predicted):
        return "all predictions are the same"
    if _constant(given.gold):
        return "all examples have the same label"
    return "nothing to be found occurs or is predicted"


def _f1_of_classes(given: Answers, average: str) -> float | None:
    from sklearn.metrics import f1_score

    if not len(given.gold):
        return None
    return float(f1_score(given.gold, given.predicted, average=average))


def _correlates(given: Answers) -> bool:
    return (
        len(given.gold) > 1
        and not _constant(given.gold)
        and not _constant(given.predicted)
        and bool(np.isfinite(given.predicted).all())
    )


def _constant(values: npt.NDArray[Any]) -> bool:
    return len(values) > 0 and bool((values == values[0]).all())


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(words: Sequence[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(sorted(set(words)))}


def _indicators(rows: Sequence[Sequence[str]], number: dict[str, int]) -> npt.NDArray[np.int64]:
    found = np.zeros((len(rows), len(number)), np.int64)
    for at, words in enumerate(rows):
        found[at, [number[word] for word in words]] = 1
    return found
