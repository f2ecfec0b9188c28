"""A context with each of its choices as token ids with segment ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from bertsmith.tasks.choice.examples import ChoiceExample
from bertsmith.tasks.task import EMPTY
from bertsmith.text.tokenizer import Tokenizer

Sequences = tuple[tuple[list[int], list[int]], ...]
TRUNCATED, CUT, ENDINGS_CUT, ALIKE = (
    "truncated examples", "tokens cut", "endings cut", "examples with equal choices",
)  # fmt: skip


def encode_choices(
    examples: Sequence[ChoiceExample], tokenizer: Tokenizer, max_length: int
) -> tuple[list[Sequences], Counter[str]]:
    """One sequence a choice: ``[CLS] context [SEP] start choice [SEP]``, segments 0 and 1.

    Args:
        examples: any number of choices each.
        tokenizer: that of the model.
        max_length: most tokens of a sequence, special tokens included.

    Returns:
        The (token ids, segment ids) of each choice of each example; counts of what was cut, of
        examples of which two choices are the same tokens, and of those with an empty text.
    """
    texts = [text for one in examples for text in _texts(one)]
    pieces = iter(tokenizer.encode_ids(texts))
    found, counts = [], Counter[str]()
    for one in examples:
        context, *seconds = (next(pieces) for _ in range(1 + len(one.choices)))
        counts[EMPTY] += not context or [] in seconds
        context, seconds, lost = fit(context, seconds, max_length - 3)
        counts += lost
        counts[ALIKE] += len(set(map(tuple, seconds))) < len(seconds)
        found.append(tuple(_assemble(context, second, tokenizer) for second in seconds))
    return found, +counts


def fit(
    context: list[int], seconds: list[list[int]], room: int
) -> tuple[list[int], list[list[int]], Counter[str]]:
    """Cut until the context and each second segment have at most ``room`` tokens together.

    What tells the choices apart, all after the tokens that their segments have in common, is cut
    last: first the longer one of the context and the common beginning loses its first token, again
    and again (the end of either stands next to the choices). Where the choices alone do not fit,
    all are cut to ``room`` from their ends. All choices keep the same context.

    Returns:
        The context, the segments, and counts of what was cut.
    """
    counts = Counter[str]()
    common = _common(seconds)
    longest = max(map(len, seconds))
    over = len(context) + longest - room
    if over <= 0:
        return context, seconds, counts
    before = len(context) + sum(map(len, seconds))
    left, right = len(context), common
    for _ in range(min(over, left + right)):
        if left >= right:
            left -= 1
        else:
            right -= 1
    context = context[len(context) - left :]
    seconds = [one[common - right :] for one in seconds]
    counts[ENDINGS_CUT] = sum(len(one) > room - left for one in seconds)
    seconds = [one[: room - left] for one in seconds]
    counts[TRUNCATED] = 1
    counts[CUT] = before - len(context) - sum(map(len, seconds))
    return context, seconds, +counts


def _common(seconds: list[list[int]]) -> int:
    """How many tokens at the beginning are the same in all."""
    columns = zip(*seconds, strict=False)  # up to the end of the shortest
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def _texts(example: ChoiceExample) -> list[str]:
    return [example.context, *map(example.second, example.choices)]


def _assemble(
    context: list[int], second: list[int], tokenizer: Tokenizer
) -> tuple[list[int], list[int]]:
    ids = [tokenizer.ids.cls, *context, tokenizer.ids.sep, *second, tokenizer.ids.sep]
    return ids, [0] * (len(context) + 2) + [1] * (len(second) + 1)
