"""Which tokens are hidden from the model, and what stands in their place (paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_SPAN_GEOMETRIC, _SPAN_LONGEST = 0.2, 10  # SpanBERT, arXiv 1907.10529, section 3.1


@dataclass(frozen=True)
class Masking:
    """The masking rule.

    Args:
        rate: share of a sequence's tokens to predict, special tokens counted in.
        unit: ``token``, ``word`` (whole words) or ``span`` (runs of whole words).
        mask_share: share of the chosen tokens replaced by ``[MASK]``.
        random_share: share replaced by a random token; the rest stays as it is.
        most: most tokens to predict in a sequence, 0 for no limit.
    """

    rate: float
    unit: str
    mask_share: float
    random_share: float
    most: int


@dataclass(frozen=True)
class Vocabulary:
    """What masking needs to know of the tokenizer.

    Args:
        mask: id of ``[MASK]``.
        is_special: ``[V]``, True for the special tokens.
        is_continuation: ``[V]``, True for pieces that continue a word.
    """

    mask: int
    is_special: np.ndarray
    is_continuation: np.ndarray

    @property
    def ordinary(self) -> np.ndarray:
        """The ids that a random replacement is drawn from."""
        return np.flatnonzero(~self.is_special)


def targets_of(lengths: np.ndarray, rate: float, most: int) -> np.ndarray:
    """Tokens to predict in sequences of ``lengths``: at least one, rounded half to even."""
    wanted = np.maximum(1, np.rint(lengths * rate)).astype(np.int64)
    return np.minimum(wanted, most) if most else wanted


def choose(
    token_ids: np.ndarray,
    lengths: np.ndarray,
    masking: Masking,
    vocabulary: Vocabulary,
    rngs: Sequence[np.random.Generator],
) -> np.ndarray:
    """Sorted positions ``[M]`` in ``token_ids [T]`` to predict; never a special token.

    A sequence with no ordinary token gets none. Each sequence has a generator of its own, so that
    its masks are the same whatever stands beside it.
    """
    wanted = targets_of(lengths, masking.rate, masking.most)
    allowed = ~vocabulary.is_special[token_ids]
    if masking.unit == "token":
        return _choose_tokens(allowed, lengths, wanted, rngs)
    chosen: list[int] = []
    start = 0
    for length, budget, rng in zip(lengths.tolist(), wanted.tolist(), rngs, strict=True):
        piece = slice(start, start + length)
        words = _words(token_ids[piece], allowed[piece], vocabulary.is_continuation)
        groups = _spans(words, rng) if masking.unit == "span" else _shuffled(words, rng)
        chosen += [start + place for place in _fill(groups, budget)]
        start += length
    return np.array(sorted(chosen), dtype=np.int64)


def hide(
    token_ids: np.ndarray,
    lengths: np.ndarray,
    positions: np.ndarray,
    masking: Masking,
    vocabulary: Vocabulary,
    rngs: Sequence[np.random.Generator],
) -> np.ndarray:
    """A copy of ``token_ids`` with the tokens at ``positions`` masked, replaced or kept."""
    ends = positions.searchsorted(lengths.cumsum())
    targets = np.diff(ends, prepend=0)  # of each sequence
    lot, place = _draws(rngs, targets, 2)
    ordinary = vocabulary.ordinary
    replacement = ordinary[(place * len(ordinary)).astype(np.int64)]
    original = token_ids[positions]
    result = token_ids.copy()
    result[positions] = np.where(
        lot < masking.mask_share,
        vocabulary.mask,
        np.where(lot < masking.mask_share + masking.random_share, replacement, original),
    )
    return result


def _draws(rngs: Sequence[np.random.Generator], counts: np.ndarray, rows: int) -> np.ndarray:
    """``[rows, sum of counts]`` numbers from 0 to 1, those of each sequence from its generator."""
    parts = [rng.random((rows, n)) for rng, n in zip(rngs, counts.tolist(), strict=True)]
    result: np.ndarray = np.concatenate(parts, axis=1)
    return result


def _choose_tokens(
    allowed: np.ndarray,
    lengths: np.ndarray,
    wanted: np.ndarray,
    rngs: Sequence[np.random.Generator],
) -> np.ndarray:
    # A random key a token; within each sequence the tokens with the smallest keys are taken.
    candidates = np.flatnonzero(allowed)
    sequence = np.repeat(np.arange(len(lengths)), lengths)[candidates]
    first = np.searchsorted(sequence, np.arange(len(lengths)))
    keys = _draws(rngs, np.diff(first, append=len(candidates)), 1)[0]
    order = np.lexsort((keys, sequence))
    rank = np.arange(len(candidates)) - first[sequence]  # sequence[order] == sequence: it is sorted
    return np.sort(candidates[order[rank < wanted[sequence]]])


def _words(ids: np.ndarray, allowed: np.ndarray, is_continuation: np.ndarray) -> list[list[int]]:
    """The words of one sequence, each as the places of its pieces."""
    words: list[list[int]] = []
    last = -2
    for place in np.flatnonzero(allowed).tolist():
        if is_continuation[ids[place]] and place == last + 1:
            words[-1].append(place)
        else:
            words.append([place])
        last = place
    return words


def _shuffled(words: list[list[int]], rng: np.random.Generator) -> Iterator[list[int]]:
    return (words[i] for i in rng.permutation(len(words)))


def _spans(words: list[list[int]], rng: np.random.Generator) -> Iterator[list[int]]:
    """Runs of neighbouring words, of geometric length, without the words already taken."""
    free = set(range(len(words)))
    while free:
        length = min(int(rng.geometric(_SPAN_GEOMETRIC)), _SPAN_LONGEST)
        first = sorted(free)[int(rng.integers(len(free)))]
        span: list[int] = []
        for word in range(first, min(first + length, len(words))):
            if word not in free or (span and words[word][0] != span[-1] + 1):
                break  # another span, or a special token between
            free.discard(word)
            span += words[word]
        yield span


def _fill(groups: Iterator[list[int]], budget: int) -> list[int]:
    """Whole groups until the budget is used; one that would exceed it is passed over.

    The first group is taken in any case (cut to the budget), so that a sequence of one long word
    still teaches something.
    """
    taken: list[int] = []
    for group in groups:
        if not taken:
            taken = group[:budget]
        elif len(taken) + len(group) <= budget:
            taken += group
        if len(taken) >= budget:
            break
    return taken
