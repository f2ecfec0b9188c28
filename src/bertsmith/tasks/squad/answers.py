"""From the scores of windows to ranked answers (2018 run_squad.py, ``write_predictions``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bertsmith.tasks.task import Output


@dataclass(frozen=True, eq=False)
class WindowAbout:
    """What is needed to read the scores of a window.

    Attributes:
        first: place of its first text token in the sequence.
        length: its number of text tokens.
        offsets: [length, 2] characters of the text that each token covers.
        owned: [length] whether no other window shows more context around the token.
    """

    first: int
    length: int
    offsets: npt.NDArray[np.int64]
    owned: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Answer:
    """An answer with its scores; ``start`` and ``end`` are characters, -1 for no answer."""

    text: str
    start: int
    end: int
    score: float
    start_logit: float
    end_logit: float


@dataclass(frozen=True)
class SquadPrediction:
    """What a model answers.

    Attributes:
        id: the question's id.
        text: the answer, an exact slice of the text; empty for no answer.
        start, end: its first character and the one after its last; -1 for no answer.
        probability: among the ranked answers.
        ranked: the best answers with their probabilities, best first.
        null_odds: score of no answer less that of the best answer; None for version 1.1.
        best: the best answer that is one.
    """

    id: str
    text: str
    start: int
    end: int
    probability: float
    ranked: tuple[tuple[Answer, float], ...]
    null_odds: float | None
    best: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SquadPrediction) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def rank_answers(
    context: str,
    windows: Sequence[WindowAbout],
    outputs: Sequence[Output],
    most: int,
    longest: int,
) -> tuple[list[Answer], float]:
    """The best answers over all windows of a question, each text once, and the score of none.

    Exact: all pairs of a first token with most context here and a last one that does not come
    before it and is at most ``longest`` tokens on are looked at, where the 2018 script pairs the
    best twenty of each.

    Args:
        context: the text.
        windows: its windows.
        outputs: [L, 2] scores as first and as last token of each window's sequence.
        most: answers to keep.
        longest: most tokens of an answer.

    Returns:
        Answers, best first, and the least score of [CLS] over the windows, which stands for no
        answer.
    """
    found: list[Answer] = []
    for about, scores in zip(windows, outputs, strict=True):
        found += _window_answers(context, about, scores, most, longest)
    found.sort(key=lambda one: -one.score)
    distinct: dict[str, Answer] = {}
    for one in found:
        distinct.setdefault(one.text, one)
    null = min(float(scores[0, 0]) + float(scores[0, 1]) for scores in outputs)
    return list(distinct.values())[:most], null


def _window_answers(
    context: str, about: WindowAbout, scores: Output, most: int, longest: int
) -> Iterator[Answer]:
    if not about.length:
        return
    part = scores[about.first : about.first + about.length].astype(np.float64)
    first, last = part[:, 0], part[:, 1]
    width = min(longest, about.length)
    # Row i, column j: from token i to token i + j.
    ends = np.concatenate([last, np.full(width, -np.inf)])
    sums = first[:, None] + np.lib.stride_tricks.sliding_window_view(ends, width)[: about.length]
    sums[~about.owned] = -np.inf
    flat = sums.ravel()
    # More than asked for: some of them have the same text.
    best = np.argpartition(-flat, min(2 * most, len(flat) - 1))[: 2 * most]
    for place in best[np.argsort(-flat[best], kind="stable")].tolist():
        if flat[place] == -np.inf:
            return
        i, j = divmod(place, width)
        start, end = int(about.offsets[i, 0]), int(about.offsets[i + j, 1])
        yield Answer(
            context[start:end], start, end, float(flat[place]), float(first[i]), float(last[i + j])
        )


def predict(
    name: str, answers: list[Answer], null: float, threshold: float | None, most: int
) -> SquadPrediction:
    """The answer to give, by the rules of 2.0 where there is a threshold.

    Args:
        name: the question's id.
        answers: the ranked answers.
        null: score of no answer.
        threshold: no answer where the null odds are above it; None for version 1.1.
        most: answers to keep.
    """
    ranked = list(answers)
    odds = None
    none = Answer("", -1, -1, null, null / 2, null / 2)
    if threshold is not None:
        odds = null - answers[0].score if answers else np.finfo(np.float64).max
        ranked = sorted([*ranked, none], key=lambda one: -one.score)
    chosen = answers[0] if answers else none
    if odds is not None and threshold is not None and odds > threshold:
        chosen = none
    ranked = (ranked or [none])[: max(most, 1)]
    chances = softmax(np.array([one.score for one in ranked]))
    pairs = tuple(zip(ranked, chances.tolist(), strict=True))
    probability = next((chance for one, chance in pairs if one.text == chosen.text), 0.0)
    return SquadPrediction(
        name, chosen.text, chosen.start, chosen.end, probability, pairs, odds,
        answers[0].text if answers else "",
    )  # fmt: skip


def softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scores as shares of 1."""
    powers = np.exp(scores - scores.max())
    shares: npt.NDArray[np.float64] = powers / powers.sum()
    return shares
