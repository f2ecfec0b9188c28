"""SIGKILL at any moment: the same command goes on, and ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.command import ONE_THREAD, Ended, Running, Warm, files, record, result
from tests.faults.conftest import CORPUS, finetuning, pretraining
from tests.torture import trials

pytestmark = pytest.mark.processes

Words = Callable[[Path, Path], tuple[object, ...]]
RUNS = {"run": pretraining, "tuned": finetuning}


def kill(running: Running) -> bool:
    """Kill it; whether it was still at work."""
    try:
        os.kill(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return running.wait().status == -signal.SIGKILL


def kill_inside_a_save(running: Running, out: Path, which: int, delay: float) -> bool:
    """Kill it ``delay`` seconds after the ``which``-th hidden folder of a save has appeared."""
    seen: set[str] = set()
    while running.alive() and len(seen) < which:
        seen |= {path.name for path in (out / "checkpoints").glob(".step-*")}
    time.sleep(delay)
    return kill(running)


def wait_for_the_beginning(running: Running, out: Path) -> None:
    """Until the run has written down what it is made from."""
    record_of_run = out / "run.json"
    while running.alive() and '"torch"' not in (
        record_of_run.read_text() if record_of_run.exists() else ""
    ):
        time.sleep(0.001)


def place(out: Path) -> str:
    """Where a kill hit, by what it left."""
    names = [path.name for path in (out / "checkpoints").glob("*")] if out.exists() else []
    if (out / "summary.json").exists():
        return "after the summary"
    if any(name.startswith(".") for name in names) or list(out.glob("checkpoints/.step-*")):
        return "inside a save"
    if list(out.glob(".model.*")):
        return "inside the saved model"
    return "between saves" if names else "before the first checkpoint"


@pytest.mark.parametrize("kind", list(RUNS))
@pytest.mark.parametrize("trial", range(trials(2, 20)))
def test_a_run(kind: str, trial: int, made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    """Killed at a random moment, then inside a save: the end is that of an undisturbed run."""
    rng, out = random.Random(trial), tmp_path / "run"
    words = RUNS[kind](made, out)
    begun = time.monotonic()
    running = bertsmith.start(*words)
    wait_for_the_beginning(running, out)
    time.sleep(rng.random() * trials(1, 3))
    killed = kill(running)
    record(fault="kill", of=kind, where=place(out), killed=killed, after=time.monotonic() - begun)
    running = bertsmith.start(*words)
    killed = kill_inside_a_save(running, out, rng.randint(1, 3), rng.random() * 0.01)
    record(fault="kill", of=kind, where=place(out), killed=killed)
    bertsmith(*words).done()
    assert result(out) == result(made / kind)


@pytest.mark.parametrize(
    "left",
    [
        {"config.toml": None},
        {"config.toml": None, "run.json": {}},
        {".config.toml.x.part": ""},
        {".run.json.x.part": ""},
    ],
    ids=lambda left: "+".join(left) + ("" if left.get("run.json") is None else " without sources"),
)
def test_a_beginning(left: dict, made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    """What a run leaves that is killed before its record is whole is no run of other sources."""
    out = tmp_path / "run"
    out.mkdir()
    for name, content in left.items():
        text = (made / "run" / name).read_text() if content is None else json.dumps(content)
        (out / name).write_text(text)
    bertsmith(*pretraining(made, out)).done()
    assert result(out) == result(made / "run")


def test_a_kill_inside_a_save_hits_one(made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    """The kills above reach into saves: one that comes at once leaves the hidden folder."""
    hits = 0
    for attempt in range(5):
        out = tmp_path / f"run{attempt}"
        kill_inside_a_save(bertsmith.start(*pretraining(made, out)), out, 2, 0)
        hits += place(out) == "inside a save"
        if hits:
            break
    assert hits


def started(words: list[str]) -> Running:
    """As a user starts it, with worker processes that come from nowhere else."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bertsmith", *words], stderr=subprocess.DEVNULL,
        env={**os.environ, **ONE_THREAD},
    )  # fmt: skip

    return Running(process.pid, lambda: Ended(process.wait(), "", ""))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("trial", range(trials(2, 20)))
def test_a_corpus(workers: int, trial: int, made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    """A killed build goes on to the bytes of an undisturbed one."""
    rng, out = random.Random(trial), tmp_path / "corpus"
    words = ["corpus", made / "text.txt", "--out", out, *CORPUS]
    words[words.index("--workers") + 1] = workers
    running = started([str(word) for word in words]) if workers > 1 else bertsmith.start(*words)
    goal = rng.randint(0, 9)  # units that are finished when the kill comes
    while running.alive() and len(list(out.glob("shards/*.json"))) < goal:
        time.sleep(0.0005)
    time.sleep(rng.random() * 0.01)
    killed = kill(running)
    units = len(list(out.glob("shards/*.json")))
    record(fault="kill", of="corpus", where=f"{units} units finished", killed=killed)
    words[words.index("--workers") + 1] = 1
    bertsmith(*words).done()
    assert files(out, ".lock") == files(made / "corpus", ".lock")
    shutil.rmtree(out)
