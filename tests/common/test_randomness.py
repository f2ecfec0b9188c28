import numpy as np
import pytest

from bertsmith.common.randomness import BATCH, TILES, permute, stream


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1000, 4097])
def test_an_epoch_is_a_permutation(size: int) -> None:
    order = permute(np.arange(size), size, seed=3, epoch=0)
    assert sorted(order.tolist()) == list(range(size))


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    index = np.arange(1000)
    orders = [permute(index, 1000, seed, epoch) for seed, epoch in [(0, 0), (0, 1), (1, 0)]]
    for i, one in enumerate(orders):
        # A random permutation of 1000 has one fixed point on average; equal orders have 1000.
        assert sum(one == index) < 10
        for other in orders[:i]:
            assert sum(one == other) < 10


def test_any_position_is_computed_alone() -> None:
    whole = permute(np.arange(5000), 5000, seed=1, epoch=7)
    alone = [int(permute(np.array([i]), 5000, seed=1, epoch=7)[0]) for i in (0, 17, 4999)]
    assert alone == [int(whole[i]) for i in (0, 17, 4999)]


def test_streams_differ_by_purpose_and_address() -> None:
    draws = {
        tuple(stream(seed, purpose, *address).integers(0, 1 << 60, 2).tolist())
        for seed in (0, 1)
        for purpose in (TILES, BATCH)
        for address in [(), (1,), (0, 1), (0, 0, 1)]
    }
    assert len(draws) == 16
    first = stream(5, BATCH, 9).random(4)
    assert np.array_equal(first, stream(5, BATCH, 9).random(4))
