"""Random numbers by address: a stream is a function of a seed and of what it is for."""

from __future__ import annotations

import math

import numpy as np

# One number a purpose, so that streams for different purposes never coincide.
TILES, BATCH, ORDER, EVALUATION, BOOTSTRAP, SPLIT = range(1, 7)
_ROUNDS = 6


def stream(seed: int, purpose: int, *address: int) -> np.random.Generator:
    """The generator at ``address`` (up to three numbers below 2**64) for one purpose.

    Philox is counter-based: making a generator costs microseconds and needs no state of another.
    The low word of the counter is left to the stream itself.
    """
    counter = [0, *address, *([0] * (3 - len(address)))]
    key = np.array([seed, purpose], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=np.array(counter, np.uint64)))


def permute(index: np.ndarray, size: int, seed: int, epoch: int) -> np.ndarray:
    """Where the items ``index`` (int64, each below ``size``) stand in epoch ``epoch``'s order.

    A permutation of ``range(size)`` that is computed, not stored: a Feistel network over the grid
    of the smallest near-square that holds ``size`` items, walked along its cycle until it falls
    inside the range. Any position of any epoch costs the same, whatever the size of the corpus.
    """
    rows = math.isqrt(max(size - 1, 0)) + 1
    columns = np.uint64(-(-size // rows))
    keys = stream(seed, ORDER, epoch).integers(0, 1 << 63, size=_ROUNDS, dtype=np.uint64)
    value = index.astype(np.uint64)
    todo = np.ones(len(value), dtype=bool)
    while todo.any():
        value[todo] = _feistel(value[todo], keys, np.uint64(rows), columns)
        todo = value >= np.uint64(size)
    return value.astype(np.int64)


def _feistel(
    value: np.ndarray, keys: np.ndarray, rows: np.uint64, columns: np.uint64
) -> np.ndarray:
    # Each round shifts one coordinate by a hash of the other: it can be undone, so no two values
    # of the grid meet.
    row, column = value // columns, value % columns
    for even, odd in zip(keys[::2], keys[1::2], strict=True):
        row = np.remainder(row + np.remainder(_mix(column + even), rows), rows)
        column = np.remainder(column + np.remainder(_mix(row + odd), columns), columns)
    result: np.ndarray = row * columns + column
    return result


def _mix(value: np.ndarray) -> np.ndarray:
    # The finaliser of splitmix64: every input bit reaches every output bit. It means to overflow.
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: np.ndarray = value ^ (value >> np.uint64(31))
    return result
