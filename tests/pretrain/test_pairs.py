import itertools

import numpy as np
import pytest

from bertsmith.pretrain.pairs import PairCounts, PairMaker, longest_first
from bertsmith.pretrain.tiles import Tiling
from tests.pretrain.made import MadeCorpus, made_corpus, numbered_corpus

LENGTH = 64


def pairs_of(corpus, length=LENGTH, pairs=True, seed=0, epochs=1, short=0.1):
    tiling = Tiling(corpus, length, short, pairs, seed)
    maker = PairMaker(corpus, length - 3, pairs)
    counts = PairCounts()
    rng = np.random.default_rng(seed)
    tiles = tiling.tiles(0, len(tiling) * epochs)
    return tiles, [maker.make(tile, rng, counts) for tile in tiles], counts


def by_single_tokens(a: int, b: int, room: int) -> tuple[int, int]:
    while a + b > room:
        if a > b:
            a -= 1
        else:
            b -= 1
    return a, b


def test_truncation_is_that_of_one_token_at_a_time() -> None:
    for room in (2, 5, 8, 61):
        for a in range(1, 40):
            for b in range(1, 40):
                assert longest_first(a, b, room) == by_single_tokens(a, b, room)


def test_one_document_has_no_random_pairs() -> None:
    """Case C01: with one document, no pair is labelled random, and making pairs terminates."""
    corpus = MadeCorpus([[[5, 6, 7], [8, 9, 10], [11, 12, 13]]])
    for seed in range(200):
        _, pairs, _ = pairs_of(corpus, 40, pairs=False, seed=seed)
        assert {pair.label for pair in pairs} == {0}


def test_a_random_b_is_never_from_the_same_document() -> None:
    """Case C01: B of a random pair comes from another document, of a next pair from the same."""
    _, pairs, _ = pairs_of(made_corpus(7, 40), epochs=3)
    for pair in pairs:
        assert len(pair.a) > 0
        assert len(pair.b) > 0
        same = int(pair.a[0]) == int(pair.b[0])
        assert same == (pair.label == 0)
        assert len(set(pair.a.tolist())) == len(set(pair.b.tolist())) == 1
        assert len(pair.a) + len(pair.b) <= LENGTH - 3


def test_one_sentence_documents_give_random_pairs() -> None:
    """Case C02: documents of one sentence give pairs without an exception; all are random."""
    _, pairs, counts = pairs_of(MadeCorpus([[[5, 6]], [[7, 8]]]))
    assert [pair.label for pair in pairs] == [1, 1]
    assert counts.forced_random <= 2


def test_half_of_the_pairs_are_next() -> None:
    _, pairs, counts = pairs_of(made_corpus(20, 300), epochs=2)
    labels = np.array([pair.label for pair in pairs])
    assert abs(labels.mean() - 0.5) < 0.03
    assert counts.forced_random < 0.05 * len(labels)


def test_a_next_b_continues_a() -> None:
    _, pairs, _ = pairs_of(numbered_corpus(3, 60, 10))
    checked = 0
    for pair in pairs:
        ids = np.concatenate([pair.a, pair.b]).astype(int)
        if pair.label == 0 and len(ids) < LENGTH - 3:  # nothing was cut
            assert (np.diff(ids) == 1).all()
            checked += 1
    assert checked > 10


def test_tiles_touch_and_cover_every_document() -> None:
    """What one example leaves is what the next one has: no text is left over, none is doubled."""
    corpus = made_corpus(9, 100)
    for epoch in range(3):
        tiling = Tiling(corpus, LENGTH, 0.1, True, seed=epoch)
        tiles = tiling.tiles(epoch * len(tiling), len(tiling))
        for document in range(9):
            mine = sorted((t.start, t.stop) for t in tiles if t.document == document)
            assert mine[0][0] == 0
            assert mine[-1][1] == corpus.document_tokens[document]
            assert all(a[1] == b[0] for a, b in itertools.pairwise(mine))


@pytest.mark.parametrize("pairs", [True, False])
def test_nearly_all_text_is_used_in_an_epoch(pairs: bool) -> None:
    corpus = numbered_corpus(4, 400, 12)
    _, made, counts = pairs_of(corpus, pairs=pairs)
    own = [np.concatenate([p.a, p.b]) if p.label == 0 else p.a for p in made]
    seen = len(np.unique(np.concatenate(own)))
    assert seen > 0.85 * corpus.tokens
    assert counts.tokens_cut < 0.2 * corpus.tokens


def test_another_epoch_cuts_the_text_elsewhere() -> None:
    corpus = numbered_corpus(4, 400, 12)
    tiling = Tiling(corpus, LENGTH, 0.1, True, seed=0)
    count = len(tiling)
    first = {(t.document, t.start) for t in tiling.tiles(0, count)}
    second = {(t.document, t.start) for t in tiling.tiles(count, count)}
    assert len(first & second) < 0.2 * count


def test_sequences_are_well_filled_and_some_are_short() -> None:
    tiles, pairs, _ = pairs_of(made_corpus(10, 500))
    lengths = np.array([len(p.a) + len(p.b) for p in pairs])
    full = np.array([tile.target == LENGTH - 3 for tile in tiles])
    assert abs(full.mean() - 0.9) < 0.03
    assert lengths[full].mean() > 0.8 * (LENGTH - 3)
    assert lengths[~full].mean() < 0.8 * lengths[full].mean()


def test_long_sentences_and_short_ones() -> None:
    corpus = MadeCorpus([[[5] * 1000, [6], [7] * 3] * 3, [[8] * 2000], [[9]] * 300])
    _, pairs, counts = pairs_of(corpus, epochs=4)
    assert all(len(p.a) and len(p.b) and len(p.a) + len(p.b) <= LENGTH - 3 for p in pairs)
    assert counts.sentences_split > 0
