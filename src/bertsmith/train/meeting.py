"""How the processes of a run find each other, over a store that may remember dead ones.

A launcher that starts a run again (``torchrun --max-restarts``) keeps its store, and with it the
addresses of the processes before. Nothing in the environment tells one try from another for all
of them: torchrun's count of restarts differs between machines. So they agree on a name of their
own, and what they say afterwards is kept under it.
"""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

from torch.distributed import DistStoreError
from torch.distributed.distributed_c10d import PrefixStore, Store

_PAUSE = 0.02  # seconds between two looks


def own_store(store: Store, rank: int, size: int, patience: timedelta) -> Store:
    """The part of ``store`` that belongs to the processes that call this now, and to no others.

    Args:
        store: what all of them reach, with whatever it holds.
        rank: the number of this process of ``size``.
        patience: how long to wait for the others.

    Raises:
        DistStoreError: not all of them have come.
    """
    meeting = _invite(store, size, patience) if rank == 0 else _come(store, rank, patience)
    return PrefixStore(meeting, store)


def _come(store: Store, rank: int, patience: timedelta) -> str:
    """Leave a name that nobody had before, and wait for the answer to it."""
    name = uuid.uuid4().hex
    store.set(_guest(rank), name)
    store.wait([_answer(name)], patience)
    meeting: str = store.get(_answer(name)).decode()
    store.set(_present(meeting, rank), "")
    return meeting


def _invite(store: Store, size: int, patience: timedelta) -> str:
    """Answer every name, also those of the dead, until one of each rank has heard it."""
    meeting = uuid.uuid4().hex
    missing = set(range(1, size))
    end = time.monotonic() + patience.total_seconds()
    while missing:
        for rank in sorted(missing):
            if store.check([_guest(rank)]):
                store.set(_answer(store.get(_guest(rank)).decode()), meeting)
        time.sleep(_PAUSE)
        missing = {rank for rank in missing if not store.check([_present(meeting, rank)])}
        if missing and time.monotonic() > end:
            raise DistStoreError(f"processes that did not come: {sorted(missing)}")
    return meeting


def _guest(rank: int) -> str:
    return f"bertsmith/guest/{rank}"


def _answer(name: str) -> str:
    return f"bertsmith/answer/{name}"


def _present(meeting: str, rank: int) -> str:
    return f"bertsmith/{meeting}/{rank}"
