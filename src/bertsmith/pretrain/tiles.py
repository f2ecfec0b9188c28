"""Which text belongs to which training example: every document cut into tiles, addressable.

The 2018 script (``create_pretraining_data.py``) walks through a document once and keeps what an
example did not use for the next one, so example ``n`` can only be known after all before it. Here
the same text is dealt out the other way round. A document gets a fixed number of examples from its
length alone; each epoch draws what kind each of them is (with its real continuation or with a
random one, full or short), and cuts the document into tiles in proportion to the text that each
kind uses up. The tiles touch, so no text is left over and none is used twice, and any example of
any epoch is computed on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertsmith.common.randomness import TILES, permute, stream
from bertsmith.corpus.corpus import Corpus

# Tiles are drawn in stretches of this many, so that a long document need not be drawn as a whole.
STRETCH = 16
SPECIALS = 3  # [CLS] A [SEP] B [SEP]
_A_SHARE = (0.1, 0.9)  # of a pair's length, where B comes from another document


@dataclass(frozen=True)
class Tile:
    """The text of one example: tokens ``start`` to ``stop`` of a document, and what to make of it.

    Attributes:
        document: number of the document in the corpus.
        start: first token, counted within the document.
        stop: token after the last one.
        is_next: whether B is to be the real continuation of A (else from another document).
        target: tokens that the pair should have together, without special tokens.
    """

    document: int
    start: int
    stop: int
    is_next: bool
    target: int


class Tiling:
    """The tiles of a corpus for sequences of at most ``max_length`` tokens.

    Args:
        corpus: the corpus part to draw from.
        max_length: tokens a sequence, special tokens included.
        short_probability: share of the examples with a random shorter target (paper, appendix A.2).
        pairs: whether half of the examples get B from another document.
        seed: seed of the run.
    """

    def __init__(
        self, corpus: Corpus, max_length: int, short_probability: float, pairs: bool, seed: int
    ) -> None:
        self.corpus, self.pairs, self.seed = corpus, pairs, seed
        self.room = max_length - SPECIALS
        self.short_probability = short_probability
        mean = self.room * (1 - short_probability / 2) * (0.75 if pairs else 1.0)
        # An example may be a tenth too long (it is cut to fit) before a document gets one more.
        slots = np.maximum(1, np.ceil(corpus.document_tokens / mean - 0.1)).astype(np.int64)
        self._first_slot = np.concatenate([[0], np.cumsum(slots)])
        self._max_length = max_length

    def __len__(self) -> int:
        """Examples an epoch."""
        return int(self._first_slot[-1])

    def tiles(self, first: int, count: int) -> list[Tile]:
        """The tiles of ``count`` examples from ``first`` on, counted through all epochs."""
        numbers = np.arange(first, first + count, dtype=np.int64)
        epochs, places = np.divmod(numbers, len(self))
        result: list[Tile] = []
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            slots = permute(places[epochs == epoch], len(self), self.seed, epoch)
            result += [self._tile(epoch, int(slot)) for slot in slots]
        return result

    def _tile(self, epoch: int, slot: int) -> Tile:
        document = int(self._first_slot.searchsorted(slot, side="right")) - 1
        first = int(self._first_slot[document])
        slots = int(self._first_slot[document + 1]) - first
        tokens = int(self.corpus.document_tokens[document])
        stretch, place = divmod(slot - first, STRETCH)
        size = min(STRETCH, slots - stretch * STRETCH)
        is_next, target, share = self._draw(epoch, document, stretch)
        used = (target[:size] * share[:size]).cumsum()
        begin = tokens * (stretch * STRETCH) / slots
        length = tokens * size / slots
        before = used[place - 1] if place else 0.0
        return Tile(
            document,
            round(begin + length * float(before / used[-1])),
            round(begin + length * float(used[place] / used[-1])),
            bool(is_next[place]),
            int(target[place]),
        )

    def _draw(
        self, epoch: int, document: int, stretch: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a stretch: kinds, target lengths, and shares of those taken from this document."""
        rng = stream(self.seed + (self._max_length << 32), TILES, stretch, document, epoch)
        coin, short, length, a_share = rng.random((4, STRETCH))
        target = np.where(
            short < self.short_probability, 2 + np.floor(length * (self.room - 1)), self.room
        )
        if not self.pairs:
            return np.ones(STRETCH, bool), target, np.ones(STRETCH)
        # Neighbours take turns: of tiles 2k and 2k+1 one is next and one is random, so that the
        # text that a stretch needs varies little and the two labels are equally frequent.
        even = coin[::2] < 0.5
        is_next = np.empty(STRETCH, dtype=bool)
        is_next[::2], is_next[1::2] = even, ~even
        low, high = _A_SHARE
        return is_next, target, np.where(is_next, 1.0, low + a_share * (high - low))
