"""Processes that encode units; this is where another way of running them would go."""

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


def in_order(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """The results of ``function`` in the order of ``items``, at most a few computed ahead.

    Args:
        function: what to call; it and the items have to be picklable.
        items: read only as fast as they are worked on, so that they are never all in memory.
        workers: number of processes; 1 for none.
    """
    running: deque[Future[R]] = deque()
    with _executor(workers) as executor:
        try:
            for item in items:
                running.append(executor.submit(function, item))
                if len(running) > workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise


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
