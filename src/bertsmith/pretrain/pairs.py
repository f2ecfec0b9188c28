"""Sentence pairs: segment A and segment B of every example (paper, section 3.1, task 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bertsmith.corpus.corpus import Corpus, Document
from bertsmith.pretrain.tiles import Tile


@dataclass
class PairCounts:
    """What the making of pairs did to the text, added up over examples.

    Attributes:
        tokens_cut: tokens that were dropped to make pairs fit.
        sentences_split: tile ends that fell inside a sentence, none being near enough.
        forced_random: pairs that were to be real neighbours but whose text was one sentence.
    """

    tokens_cut: int = 0
    sentences_split: int = 0
    forced_random: int = 0

    def add(self, other: PairCounts) -> None:
        """Add the counts of other examples."""
        self.tokens_cut += other.tokens_cut
        self.sentences_split += other.sentences_split
        self.forced_random += other.forced_random

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return dict(vars(self))


@dataclass
class Pair:
    """Token ids of segments A and B (B may be empty) and the label: 0 is next, 1 is random.

    ``documents`` says where A and B are from; the second is None without a B.
    """

    a: np.ndarray
    b: np.ndarray
    label: int
    documents: tuple[int, int | None]


@dataclass
class PairMaker:
    """Makes pairs out of tiles.

    Args:
        corpus: where B comes from when it is not the continuation of A.
        room: most tokens that A and B may have together.
        pairs: whether B may come from another document at all; without it every label is "next".
    """

    corpus: Corpus
    room: int
    pairs: bool
    _first_sentence: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._first_sentence = np.concatenate([[0], np.cumsum(self.corpus.document_sentences)])

    def make(self, tile: Tile, rng: np.random.Generator, counts: PairCounts) -> Pair:
        """The pair of one tile; ``rng`` chooses the split, the other document and the cuts."""
        document = self.corpus.document(tile.document)
        start, stop = self._whole_sentences(document, tile, counts)
        inner = _boundaries_inside(document, start, stop)
        if tile.is_next and len(inner):
            split = int(inner[rng.integers(len(inner))])
            a, b, label = document.tokens[start:split], document.tokens[split:stop], 0
            other: int | None = tile.document
        elif self.pairs:
            counts.forced_random += int(tile.is_next)
            a, label = document.tokens[start:stop], 1
            b, other = self._elsewhere(tile.document, tile.target - len(a), rng)
        else:
            a, b, label = document.tokens[start:stop], document.tokens[stop:stop], 0
            other = None
        a, b = self._fit(a, b, rng, counts)
        return Pair(a, b, label, (tile.document, other))

    def _whole_sentences(
        self, document: Document, tile: Tile, counts: PairCounts
    ) -> tuple[int, int]:
        """The tile moved to sentence boundaries, where there are any within a quarter of the room.

        Both neighbours of a cut move it alike, so that tiles still touch.
        """
        start, _ = self._snap(document, tile.start)
        stop, stop_split = self._snap(document, tile.stop)
        counts.sentences_split += int(stop_split)
        if start >= stop:  # shorter than a sentence: take the sentence that it begins in
            starts = document.sentence_starts
            sentence = int(starts.searchsorted(tile.start, side="right")) - 1
            sentence = min(sentence, len(starts) - 2)
            start, stop = int(starts[sentence]), int(starts[sentence + 1])
            # Of a sentence too long for any sequence, the part around the tile.
            if stop - start > self.room:
                start = min(max(start, tile.start - self.room // 2), stop - self.room)
                stop = start + self.room
        return start, stop

    def _snap(self, document: Document, position: int) -> tuple[int, bool]:
        starts = document.sentence_starts
        after = int(starts.searchsorted(position))
        near = int(starts[after])
        if after and position - int(starts[after - 1]) < near - position:
            near = int(starts[after - 1])
        if abs(near - position) <= self.room // 4:
            return near, False
        return position, True

    def _elsewhere(
        self, document: int, target: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, int]:
        """Sentences of another document, from a random one on, of about ``target`` tokens.

        Every sentence of the other documents is equally likely to be the first. (The 2018 script
        draws the document first, so that sentences of short documents turn up more often as a
        random B than as a real one, which gives the label away.)
        """
        own, after = self._first_sentence[document], self._first_sentence[document + 1]
        sentence = int(rng.integers(self._first_sentence[-1] - (after - own)))
        if sentence >= own:
            sentence += int(after - own)
        other = int(self._first_sentence.searchsorted(sentence, side="right")) - 1
        text = self.corpus.document(other)
        starts = text.sentence_starts
        first = sentence - int(self._first_sentence[other])
        start = int(starts[first])
        last = int(starts.searchsorted(start + target))
        last = min(max(last, first + 1), len(starts) - 1)
        return text.tokens[start : int(starts[last])], other

    def _fit(
        self, a: np.ndarray, b: np.ndarray, rng: np.random.Generator, counts: PairCounts
    ) -> tuple[np.ndarray, np.ndarray]:
        excess = len(a) + len(b) - self.room
        if excess <= 0:
            return a, b
        counts.tokens_cut += excess
        keep_a, keep_b = longest_first(len(a), len(b), self.room)
        return _cut(a, len(a) - keep_a, rng), _cut(b, len(b) - keep_b, rng)


def longest_first(a: int, b: int, room: int) -> tuple[int, int]:
    """Lengths left of A and B when the longer one loses tokens until both fit ``room``.

    The result of ``truncate_seq_pair`` of the 2018 script, which takes one token at a time, from B
    where both are equally long.
    """
    if a + b <= room:
        return a, b
    small = min(a, b)
    if small <= room // 2:
        return (small, room - small) if a < b else (room - small, small)
    return (room + 1) // 2, room // 2


def _cut(tokens: np.ndarray, excess: int, rng: np.random.Generator) -> np.ndarray:
    """Drop ``excess`` tokens, each at the front or at the end with equal probability."""
    if excess <= 0:
        return tokens
    front = int(rng.binomial(excess, 0.5))
    return tokens[front : len(tokens) - (excess - front)]


def _boundaries_inside(document: Document, start: int, stop: int) -> np.ndarray:
    starts = document.sentence_starts
    low, high = starts.searchsorted(start, side="right"), starts.searchsorted(stop)
    return starts[low:high]
