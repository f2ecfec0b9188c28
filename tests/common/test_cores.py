"""How many cores there are, how busy they are, and how threads wait on them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bertsmith.common import cores as module
from bertsmith.common.cores import cores, share_cores, threads, used_by_others


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variable says how threads wait; what is set here is put back."""
    monkeypatch.setenv("GOMP_SPINCOUNT", "x")
    monkeypatch.delenv("GOMP_SPINCOUNT")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    return monkeypatch


def spins() -> int:
    os.environ.pop("GOMP_SPINCOUNT", None)
    share_cores()
    return int(os.environ["GOMP_SPINCOUNT"])


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_what_the_user_says_stays(unset: pytest.MonkeyPatch, name: str) -> None:
    unset.setenv(name, "7")
    share_cores()
    assert os.environ[name] == "7"
    assert ("GOMP_SPINCOUNT" in os.environ) == (name == "GOMP_SPINCOUNT")


def test_threads_that_wait_sleep_sooner_where_others_work(unset: pytest.MonkeyPatch) -> None:
    unset.setenv("OMP_NUM_THREADS", "2")
    unset.setattr(module, "cores", lambda: 2)
    waits = {}
    for used in (0.0, 0.4, 0.6, 2.0):
        unset.setattr(module, "used_by_others", lambda used=used: used)
        waits[used] = spins()
    assert waits[0.0] == waits[0.4] > waits[0.6] == waits[2.0]
    unset.setenv("OMP_NUM_THREADS", "1")  # one thread waits for nobody
    assert spins() == waits[0.0]


def test_a_program_at_work_is_seen() -> None:
    if not Path("/proc/stat").exists():
        pytest.skip("this system does not say what its cores do")
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    ) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        seen = [used_by_others() for _ in range(5)]
        busy.kill()
    assert max(seen) > 0.5
    assert max(seen) <= cores() + 1  # a tick more or less


def test_a_system_that_says_nothing_has_nobody_at_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing = tmp_path / "stat"
    monkeypatch.setattr(module, "_STAT", nothing)
    assert used_by_others() == 0
    nothing.write_text("cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\n\n")
    assert used_by_others() == 0


def test_threads_are_those_that_the_user_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, wanted in (("3", 3), ("0", cores()), ("", cores()), ("x", cores())):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert threads() == wanted
