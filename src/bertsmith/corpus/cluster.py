"""A Dask cluster that encodes units: connecting, checking its workers, saying what went wrong."""

from __future__ import annotations

import asyncio
import logging
import platform
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from bertsmith.common.errors import CorpusError, SettingsError
from bertsmith.corpus.encode import Unit

R = TypeVar("R")
_PATIENCE_S = 10  # for the scheduler to answer
_LISTEN_S = 0.5  # between looks at whether it is still there
_SAME_VERSION = "install the same version on all machines"
_AGAIN = "run the same command again, with or without --scheduler: finished shards are kept"


class Cluster:
    """A connected cluster.

    Attributes:
        address: the scheduler's.
        executor: runs calls on the cluster.
    """

    def __init__(self, address: str, client: Any) -> None:
        self.address, self._client = address, client
        self.executor: Executor = client.get_executor(pure=False)

    def ahead(self) -> int:
        """Units in flight: two a thread of its workers, which may become more and fewer.

        Raises:
            CancelledError: the scheduler can not be heard any more.
        """
        self._listen()
        try:
            return 2 * max(1, int(sum(self._client.nthreads().values())))
        except OSError:
            raise CancelledError from None

    def result(self, future: Future[R]) -> R:
        """The result of a call.

        Raises:
            CancelledError: the scheduler can not be heard any more. A call that is in flight then
                may have no end of its own.
        """
        while not wait([future], timeout=_LISTEN_S).done:
            self._listen()
        return future.result()

    def _listen(self) -> None:
        if self._client.status != "running":
            raise CancelledError

    def cancel(self) -> None:
        """Cancel what was not finished."""
        self.executor.shutdown(wait=False)

    def check(self, marker: Path) -> None:
        """See that workers there now have this bertsmith and the folder of ``marker``.

        Raises:
            CorpusError: a worker differs; the message names it.
        """
        found = self._client.run(_look, str(marker), on_error="return")
        if not found:
            raise CorpusError(
                "the scheduler has no worker", value=self.address, mend="start dask worker"
            )
        for name, answer in found.items():
            if isinstance(answer, Exception):
                raise CorpusError(
                    f"the worker {name} can not run bertsmith: {answer!r}", mend=_SAME_VERSION
                )
            theirs, sees = answer
            if theirs != own_version():
                raise _other_version(name, theirs, own_version())
            if not sees:
                raise _not_shared(marker.parent, name)


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to the scheduler at ``address``; what is unfinished at the end is cancelled.

    Raises:
        SettingsError: the library is not installed, or the address has no form of one.
        CorpusError: the scheduler does not answer, or is gone in the middle.
    """
    try:
        import distributed
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise SettingsError(
            "a cluster needs the library distributed", mend="pip install 'bertsmith[cluster]'"
        ) from None
    # What goes wrong is said once, by us; and a unit is as large as it is.
    # (The library gives each of its loggers a level of its own.)
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", "Sending large graph")
    try:
        connect: Any = distributed.Client  # has no types
        client = connect(address, timeout=_PATIENCE_S, set_as_default=False)
    except OSError:
        raise CorpusError(
            "the scheduler can not be reached", value=address,
            mend="see that it runs and that the address is the one it printed",
        ) from None  # fmt: skip
    except ValueError as error:
        raise SettingsError(
            f"the address of the scheduler is wrong: {error}", value=address,
            mend="give tcp://HOST:PORT",
        ) from None  # fmt: skip
    cluster = Cluster(address, client)
    try:
        yield cluster
    except (CommClosedError, CancelledError, asyncio.CancelledError):
        raise CorpusError("the scheduler is gone", value=address, mend=_AGAIN) from None
    except distributed.scheduler.KilledWorker:
        raise CorpusError(
            "workers of the cluster were killed again and again at one unit (out of memory?)",
            value=address, mend=_AGAIN + "; a smaller --shard-mb needs less memory",
        ) from None  # fmt: skip
    finally:
        cluster.cancel()
        client.close(timeout=2)


def own_version() -> str:
    """The version of bertsmith here."""
    return version("bertsmith")


def encode_there(
    encode: Callable[[Unit], dict[str, Any]], unit: Unit, wanted: str
) -> dict[str, Any]:
    """Call ``encode`` on a worker, which may have come after :meth:`Cluster.check`.

    Args:
        encode: what to call.
        unit: what to encode; the worker has to see its folder.
        wanted: the version of bertsmith that the worker has to have.

    Raises:
        CorpusError: the worker differs.
    """
    if own_version() != wanted:
        raise _other_version(platform.node(), own_version(), wanted)
    if not unit.folder.is_dir():
        raise _not_shared(unit.folder, platform.node())
    return encode(unit)


def arrived(record: Path) -> None:
    """See that the record that a worker wrote lies in the builder's own folder, too.

    Raises:
        CorpusError: it does not: the worker has another disk under the same path.
    """
    if not record.exists():
        raise _not_shared(record.parent, f"that encoded {record.name}")


def _other_version(worker: str, theirs: str, own: str) -> CorpusError:
    return CorpusError(
        f"the worker {worker} has bertsmith {theirs}, this is {own}", mend=_SAME_VERSION
    )


def _not_shared(folder: Path, worker: str) -> CorpusError:
    return CorpusError(
        f"the worker {worker} does not share the corpus folder", file=folder,
        mend="give an --out that all machines see under the same path",
    )  # fmt: skip


def _look(marker: str) -> tuple[str, bool]:
    return own_version(), Path(marker).exists()
