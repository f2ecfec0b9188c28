"""Building on a Dask cluster of real processes: the same shards, and what goes wrong."""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from bertsmith.common.errors import CorpusError
from bertsmith.corpus.cluster import arrived, encode_there
from bertsmith.corpus.encode import Unit

pytest.importorskip("distributed", reason="needs bertsmith[cluster]")

PATIENCE_S = 60
FLAGS = ["--vocab-size", "300", "--workers", "1", "--shard-mb", "0.02", "--format", "sentences"]


class Processes:
    """A scheduler and its workers on this machine."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"
        )
        self.workers: list[subprocess.Popen] = []
        for _ in range(workers):
            self.add()

    def _start(
        self, name: str, *arguments: str, before: tuple[str, ...] = (), **variables: str
    ) -> subprocess.Popen:
        command = [*before, sys.executable, "-m", f"distributed.cli.{name}", *arguments]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **variables},
        )  # fmt: skip

    def add(self, before: tuple[str, ...] = (), **variables: str) -> None:
        """One more worker, behind another command or with other variables."""
        arguments = self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"
        self.workers.append(self._start("dask_worker", *arguments, before=before, **variables))
        self._wait(len(self.workers))

    def _wait(self, workers: int) -> None:
        from distributed import Client

        with Client(self.address, timeout=PATIENCE_S, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=PATIENCE_S)

    def end(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster() -> Iterator[Processes]:
    made = Processes(2)
    yield made
    made.end()


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    rng = random.Random(0)
    words = ["".join(rng.choices("bdfgklmaeiou", k=5)) for _ in range(200)]
    path = tmp_path_factory.mktemp("source") / "text.txt"
    documents = (
        "\n".join(" ".join(rng.choices(words, k=9)) + "." for _ in range(6)) for _ in range(6000)
    )
    path.write_text("\n\n".join(documents))
    return path


@pytest.fixture(scope="module")
def expected(source: Path) -> dict[str, str]:
    out = source.parent / "alone"
    subprocess.run(command(source, out), check=True, capture_output=True)
    return digest(out)


def command(source: Path, out: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "bertsmith",
        "corpus",
        str(source),
        "--out",
        str(out),
        *FLAGS,
        *more,
    ]


def digest(out: Path) -> dict[str, str]:
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def start(source: Path, out: Path, address: str, units: int) -> subprocess.Popen:
    """A build on the cluster, when ``units`` of it are finished."""
    build = subprocess.Popen(
        command(source, out, "--scheduler", address), stderr=subprocess.PIPE, text=True,
        # A shell that runs these tests in the background may have its children ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip
    while len(list((out / "shards").glob("*.json"))) < units and build.poll() is None:
        time.sleep(0.005)
    assert not (out / "manifest.json").exists(), "the build was over too soon"
    return build


def test_a_killed_worker_changes_nothing(tmp_path, source, expected, cluster) -> None:
    build = start(source, tmp_path / "out", cluster.address, 3)
    cluster.workers[0].kill()
    _, said = build.communicate(timeout=PATIENCE_S)
    assert build.returncode == 0, said
    assert len(expected) > 40
    assert digest(tmp_path / "out") == expected


def test_a_scheduler_that_dies(tmp_path, source, expected, cluster) -> None:
    out = tmp_path / "out"
    build = start(source, out, cluster.address, 3)
    cluster.scheduler.kill()
    _, said = build.communicate(timeout=PATIENCE_S)
    assert build.returncode == 2, said
    assert "the scheduler is gone" in said
    assert "Traceback" not in said
    first = out / "shards" / "000000.json"
    before = first.stat().st_mtime_ns
    subprocess.run(command(source, out), check=True, capture_output=True)
    assert first.stat().st_mtime_ns == before
    assert digest(out) == expected


def test_interrupting_cancels(tmp_path, source, cluster) -> None:
    from distributed import Client

    build = start(source, tmp_path / "out", cluster.address, 2)
    build.send_signal(signal.SIGINT)
    _, said = build.communicate(timeout=PATIENCE_S)
    assert build.returncode == 130, said
    with Client(cluster.address, set_as_default=False) as client:
        end = time.monotonic() + PATIENCE_S
        while (left := client.run_on_scheduler(tasks)) and time.monotonic() < end:
            time.sleep(0.05)
    assert left == 0


def tasks(dask_scheduler: object = None) -> int:
    return len(dask_scheduler.tasks)  # type: ignore[attr-defined]


@pytest.fixture
def empty_cluster() -> Iterator[Processes]:
    made = Processes(0)
    yield made
    made.end()


def refused(source: Path, out: Path, address: str) -> str:
    done = subprocess.run(
        command(source, out, "--scheduler", address),
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert not list((out / "shards").glob("*"))
    return " ".join(done.stderr.split())


def other_version(folder: Path) -> str:
    """A path for PYTHONPATH from which the same code says that it is another version."""
    told = folder / "bertsmith-9.8.7.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: bertsmith\nVersion: 9.8.7\n")
    return str(folder)


def test_a_worker_of_another_version(tmp_path, source, empty_cluster) -> None:
    empty_cluster.add()
    empty_cluster.add(PYTHONPATH=other_version(tmp_path))
    said = refused(source, tmp_path / "out", empty_cluster.address)
    assert f"has bertsmith 9.8.7, this is {version('bertsmith')}" in said
    assert "mend: install the same version on all machines" in said
    assert not (tmp_path / "out" / "tokenizer").exists(), "refused before the vocabulary is made"


@pytest.mark.parametrize("broken", ["ModuleNotFoundError", "old"])
def test_a_worker_that_has_no_bertsmith_to_work_with(
    tmp_path, source, empty_cluster, broken
) -> None:
    """None at all, or one of before there were clusters."""
    package = tmp_path / "path" / "bertsmith"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("" if broken == "old" else f"raise {broken}('bertsmith')")
    empty_cluster.add(PYTHONPATH=str(package.parent))
    said = refused(source, tmp_path / "out", empty_cluster.address)
    assert re.search(r"the worker tcp://\S+ can not run bertsmith: ", said)
    assert "mend: install the same version on all machines" in said


def hiding(folder: Path) -> tuple[str, ...]:
    """A command before another one, which then has an empty disk in place of ``folder``."""
    script = 'mount -t tmpfs none "$0" && exec "$@"'
    return ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(folder))


def test_a_worker_that_does_not_share_the_folder(tmp_path, source, empty_cluster) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    if subprocess.run([*hiding(shared), "true"], check=False, capture_output=True).returncode:
        pytest.skip("no name space of its own can be made here for a worker")
    empty_cluster.add()
    empty_cluster.add(before=hiding(shared))
    said = refused(source, shared / "out", empty_cluster.address)
    assert re.search(rf"{shared}/out: the worker tcp://\S+ does not share the corpus folder", said)
    assert "mend: give an --out that all machines see under the same path" in said


@pytest.mark.parametrize("fault", ["version", "folder"])
def test_a_worker_that_comes_late_is_checked_too(tmp_path, fault) -> None:
    """The check of all workers was over when it came."""
    unit = Unit(0, [], tmp_path / "gone" if fault == "folder" else tmp_path, "en")
    theirs = "9.8.7" if fault == "version" else version("bertsmith")
    message = {"version": "this is 9.8.7", "folder": "does not share the corpus folder"}[fault]
    with pytest.raises(CorpusError, match=message):
        encode_there(lambda unit: {}, unit, theirs)


def test_a_record_that_did_not_arrive(tmp_path) -> None:
    """A worker with another disk under the same path."""
    with pytest.raises(CorpusError, match=r"that encoded 000000.json does not share"):
        arrived(tmp_path / "000000.json")


def test_no_scheduler_there(tmp_path, source) -> None:
    done = subprocess.run(
        command(source, tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9"),
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 2
    assert re.search(r"scheduler can not be reached \(got 'tcp://127.0.0.1:9'\)", done.stderr)
    assert "Traceback" not in done.stderr


def test_without_the_library(tmp_path, source) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "distributed.py").write_text("raise ImportError\n")
    done = subprocess.run(
        command(source, tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9"),
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(hidden)},
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install 'bertsmith[cluster]'" in done.stderr
