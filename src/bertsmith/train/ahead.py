"""Batches made while others are used: by a thread, or by processes where a GPU outruns one."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

import torch

from bertsmith.common.children import end_with_parent
from bertsmith.common.console import warn
from bertsmith.common.futures import results_in_order

B = TypeVar("B")

_GPU_WORKERS = 4


def choose_workers(asked: int, device: torch.device) -> int:
    """Who makes the batches: so many processes, or a thread where it is 1.

    Args:
        asked: what the user wants, 0 for a thread on a CPU and four processes for a GPU.
        device: where the run computes.
    """
    return asked or (_GPU_WORKERS if device.type == "cuda" else 1)


def ahead(
    batch_at: Callable[[int], B], first: int, last: int, workers: int = 1
) -> Iterator[tuple[int, B]]:
    """Batches ``first`` to ``last`` (exclusive) in order, as many made ahead as there are workers.

    Args:
        batch_at: makes a batch from its number alone, so that it does not matter who calls it.
        first: number of the first batch.
        last: number after the last.
        workers: processes; 1 for a thread of this one.

    Raises:
        Exception: whatever ``batch_at`` raises.
    """
    number = first
    if workers > 1:
        # A fork shares the maps of the corpus and need not pickle them. It never touches a GPU.
        fork = multiprocessing.get_context("fork")
        pool = ProcessPoolExecutor(
            workers, mp_context=fork, initializer=_start, initargs=(batch_at,)
        )
        try:
            for made in _made(pool, _make, first, last, workers):
                yield number, pickle.loads(made)
                number += 1
        except BrokenProcessPool:
            warn("a process that makes batches was ended; a thread makes the rest, more slowly")
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
    yield from enumerate(_made(thread, batch_at, number, last, 1), number)


def _made(
    executor: Executor, make: Callable[[int], B], first: int, last: int, most: int
) -> Iterator[B]:
    """What ``make`` makes of the numbers, at most so many ahead; ends with its executor."""
    try:
        yield from results_in_order(executor, make, range(first, last), lambda: most)
    finally:
        executor.shutdown(cancel_futures=True)


_batch_at: Callable[[int], Any]  # of a process that makes batches


def _start(batch_at: Callable[[int], Any]) -> None:
    global _batch_at  # noqa: PLW0603 - a process has one task
    _batch_at = batch_at
    # A terminal sends Ctrl-C to all processes, and the run itself answers it. Its handlers came
    # with the fork; by SIGTERM its pool ends what a broken one has left.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    end_with_parent()


def _make(number: int) -> bytes:
    # Pickled here: torch would send its tensors by shared memory, of which containers have little.
    return pickle.dumps(_batch_at(number), pickle.HIGHEST_PROTOCOL)
