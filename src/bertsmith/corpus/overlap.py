"""How much of the held-out part stands in the training part, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.hashes import window_hashes
from bertsmith.corpus.shards import Shard

WINDOW = 32  # tokens: two or three sentences; so long a passage is not met twice by chance
# What is looked at, at most. A million windows take half a second on one core.
MOST_HELD_OUT = 200_000
MOST_TRAIN = 16_000_000
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Overlap:
    """Windows of WINDOW tokens, each from the beginning of a sentence on, inside one document.

    Attributes:
        windows: windows of the held-out part that were looked at.
        seen: those that stand in what was looked at of the training part, too.
        train_share: share of the training part that was looked at; below 1, ``seen`` is a least
            number.
    """

    windows: int
    seen: int
    train_share: float

    @property
    def share(self) -> float:
        """Share of the windows that were seen; 0 where there is no window."""
        return self.seen / self.windows if self.windows else 0.0


def overlap(
    train: Corpus,
    held_out: Corpus,
    most_held_out: int = MOST_HELD_OUT,
    most_train: int = MOST_TRAIN,
) -> Overlap:
    """Compare hashes of windows of both parts.

    Windows begin with sentences, so a passage that begins elsewhere in its document, or with
    another word, meets its copy again at its next sentence. Documents shorter than a window have
    none. Of larger parts, shards and windows at equal distances are looked at: the time is bounded,
    and the result the same every time.
    """
    held = np.concatenate([np.zeros(0, np.uint64), *map(_windows, held_out.shards)])
    held = held[:: -(-len(held) // most_held_out) or 1]
    unique, times = np.unique(held, return_counts=True)
    found = np.zeros(len(unique), bool)
    every = -(-train.sentences // most_train) or 1
    looked_at = train.shards[::every] if len(unique) else []
    for shard in looked_at:
        found[_places(unique, _windows(shard))] = True
    tokens = sum(len(shard.tokens) for shard in looked_at)
    return Overlap(len(held), int(times[found].sum()), tokens / max(1, train.tokens))


def _windows(shard: Shard) -> np.ndarray:
    """The hash of every window of a shard."""
    sentences = np.diff(shard.document_offsets)
    ends = np.repeat(shard.sentence_offsets[shard.document_offsets[1:]], sentences)
    starts = shard.sentence_offsets[:-1]
    starts = starts[starts + WINDOW <= ends]
    parts = [starts[first : first + _AT_ONCE] for first in range(0, len(starts), _AT_ONCE)]
    hashes = [window_hashes(shard.tokens, part, WINDOW) for part in parts]
    return np.concatenate([np.zeros(0, np.uint64), *hashes])


def _places(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where those of ``values`` that are in ``ordered`` stand there."""
    at = np.minimum(ordered.searchsorted(values), len(ordered) - 1)
    return np.asarray(at[ordered[at] == values])
