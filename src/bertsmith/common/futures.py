"""Calls that run elsewhere, with their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def results_in_order(
    executor: Executor,
    function: Callable[[T], R],
    items: Iterable[T],
    ahead: Callable[[], int],
    result: Callable[[Future[R]], R] = Future.result,
) -> Iterator[R]:
    """The results of ``function`` in the order of ``items``.

    Args:
        executor: runs the calls; the caller ends it.
        function: what to call.
        items: read only as fast as they are worked on, so that they are never all in memory.
        ahead: how many calls may be in flight while a result is used.
        result: waits for the result of a call.
    """
    running: deque[Future[R]] = deque()
    for item in items:
        running.append(executor.submit(function, item))
        # More than one result can be due: there may be fewer workers than before.
        while len(running) > ahead():
            yield result(running.popleft())
    while running:
        yield result(running.popleft())
