"""64-bit hashes of token sequences, and how many of them repeat, in bounded memory."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# Hashes that are kept, 8 bytes each: 32 MB.
MOST = 4_000_000
_AT_ONCE = 1 << 20  # tokens


def sentence_hashes(tokens: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """``[S]`` uint64, a hash of each sequence.

    Each token is multiplied by a random number of its place, and the products are added: two
    different sequences of ids below 2**17 meet with a chance of 2**-47 at most (multilinear
    hashing: Lemire and Kaser, "Strongly universal string hashing is fast").

    Args:
        tokens: ``[T]`` ids of all sequences.
        offsets: ``[S + 1]`` where each begins; none is empty.
    """
    parts = [np.zeros(0, np.uint64)]
    start, count = 0, len(offsets) - 1
    while start < count:
        stop = int(np.searchsorted(offsets, int(offsets[start]) + _AT_ONCE, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        some = offsets[start : stop + 1].astype(np.int64)
        values = tokens[some[0] : some[-1]].astype(np.uint64) + np.uint64(1)
        parts.append(combined(values, some - some[0]))
        start = stop
    return np.concatenate(parts)


def combined(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """``[S]`` uint64, one hash of each sequence of uint64 ``values``; ``offsets`` as above."""
    if len(offsets) < 2:
        return np.zeros(0, np.uint64)
    offsets = offsets.astype(np.int64)
    lengths = np.diff(offsets)
    places = np.arange(len(values)) - np.repeat(offsets[:-1], lengths)
    products = values * _multipliers(_power(int(lengths.max())))[places]  # modulo 2**64
    return _mixed(np.add.reduceat(products, offsets[:-1]) + lengths.astype(np.uint64))


def window_hashes(tokens: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    """``[N]`` uint64, a hash of each ``length`` tokens from ``starts`` (``[N]``) on."""
    multipliers = _multipliers(_power(length))
    result = np.zeros(len(starts), np.uint64)
    for place in range(length):
        result += (tokens[starts + place].astype(np.uint64) + np.uint64(1)) * multipliers[place]
    return _mixed(result)


class Hashes:
    """A multiset of hashes; of more than MOST, those below a bound that halves as needed.

    Equal hashes are kept or dropped together, so the share of repetitions in the sample is that of
    the whole, but for chance.

    Args:
        most: hashes that are kept.

    Attributes:
        seen: hashes that were added, kept or not.
        exact: whether all of them were kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most, self._halvings = most, 0
        self._kept = np.zeros(0, np.uint64)
        self.seen = 0

    @property
    def exact(self) -> bool:
        """Whether every hash was kept."""
        return self._halvings == 0

    @property
    def rate(self) -> float:
        """The share that is kept."""
        return float(0.5**self._halvings)

    def add(self, hashes: np.ndarray) -> None:
        """Take more hashes."""
        self.seen += len(hashes)
        self._kept = np.concatenate([self._kept, self._below(hashes)])
        while len(self._kept) > self._most and self._halvings < 63:
            self._halvings += 1
            self._kept = self._below(self._kept)

    @property
    def repeated(self) -> float:
        """The share of those that are not the first of their kind."""
        return 1 - len(np.unique(self._kept)) / len(self._kept) if len(self._kept) else 0.0

    def most_frequent(self) -> tuple[int, int]:
        """The hash that stands most often, and how often."""
        values, counts = np.unique(self._kept, return_counts=True)
        best = int(counts.argmax())
        return int(values[best]), int(counts[best])

    def share_in(self, other: Hashes) -> float:
        """The share of these that ``other`` has, too."""
        mine = other._below(self._below(self._kept))
        return float(np.isin(mine, other._kept).mean()) if len(mine) else 0.0

    def _below(self, hashes: np.ndarray) -> np.ndarray:
        if not self._halvings:
            return hashes
        return hashes[hashes < np.uint64(1 << (64 - self._halvings))]


def _mixed(values: np.ndarray) -> np.ndarray:
    """Spread over all bits (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))


def _power(length: int) -> int:
    """The next power of two, so that few tables are made."""
    return 1 << max(0, length - 1).bit_length()


@lru_cache(maxsize=1)
def _multipliers(length: int) -> np.ndarray:
    """The same beginning at every length."""
    random = np.random.Generator(np.random.PCG64(0))
    return random.integers(0, 1 << 64, length, np.uint64)
