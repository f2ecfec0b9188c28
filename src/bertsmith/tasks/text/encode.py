"""Texts and pairs of texts as token ids with segment ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bertsmith.tasks.task import EMPTY
from bertsmith.tasks.text.examples import TextExample
from bertsmith.text.tokenizer import Tokenizer

_BATCH = 4096  # examples tokenized at once: enough for the library's threads, little memory
TRUNCATED, CUT = "truncated examples", "tokens cut"


def encode_texts(
    examples: Sequence[TextExample], tokenizer: Tokenizer, max_length: int
) -> tuple[list[tuple[list[int], list[int]]], Counter[str]]:
    """The sequence of each example, and what was cut.

    A text is ``[CLS] a [SEP]``, a pair ``[CLS] a [SEP] b [SEP]`` with segment 0 up to the first
    [SEP] and segment 1 after it; an empty second text leaves its [SEP]. Control tokens that are
    spelled out in a text are characters like any others.

    Args:
        examples: texts or pairs, also mixed.
        tokenizer: that of the model.
        max_length: most tokens of a sequence, special tokens included.

    Returns:
        (token ids, segment ids) of each example; counts of truncated examples, tokens cut
        and examples with an empty text.
    """
    sequences, counts = [], Counter[str]()
    for first, second in _tokenize(examples, tokenizer):
        counts[EMPTY] += not first or second == []
        room = max_length - (2 if second is None else 3)
        cut = truncate(first, second, room)
        if cut:
            counts[TRUNCATED] += 1
            counts[CUT] += cut
        sequences.append(assemble(first, second, tokenizer))
    return sequences, +counts


def truncate(first: list[int], second: list[int] | None, room: int) -> int:
    """Cut tokens from the ends, in place, until at most ``room`` are left; returns how many.

    Of a pair, the longer one loses its last token, on a tie the second one, again and again
    (``_truncate_seq_pair`` of the 2018 run_classifier.py).
    """
    if second is None:
        cut = max(0, len(first) - room)
        del first[len(first) - cut :]
        return cut
    left, right = len(first), len(second)
    cut = max(0, left + right - room)
    for _ in range(cut):
        if left > right:
            left -= 1
        else:
            right -= 1
    del first[left:], second[right:]
    return cut


def assemble(
    first: list[int], second: list[int] | None, tokenizer: Tokenizer
) -> tuple[list[int], list[int]]:
    """Token ids with [CLS] and [SEP], and segment ids."""
    ids = [tokenizer.ids.cls, *first, tokenizer.ids.sep]
    segments = [0] * len(ids)
    if second is not None:
        ids += [*second, tokenizer.ids.sep]
        segments += [1] * (len(second) + 1)
    return ids, segments


def _tokenize(
    examples: Sequence[TextExample], tokenizer: Tokenizer
) -> Iterator[tuple[list[int], list[int] | None]]:
    for start in range(0, len(examples), _BATCH):
        some = examples[start : start + _BATCH]
        firsts = tokenizer.encode_ids([one.text for one in some])
        pairs = iter(tokenizer.encode_ids([one.pair for one in some if one.pair is not None]))
        for one, first in zip(some, firsts, strict=True):
            yield first, None if one.pair is None else next(pairs)
