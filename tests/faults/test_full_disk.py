"""A disk that is full: one message, nothing lost, and the same end after room is made."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.command import ROOT, Running, Warm, files, record, result
from tests.faults.conftest import CORPUS, finetuning, pretraining
from tests.torture import LONG, trials

pytestmark = pytest.mark.processes


class Disk:
    """A file system of its own, of a size that can change."""

    def __init__(self, at: Path) -> None:
        self.at = at
        at.mkdir()
        _mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", str(at))

    def resize(self, size: int) -> None:
        """Make it ``size`` bytes large."""
        _mount("-o", f"remount,size={size // 4096 * 4096}", str(self.at))

    def fill(self) -> None:
        """Leave no free page."""
        free = os.statvfs(self.at)
        (self.at / "ballast").write_bytes(bytes(free.f_bavail * free.f_bsize))

    def empty(self) -> None:
        """Make room again."""
        (self.at / "ballast").unlink()


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk")
    yield made
    subprocess.run(["umount", "-l", str(made.at)], check=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can mount: the other tests run by themselves")
def test_in_a_namespace() -> None:
    """Those who are not root run this file in a user namespace of their own."""
    command = ["unshare", "-rm", sys.executable, "-m", "pytest", "-q", __file__]
    probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("neither mount nor user namespaces are allowed here")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def full_while(running: Running, reached: Callable[[], bool], disk: Disk) -> bool:
    """Fill the disk when ``reached`` says so, with the command stopped meanwhile."""
    while running.alive() and not reached():
        time.sleep(0.0005)
    if not running.alive():
        return False
    os.kill(running.pid, signal.SIGSTOP)
    disk.fill()
    os.kill(running.pid, signal.SIGCONT)
    return True


SHARES = [0.0, 0.3, 0.6, 0.8, 0.97]


@pytest.mark.parametrize("share", [*SHARES, *(n / 20 for n in range(trials(0, 20)))])
def test_a_corpus(share: float, made: Path, bertsmith: Warm, disk: Disk) -> None:
    """Room for a share of the corpus: finished units stay, and the end is the same to the byte."""
    pages = sum(
        -(-path.stat().st_size // 4096) for path in (made / "corpus").rglob("*.*") if path.is_file()
    )
    disk.resize(max(4096, int(pages * share) * 4096))
    out = disk.at / "corpus"
    words = ("corpus", made / "text.txt", "--out", out, *CORPUS)
    bertsmith(*words).refused(str(out), "the disk is full", "make room")
    assert not (out / "manifest.json").exists()
    finished = {path: path.stat().st_mtime_ns for path in out.glob("shards/*.json")}
    record(fault="full disk", of="corpus", where=f"{len(finished)} units finished")
    disk.resize(64 << 20)
    bertsmith(*words).done()
    assert all(path.stat().st_mtime_ns == then for path, then in finished.items())
    assert files(out, ".lock") == files(made / "corpus", ".lock")


def _there(*names: str) -> Callable[[Path], bool]:
    return lambda out: any(list(out.glob(name)) for name in names)


# What is written next, and what is there just before.
MOMENTS = {
    "the first lines": _there("config.toml"),
    "the first checkpoint": _there("metrics.jsonl"),
    "a later checkpoint": _there("checkpoints/step-00000008"),
    "inside a checkpoint": _there("checkpoints/.step-*"),
    "the model": _there("checkpoints/step-00000020"),
    "inside the model": _there(".model.*"),
    "the summary": _there("model/config.json"),
}


ALL = [(kind, moment) for kind in ("run", "tuned") for moment in MOMENTS]
SOME = [*ALL[: len(MOMENTS)], ("tuned", "a later checkpoint"), ("tuned", "inside the model")]


@pytest.mark.parametrize(("kind", "moment"), ALL if LONG else SOME)
def test_a_run(kind: str, moment: str, made: Path, bertsmith: Warm, disk: Disk) -> None:
    """The message names the file; checkpoints stay whole; the same command goes on to the end."""
    out = disk.at / "run"
    words = {"run": pretraining, "tuned": finetuning}[kind](made, out)
    running = bertsmith.start(*words)
    hit = full_while(running, lambda: MOMENTS[moment](out), disk)
    ended = running.wait()
    record(fault="full disk", of=kind, where=moment, status=ended.status, hit=hit)
    assert hit
    if ended.status:
        ended.refused(str(out), "make room")
    whole = [path.name for path in (out / "checkpoints").glob("step-*")]
    finished = (out / "summary.json").exists()  # only the report did not fit
    disk.empty()
    again = bertsmith(*words).done()
    if whole and ended.status and not finished:
        assert f"going on from step {int(max(whole)[5:]):,}" in again.stderr
        assert "passed over" not in again.stderr
    assert result(out) == result(made / kind)


def test_the_log(made: Path, bertsmith: Warm, disk: Disk) -> None:
    """Records that no longer fit end the run; after room is made every step is there once."""
    out = disk.at / "run"
    words = pretraining(made, out, "--checkpoint-every", 1000, "--steps", 60)
    running = bertsmith.start(*words)
    assert full_while(running, (out / "metrics.jsonl").exists, disk)
    running.wait().refused("metrics.jsonl", "make room")
    disk.empty()
    bertsmith(*words).done()
    assert [step for step, _ in result(out)["losses"]] == list(range(1, 61))


def test_a_report(made: Path, bertsmith: Warm, disk: Disk) -> None:
    shutil.copytree(made / "run", disk.at / "run")
    before = (disk.at / "run" / "report.html").read_bytes()
    disk.fill()
    bertsmith("report", disk.at / "run").refused("report.html", "make room")
    assert (disk.at / "run" / "report.html").read_bytes() == before
    disk.empty()
    bertsmith("report", disk.at / "run").done()


def test_the_report_of_a_run(made: Path, bertsmith: Warm, disk: Disk) -> None:
    """A run whose report alone did not fit is finished, and the message says how to get it."""
    out = disk.at / "run"
    running = bertsmith.start(*pretraining(made, out))
    assert full_while(running, (out / "summary.json").exists, disk)
    running.wait().refused("report.html", "bertsmith report")
    disk.empty()
    bertsmith("report", out).done()
    assert result(out) == result(made / "run")
