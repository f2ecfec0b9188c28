"""Hashes of sequences against Python's own sets, whole and as a sample."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bertsmith.corpus import hashes
from bertsmith.corpus.hashes import Hashes, combined, sentence_hashes


def flat(sequences: list[list[int]], kind: type = np.uint16) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sequences])]).astype(np.int32)
    return np.array([token for one in sequences for token in one], kind), offsets


def some(count: int, seed: int = 0) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(4) for _ in range(rng.randint(1, 6))] for _ in range(count)]


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_equal_where_the_sequences_are(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(hashes, "_AT_ONCE", at_once)
    sequences = some(3000)
    found = sentence_hashes(*flat(sequences)).tolist()
    meant: dict[tuple[int, ...], int] = {}
    for sequence, one in zip(sequences, found, strict=True):
        assert meant.setdefault(tuple(sequence), one) == one
    assert len(set(meant.values())) == len(meant)
    assert sentence_hashes(*flat(sequences, np.uint32)).tolist() == found


def test_the_hash_of_a_sequence_does_not_depend_on_the_others() -> None:
    alone = [sentence_hashes(*flat([one])).item() for one in ([3, 1], [0], [0, 0, 9])]
    assert sentence_hashes(*flat([[3, 1], [0], [0, 0, 9]])).tolist() == alone
    assert len(sentence_hashes(*flat([]))) == 0


def test_documents_are_told_apart_by_the_order_of_their_sentences() -> None:
    words = np.array([5, 7, 7, 5, 5, 7], np.uint64)
    a, b, c = combined(words, np.array([0, 2, 4, 6]))
    assert a == c != b


def test_repetitions_are_counted() -> None:
    sequences = some(3000)
    kept = Hashes()
    for start in range(0, 3000, 1000):
        kept.add(sentence_hashes(*flat(sequences[start : start + 1000])))
    different = len({tuple(one) for one in sequences})
    assert kept.exact
    assert kept.repeated == pytest.approx(1 - different / 3000)
    number, times = kept.most_frequent()
    counts = [sequences.count(one) for one in sequences]
    best = sequences[int(np.argmax(counts))]
    assert times == max(counts)
    assert sentence_hashes(*flat([best])).item() == number
    assert Hashes().repeated == 0


def test_a_sample_tells_the_same_share_in_bounded_memory() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 1 << 64, 40_000, np.uint64)
    three = np.concatenate([values, values[:20_000], values[:20_000]])
    rng.shuffle(three)
    kept = Hashes(most=8000)
    for part in np.split(three, 20):
        kept.add(part)
        assert len(kept._kept) <= 8000
    assert not kept.exact
    assert kept.rate == pytest.approx(1 / 16)
    assert kept.seen == 80_000
    assert kept.repeated == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("most", [100_000, 2000])
def test_the_share_of_one_set_in_another(most: int) -> None:
    values = np.random.default_rng(1).integers(0, 1 << 64, 20_000, np.uint64)
    large, small = Hashes(most), Hashes()
    large.add(values)
    small.add(np.concatenate([values[:3000], values[:7000] ^ np.uint64(5)]))
    assert small.share_in(large) == pytest.approx(0.3, abs=0.04)
    assert Hashes().share_in(large) == 0
