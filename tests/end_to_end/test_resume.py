"""Runs that are killed and go on, against the real command."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FLAGS = [
    "--steps", "40", "--preset", "tiny", "--lengths", "64", "--lengths", "96",
    "--length-shares", "0.7", "--length-shares", "0.3", "--batch-size", "8",
    "--learning-rate", "1e-3", "--warmup", "0.1", "--checkpoint-every", "7",
    "--evaluate-every", "20", "--log-every", "1", "--seed", "3",
]  # fmt: skip


def command(corpus: Path, out: Path, *more: str) -> list[str]:
    base = [sys.executable, "-m", "bertsmith", "pretrain", str(corpus), "--out", str(out)]
    return [*base, *FLAGS, *more]


def weights(run: Path) -> bytes:
    return (run / "model" / "model.safetensors").read_bytes()


def losses(run: Path) -> list[tuple[int, float]]:
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [(r["step"], r["loss"]) for r in records if "loss" in r]


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory) -> Path:
    """An uninterrupted run."""
    out = tmp_path_factory.mktemp("whole") / "run"
    done = subprocess.run(command(corpus, out), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def wait_for(path: Path, process: subprocess.Popen) -> None:
    end = time.monotonic() + 120
    while not path.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_killed_anywhere_the_weights_are_the_same(corpus, whole, tmp_path, seed: int) -> None:
    """Case R01, R07: SIGKILL at random moments, twice a run, then the same command to its end.

    Losses of every step (dropout on, across a change of sequence length) and the final weights
    equal those of the uninterrupted run bit for bit, and the log has every step once.
    """
    rng = random.Random(seed)
    out = tmp_path / "run"
    for checkpoint in ("step-00000007", "step-00000021"):
        process = subprocess.Popen(command(corpus, out), stderr=subprocess.DEVNULL)
        wait_for(out / "checkpoints" / checkpoint, process)
        time.sleep(rng.random() * 0.5)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = subprocess.run(command(corpus, out), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "going on from step" in done.stderr or "finished run" in done.stderr
    assert losses(out) == losses(whole)
    assert [step for step, _ in losses(out)] == list(range(1, 41))
    assert weights(out) == weights(whole)


def test_sigterm_writes_a_checkpoint(corpus, whole, tmp_path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(command(corpus, out), stderr=subprocess.PIPE, text=True)
    wait_for(out / "checkpoints" / "step-00000007", process)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "the same command goes on from there" in stderr
    done = subprocess.run(
        command(corpus, out, "--resume"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert weights(out) == weights(whole)


def unfinished(whole: Path, tmp_path: Path) -> Path:
    """A copy of a run as it was before its end."""
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    (out / "summary.json").unlink()
    return out


def test_broken_checkpoints_are_passed_over(corpus, whole, tmp_path) -> None:
    """Case R07: the newest whole checkpoint is used, the broken ones are named."""
    out = unfinished(whole, tmp_path)
    first, second, third = sorted((out / "checkpoints").iterdir())
    weights_file = second / "model.safetensors"
    weights_file.write_bytes(weights_file.read_bytes()[: weights_file.stat().st_size // 2])
    (third / "optimizer.safetensors").unlink()
    named = subprocess.run(
        command(corpus, out, "--resume", second.name), capture_output=True, text=True, check=False
    )
    assert named.returncode == 2
    assert f"{second.name}/model.safetensors" in named.stderr
    assert "Traceback" not in named.stderr
    done = subprocess.run(command(corpus, out), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{second.name}/model.safetensors" in done.stderr
    assert f"{third.name}/optimizer.safetensors" in done.stderr
    assert f"going on from step {int(first.name[5:])}" in done.stderr
    assert weights(out) == weights(whole)


def test_no_silent_fresh_start(corpus, whole, tmp_path) -> None:
    """Case R07: where all checkpoints are broken the command fails and says so."""
    out = unfinished(whole, tmp_path)
    for folder in (out / "checkpoints").iterdir():
        (folder / "state.json").unlink()
    done = subprocess.run(command(corpus, out), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "all checkpoints are broken" in done.stderr


def test_micro_batches_change_rounding_only(corpus, whole, tmp_path) -> None:
    """Case R03: the losses of a run in small micro-batches are those of one in large ones."""
    out = tmp_path / "run"
    more = ["--micro-tokens", "100", "--dropout", "0"]
    one = subprocess.run(command(corpus, out, *more), capture_output=True, text=True, check=False)
    assert one.returncode == 0, one.stderr
    other = tmp_path / "other"
    two = subprocess.run(
        command(corpus, other, "--dropout", "0"), capture_output=True, text=True, check=False
    )
    assert two.returncode == 0, two.stderr
    first = [loss for _, loss in losses(out)][:10]
    assert first == pytest.approx([loss for _, loss in losses(other)][:10], abs=2e-4)
