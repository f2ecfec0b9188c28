"""Processes that encode units, or an executor of another kind in their place."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Protocol, TypeVar

from bertsmith.common.children import end_with_parent
from bertsmith.common.futures import results_in_order

T = TypeVar("T")
R = TypeVar("R")


class Elsewhere(Protocol):
    """Workers that are not processes of this machine; made and ended by who passes them on."""

    @property
    def executor(self) -> Executor:
        """Runs calls there."""

    def ahead(self) -> int:
        """How many calls may be in flight now."""

    def result(self, future: Future[R]) -> R:
        """The result of a call; does not wait for workers that can not be heard any more."""


def in_order(
    function: Callable[[T], R],
    items: Iterable[T],
    workers: int,
    elsewhere: Elsewhere | None = None,
) -> Iterator[R]:
    """The results of ``function`` in the order of ``items``, at most a few computed ahead.

    Args:
        function: what to call; it and the items have to be picklable.
        items: read only as fast as they are worked on, so that they are never all in memory.
        workers: number of processes; 1 for none.
        elsewhere: what runs the calls in their place.
    """
    if elsewhere is not None:
        yield from results_in_order(
            elsewhere.executor, function, items, elsewhere.ahead, elsewhere.result
        )
        return
    with _executor(workers) as own:
        try:
            yield from results_in_order(own, function, items, lambda: workers)
        except BaseException:
            own.shutdown(cancel_futures=True)
            raise


def _executor(workers: int) -> Executor:
    if workers == 1:
        return ThreadPoolExecutor(1)
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start)


def _start() -> None:
    # Threads of the library inside the processes would only get in each other's way.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    end_with_parent()
