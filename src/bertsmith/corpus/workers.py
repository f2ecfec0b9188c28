"""Processes that encode units, or an executor of another kind in their place."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(
    function: Callable[[T], R],
    items: Iterable[T],
    workers: int,
    executor: Executor | None = None,
    ahead: Callable[[], int] | None = None,
) -> Iterator[R]:
    """The results of ``function`` in the order of ``items``, at most a few computed ahead.

    Args:
        function: what to call; it and the items have to be picklable.
        items: read only as fast as they are worked on, so that they are never all in memory.
        workers: number of processes; 1 for none.
        executor: runs the calls in place of processes, and is shut down by who made it.
        ahead: how many calls may be in flight at a moment; ``workers`` where it is None.
    """
    if executor is not None:
        yield from _in_order(executor, function, items, ahead or (lambda: workers))
        return
    with _executor(workers) as own:
        try:
            yield from _in_order(own, function, items, lambda: workers)
        except BaseException:
            own.shutdown(cancel_futures=True)
            raise


def _in_order(
    executor: Executor, function: Callable[[T], R], items: Iterable[T], ahead: Callable[[], int]
) -> Iterator[R]:
    running: deque[Future[R]] = deque()
    for item in items:
        running.append(executor.submit(function, item))
        # More than one result can be due: a cluster may have become smaller meanwhile.
        while len(running) > ahead():
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


def _executor(workers: int) -> Executor:
    if workers == 1:
        return ThreadPoolExecutor(1)
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start)


def _start() -> None:
    # Threads of the library inside the processes would only get in each other's way.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A parent that is killed leaves its workers waiting for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
