"""From the scores of windows to ranked answers (2018 run_squad.py, ``write_predictions``)."""

from __future__ import annotations

from collections.abc import Sequence
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
        ranked: the best answers with their probabilities, best first; for version 2.0 no answer is
            always one of them.
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
) -> tuple[list[Answer], Answer]:
    """The best answers over all windows of a question, each text once, and no answer.

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
        Answers, best first, of equals the one that stands first; and no answer, with the least
        scores that [CLS] has in a window.
    """
    found: list[Answer] = []
    for about, scores in zip(windows, outputs, strict=True):
        found += _window_answers(context, about, scores, most, longest)
    found.sort(key=lambda one: -one.score)
    distinct: dict[str, Answer] = {}
    for one in found:
        distinct.setdefault(one.text, one)
    return list(distinct.values())[:most], _no_answer(outputs)


def _no_answer(outputs: Sequence[Output]) -> Answer:
    found = [(float(scores[0, 0]), float(scores[0, 1])) for scores in outputs]
    first, last = min(found, key=sum)
    return Answer("", -1, -1, first + last, first, last)


def _window_answers(
    context: str, about: WindowAbout, scores: Output, most: int, longest: int
) -> list[Answer]:
    """The best ``most`` different texts of a window."""
    if not about.length:
        return []
    part = scores[about.first : about.first + about.length].astype(np.float64)
    first, last = part[:, 0], part[:, 1]
    width = min(longest, about.length)
    # Row i, column j: from token i to token i + j.
    ends = np.concatenate([last, np.full(width, -np.inf)])
    sums = first[:, None] + np.lib.stride_tricks.sliding_window_view(ends, width)[: about.length]
    sums[~about.owned] = -np.inf
    flat = sums.ravel()
    allowed, asked = int((flat > -np.inf).sum()), most
    while True:
        found: dict[str, Answer] = {}
        for place in _largest(flat, asked):
            i, j = divmod(place, width)
            start, end = int(about.offsets[i, 0]), int(about.offsets[i + j, 1])
            text, score = context[start:end], float(flat[place])
            found.setdefault(
                text, Answer(text, start, end, score, first[i].item(), last[i + j].item())
            )
            if len(found) == most:
                return list(found.values())
        if asked >= allowed:
            return list(found.values())
        asked *= 4  # the same text stands in many places


def _largest(scores: npt.NDArray[np.float64], most: int) -> list[int]:
    """Places of the ``most`` largest scores and of those equal to the last, largest first."""
    rank = max(0, len(scores) - most)
    least = np.partition(scores, rank)[rank]
    places = np.flatnonzero((scores >= least) & (scores > -np.inf))
    ordered: list[int] = places[np.argsort(-scores[places], kind="stable")].tolist()
    return ordered


def predict(
    name: str, answers: list[Answer], null: Answer, threshold: float | None, most: int
) -> SquadPrediction:
    """The answer to give, by the rules of 2.0 where there is a threshold.

    Args:
        name: the question's id.
        answers: the ranked answers.
        null: no answer.
        threshold: no answer where the null odds are above it; None for version 1.1.
        most: answers to keep; no answer and the best one are kept however low they rank.
    """
    options, kept, odds = list(answers), answers[:1] or [null], None
    if threshold is not None:
        odds = null.score - answers[0].score if answers else float(np.finfo(np.float64).max)
        options, kept = sorted([*answers, null], key=lambda one: -one.score), [*answers[:1], null]
    chosen = answers[0] if answers else null
    if odds is not None and threshold is not None and odds > threshold:
        chosen = null
    ranked = options[:most]
    ranked += [one for one in kept if one not in ranked]
    chances = softmax(np.array([one.score for one in ranked]))
    pairs = tuple(zip(ranked, chances.tolist(), strict=True))
    probability = next(chance for one, chance in pairs if one is chosen)
    return SquadPrediction(
        name, chosen.text, chosen.start, chosen.end, probability, pairs, odds,
        answers[0].text if answers else "",
    )  # fmt: skip


def softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scores as shares of 1."""
    powers = np.exp(scores - scores.max())
    shares: npt.NDArray[np.float64] = powers / powers.sum()
    return shares
