"""CRC-32C (Castagnoli), the checksum of TensorFlow's checkpoints, at numpy's speed.

A CRC is linear over GF(2), so a long message can be folded before it is summed. It is cut into rows
of words; the first row is moved on by the length of one, which is a matrix of 32x32 bits applied to
every word, and added (XOR) to the second, that sum to the third, and so on. The last row then has
the checksum of the whole. A matrix is applied by looking up the two halves of a word in tables of
65536 entries, for all words of a row at once. Narrower rows fold what wide ones leave, and a loop
over bytes finishes.

Sources: RFC 3720, appendix B.4 (polynomial and known values); ``core/lib/hash/crc32c.h`` of
TensorFlow (the masked form).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Bytes = NDArray[np.uint8]
_Words = NDArray[np.uint32]

_POLYNOMIAL = 0x82F63B78  # reflected: the lowest bit comes first
_ONES = 0xFFFFFFFF
# Four bytes that bring a register of zeros to the ones that a CRC begins with: with them in front,
# a message needs no other start, and zeros before them change nothing.
_START = np.array([0x641F6454], "<u4").view(np.uint8)
# Words in a row, as powers of two, the widest first. A row and its tables fit a core's cache.
_ROWS = (14, 9, 4)
_MASK = 0xA282EAD8


def crc32c(data: bytes | NDArray[Any]) -> int:
    """The CRC-32C of bytes, or of an array's bytes in C order."""
    message = _bytes(data)
    start = _START
    for power in _ROWS:
        width = 4 << power
        whole = len(message) // width * width
        if whole == 0:
            continue
        beyond = len(message) - whole
        first = np.concatenate([start, message[:beyond]])
        message = _fold(first, message[beyond:], power)
        start = message[:0]
    register = 0
    table = _byte_table()
    for byte in np.concatenate([start, message]).tolist():
        register = (register >> 8) ^ table[(register ^ byte) & 0xFF]
    return register ^ _ONES


def mask(crc: int) -> int:
    """The form in which a CRC is stored among data that may be summed again."""
    return ((crc >> 15 | crc << 17) + _MASK) & _ONES


def masked_crc32c(data: bytes | NDArray[Any]) -> int:
    """The CRC-32C as checkpoints store it."""
    return mask(crc32c(data))


def _bytes(data: bytes | NDArray[Any]) -> _Bytes:
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return np.frombuffer(data, np.uint8)


def _fold(first: _Bytes, rows: _Bytes, power: int) -> _Bytes:
    """One row of ``2**power`` words, with the sum of ``first`` and then ``rows``.

    Args:
        first: bytes before the rows, fewer than a row and four.
        rows: whole rows, at least one.
        power: the logarithm of a row's words.
    """
    width = 4 << power
    low, high = _shift_tables(power)
    padded = np.zeros(2 * width, np.uint8)  # zeros in front do not count
    padded[2 * width - len(first) :] = first
    folded = padded[:width].view("<u4")
    for row in (padded[width:].view("<u4"), *rows.view("<u4").reshape(-1, 1 << power)):
        halves = folded.view("<u2")
        folded = low.take(halves[0::2])
        folded ^= high.take(halves[1::2])
        folded ^= row
    return folded.view(np.uint8)


@cache
def _shift_tables(power: int) -> tuple[_Words, _Words]:
    """What ``2**power`` words of zeros make of a register, by its low and its high half."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    columns = (bits >> np.uint32(1)) ^ np.where(bits & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    for _ in range(5 + power):  # a word is 2**5 bits; each squaring doubles the way
        columns = _product(columns, columns)
    return _combinations(columns[:16]), _combinations(columns[16:])


def _product(columns: _Words, vectors: _Words) -> _Words:
    """The matrix of the given columns times each of ``vectors``, over GF(2)."""
    low, high = _combinations(columns[:16]), _combinations(columns[16:])
    return low.take(vectors & 0xFFFF) ^ high.take(vectors >> 16)


def _combinations(columns: _Words) -> _Words:
    """The sums of all subsets of the columns, by the number whose bits name the subset."""
    sums = np.zeros(1, np.uint32)
    for column in columns:
        sums = np.concatenate([sums, sums ^ column])
    return sums


@cache
def _byte_table() -> list[int]:
    """What eight zero bits make of a register, by its lowest byte."""
    table = []
    for register in range(256):
        after = register
        for _ in range(8):
            after = (after >> 1) ^ (_POLYNOMIAL if after & 1 else 0)
        table.append(after)
    return table
