"""Processes that meet over a store which remembers others that died."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from torch.distributed import DistError, HashStore

from bertsmith.train.meeting import own_store

SOON = timedelta(seconds=20)


def meet(store: HashStore, size: int = 3) -> list:
    """The part of the store that each of ``size`` ranks gets, who come at once."""
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda rank: own_store(store, rank, size, SOON), range(size)))


def test_all_get_the_same_part() -> None:
    first, *others = meet(HashStore())
    first.set("address", "here")
    assert [one.get("address") for one in others] == [b"here", b"here"]


def test_what_the_dead_said_is_not_heard() -> None:
    """A second try over the store of the first, as a launcher starts it."""
    store = HashStore()
    meet(store)[0].set("address", "gone")
    first, second, _ = meet(store)
    assert not second.check(["address"])
    first.set("address", "here")
    assert second.get("address") == b"here"


def test_names_of_the_dead_are_not_taken_for_the_living() -> None:
    """The first process comes to names that nobody waits for any more, and waits for the others."""
    store = HashStore()
    with pytest.raises(DistError):
        own_store(store, 1, 2, timedelta(seconds=0.1))  # leaves its name, and dies
    with pytest.raises(DistError, match=r"did not come: \[1\]"):
        own_store(store, 0, 2, timedelta(seconds=0.3))
    first, second = meet(store, 2)
    first.set("address", "here")
    assert second.get("address") == b"here"
