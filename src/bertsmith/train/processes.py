"""The processes of a run: which one this is, and what they tell each other.

Started by ``torchrun`` (or with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set), a run is
several processes that each compute a share of every batch. What they say to each other here is
small and goes over gloo on the CPU; gradients and weights go through torch (see ``parallel.py``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed
from torch.distributed.rendezvous import rendezvous

from bertsmith.common.console import silence
from bertsmith.common.errors import BertsmithError, SettingsError, TrainingError
from bertsmith.train.meeting import own_store

R = TypeVar("R")
_PATIENCE = timedelta(hours=2)  # the first process may write a report for long
_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class Ended(SystemExit):
    """Another process has said what is wrong; this one ends with the same status."""


class Processes:
    """The processes of a run; one of them alone needs no communication.

    Every method has to be called by all of them, in the same order.

    Attributes:
        rank: the number of this one, from 0.
        size: how many there are.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes."""
        return self.rank == 0

    def sums(self, values: Mapping[str, float]) -> dict[str, float]:
        """The sums over all processes, which give the same names."""
        if self.size == 1:
            return dict(values)
        tensor = torch.tensor(list(values.values()), dtype=torch.float64)
        distributed.all_reduce(tensor)
        return dict(zip(values, tensor.tolist(), strict=True))

    def most(self, value: int) -> int:
        """The greatest value of all processes."""
        if self.size == 1:
            return value
        tensor = torch.tensor(value)
        distributed.all_reduce(tensor, distributed.ReduceOp.MAX)
        return int(tensor)

    def of_first(self, value: float) -> float:
        """The first process's value."""
        return self.sums({"": value if self.is_first else 0.0})[""]

    def gather(self, value: R) -> list[R]:
        """The values of all processes in their order."""
        if self.size == 1:
            return [value]
        found: list[Any] = [None] * self.size
        distributed.all_gather_object(found, value)
        return found

    def first(self, action: Callable[[], R]) -> R:
        """What ``action`` gives on the first process, which alone runs it.

        Raises:
            BertsmithError: the action's, on the first process.
            Ended: the same on the others, which say nothing.
        """
        if self.size == 1:
            return action()
        told: list[Any] = [None, False]
        if self.is_first:
            try:
                told = [action(), True]
            except BertsmithError:
                distributed.broadcast_object_list([None, False], 0)
                raise
        distributed.broadcast_object_list(told, 0)
        if not told[1]:
            raise Ended(2)
        result: R = told[0]
        return result


ALONE = Processes()


def bounds(items: int, share: int, shares: int) -> tuple[int, int]:
    """First and one past the last of ``items`` that belong to a share of ``shares``.

    Numbers of items differ by one at most; with fewer items than shares some get none.
    """
    return items * share // shares, items * (share + 1) // shares


def dealt(items: Sequence[R], processes: Processes) -> Iterator[tuple[R, bool]]:
    """This process's items of all, and whether each counts.

    All processes get as many, as those that share one model's weights have to call it together;
    one that would have fewer gets some item again, which does not count.
    """
    if not items:
        return
    for start in range(0, len(items), processes.size):
        own = start + processes.rank
        yield items[min(own, len(items) - 1)], own < len(items)


def launched() -> tuple[int, int]:
    """Rank and number of processes as the environment has them; 0 and 1 without a launcher.

    Raises:
        SettingsError: the environment says so in part only.
    """
    size = os.environ.get("WORLD_SIZE", "1")
    if size == "1" or "RANK" not in os.environ:
        return 0, 1
    missing = [name for name in _NEEDED if not os.environ.get(name)]
    rank = os.environ["RANK"]
    if missing or not (rank.isdigit() and size.isdigit() and int(rank) < int(size)):
        raise SettingsError(
            "the environment does not say how the processes find each other",
            value={name: os.environ.get(name) for name in _NEEDED},
            mend="start them by torchrun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT",
        )
    return int(rank), int(size)


def local_rank() -> int:
    """The number of this process on its machine: which GPU is its own."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def local_size() -> int:
    """How many processes share this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


@contextmanager
def joined() -> Iterator[Processes]:
    """Meet the other processes of the run, if there are any; all but the first fall silent.

    Raises:
        SettingsError: the environment does not say how to find them.
        TrainingError: they can not be reached, now or later, in whatever they have to say.
    """
    rank, size = launched()
    if size == 1:
        yield ALONE
        return
    if rank:
        silence()
    try:
        _meet(rank, size)
    except (RuntimeError, ValueError) as error:
        raise _lost(error) from error
    try:
        yield Processes(rank, size)
    except RuntimeError as error:
        if not _of_communication(error):
            raise
        raise _lost(error) from error
    finally:
        distributed.destroy_process_group()


def _meet(rank: int, size: int) -> None:
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(local_rank())
    store, _, _ = next(rendezvous("env://", rank, size, timeout=_PATIENCE))
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if cuda else "gloo",
        store=own_store(store, rank, size, _PATIENCE),
        rank=rank,
        world_size=size,
        timeout=_PATIENCE,
    )


def _of_communication(error: RuntimeError) -> bool:
    """Whether torch raised it because another process was not heard: not all have a type."""
    text = str(error).lower()
    return isinstance(error, distributed.DistError) or "gloo" in text or "nccl" in text


def _lost(error: Exception) -> TrainingError:
    """What to say where another process can not be heard any more."""
    return TrainingError(
        f"another process of this run has ended, or can not be reached ({_line(error)})",
        mend="see its own message; the same command goes on from the last checkpoint",
    )


def _line(error: Exception) -> str:
    return str(error).strip().split("\n", maxsplit=1)[0][:200]
