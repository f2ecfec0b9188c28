from collections import Counter

import numpy as np
import pytest

from bertsmith.pretrain.masking import Masking, Vocabulary, choose, hide, targets_of
from tests.pretrain.made import CLS, MASK, SEP, UNK

SPECIAL = np.arange(55) < 5
CONTINUATION = np.zeros(55, dtype=bool)
CONTINUATION[[10, 11, 12]] = True
VOCABULARY = Vocabulary(MASK, SPECIAL, CONTINUATION)


def masking(rate: float = 0.15, unit: str = "token", most: int = 0) -> Masking:
    return Masking(rate, unit, 0.8, 0.1, most)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [(3, 1), (5, 1), (10, 2), (17, 3), (30, 4), (50, 8), (70, 10), (110, 16), (128, 19), (512, 20)],
)
def test_how_many_are_masked(tokens: int, wanted: int) -> None:
    """Case C05: rounded half to even, at least 1, at most the cap."""
    assert targets_of(np.array([tokens]), 0.15, 20).tolist() == [wanted]


def test_no_cap_unless_asked() -> None:
    """Case C05: 512 tokens have 77 targets where no cap is set."""
    assert targets_of(np.array([512]), 0.15, 0).tolist() == [77]


@pytest.mark.parametrize("unit", ["token", "word", "span"])
def test_few_candidates(unit: str) -> None:
    """Case C05: two candidates at a rate of 0.9 give two targets, not more and no crash."""
    ids = np.array([CLS, 7, SEP, 8, SEP])
    for seed in range(20):
        positions = choose(ids, np.array([5]), masking(0.9, unit), VOCABULARY, [rng(seed)])
        assert positions.tolist() == [1, 3]


@pytest.mark.parametrize("unit", ["token", "word", "span"])
def test_never_a_special_token_and_labels_are_originals(unit: str) -> None:
    """Case C05: sorted, unique, never special; at most the wanted number a sequence."""
    draw = rng(1)
    lengths = draw.integers(3, 60, 200)
    ids = draw.integers(5, 55, int(lengths.sum()))
    starts = np.cumsum(lengths) - lengths
    ids[starts], ids[starts + lengths - 1] = CLS, SEP
    ids[draw.random(len(ids)) < 0.05] = UNK
    positions = choose(ids, lengths, masking(0.15, unit), VOCABULARY, [rng(2)] * 200)
    assert positions.tolist() == sorted(set(positions.tolist()))
    assert not SPECIAL[ids[positions]].any()
    per_sequence = Counter(np.searchsorted(starts, positions, side="right").tolist())
    wanted = targets_of(lengths, 0.15, 0)
    assert all(per_sequence[i + 1] <= wanted[i] for i in range(len(lengths)))
    if unit == "token":
        candidates = np.add.reduceat(~SPECIAL[ids], starts)
        assert [per_sequence[i + 1] for i in range(200)] == np.minimum(wanted, candidates).tolist()


def test_a_sequence_of_special_tokens_gets_none() -> None:
    ids = np.array([CLS, UNK, SEP, CLS, 9, SEP])
    assert choose(ids, np.array([3, 3]), masking(), VOCABULARY, [rng()] * 2).tolist() == [4]


def test_the_three_ways_to_hide() -> None:
    """Case C05: 80/10/10 within 1.5 points over 30,000 targets; no replacement is special."""
    ids = rng(3).integers(5, 55, 30_000)
    hidden = hide(
        ids, np.array([30_000]), np.arange(30_000), masking(), VOCABULARY, [rng(4)]
    )  # fmt: skip
    masked = hidden == MASK
    kept = hidden == ids
    replaced = ~masked & ~kept
    assert abs(masked.mean() - 0.8) < 0.015
    # One random replacement in fifty is the token itself.
    assert abs(replaced.mean() - 0.1 * 49 / 50) < 0.015
    assert abs(kept.mean() - (0.1 + 0.1 / 50)) < 0.015
    assert not SPECIAL[hidden[~masked]].any()
    assert len(set(hidden[replaced].tolist())) == 50


def test_whole_words_stay_together() -> None:
    ids = np.array([CLS, 20, 10, 11, 21, 22, 10, 23, 24, 25, 26, SEP])
    words = [{1, 2, 3}, {4}, {5, 6}, {7}, {8}, {9}, {10}]
    seen = set()
    for seed in range(50):
        chosen = set(
            choose(ids, np.array([12]), masking(0.3, "word"), VOCABULARY, [rng(seed)]).tolist()
        )
        assert all(word <= chosen or not word & chosen for word in words)
        seen |= chosen
    assert seen == set(range(1, 11))


def test_spans_are_runs_of_words() -> None:
    length = 200
    ids = np.concatenate([[CLS], rng(5).integers(20, 55, length - 2), [SEP]])
    runs = []
    for seed in range(30):
        chosen = choose(ids, np.array([length]), masking(0.15, "span"), VOCABULARY, [rng(seed)])
        assert len(chosen) <= 30
        breaks = np.flatnonzero(np.diff(chosen) != 1)
        runs += np.diff(np.concatenate([[-1], breaks, [len(chosen) - 1]])).tolist()
    # The mean of SpanBERT's clipped geometric lengths is 3.8; single tokens would give about 1.2.
    assert 2.5 < np.mean(runs) < 5
