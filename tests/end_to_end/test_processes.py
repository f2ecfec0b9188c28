"""Pre-training in several processes, against one process, with real processes and signals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.end_to_end import launch
from tests.end_to_end.test_resume import wait_for

pytestmark = pytest.mark.processes

# Nine sequences do not go into two or four shares, and 150 tokens make several micro-batches.
FLAGS = [
    "--preset", "tiny", "--lengths", 64, "--length-shares", 1, "--batch-size", 9,
    "--learning-rate", "1e-3", "--warmup", "0.1", "--evaluate-every", 10, "--log-every", 1,
    "--checkpoint-every", 5, "--seed", 3, "--micro-tokens", 150,
]  # fmt: skip


def arguments(corpus: Path, out: Path, steps: int, *more: object) -> list[object]:
    return ["pretrain", corpus, "--out", out, "--steps", steps, *FLAGS, *more]


def records(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def losses(run: Path) -> dict[int, float]:
    found = [(one["step"], one["loss"]) for one in records(run) if "loss" in one]
    assert len(dict(found)) == len(found)  # every step once
    return dict(found)


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model" / "model.safetensors")


def assert_same_result(run: Path, other: Path) -> None:
    """Losses, gradient norms and weights to float rounding, every held-out target once."""
    for name in ("loss", "gradient_norm"):
        a, b = ([one[name] for one in records(path) if name in one] for path in (run, other))
        assert a == pytest.approx(b, abs=3e-6)
    a, b = (
        [one["held_out"] for one in records(path) if "held_out" in one] for path in (run, other)
    )
    assert [one["masked_lm_targets"] for one in a] == [one["masked_lm_targets"] for one in b]
    assert [one["masked_lm_loss"] for one in a] == pytest.approx(
        [one["masked_lm_loss"] for one in b], abs=3e-6
    )
    first, second = weights(run), weights(other)
    assert first.keys() == second.keys()
    assert max(float((first[name] - second[name]).abs().max()) for name in first) < 1e-6


@pytest.fixture(scope="module")
def alone(corpus: Path, tmp_path_factory) -> Path:
    """One process, 20 steps, no dropout."""
    out = tmp_path_factory.mktemp("alone") / "run"
    launch.run(1, arguments(corpus, out, 20, "--dropout", 0))
    return out


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_two_processes_are_one(corpus, alone, tmp_path, way: str) -> None:
    """Losses and weights of 20 steps equal those of one process: with accumulation, with lengths
    that differ, with a batch that does not divide.
    """
    shown = launch.run(
        2, arguments(corpus, tmp_path / "run", 20, "--dropout", 0, "--parallel", way)
    )
    assert_same_result(alone, tmp_path / "run")
    assert shown.count("step 10: held-out") == 1


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["bert-adam", "lamb"])
def test_every_optimizer_moves_shares_as_wholes(corpus, tmp_path, optimizer: str) -> None:
    """LAMB's trust ratios need norms of whole tensors, of which a process has a share."""
    more = ["--dropout", 0, "--optimizer", optimizer]
    launch.run(1, arguments(corpus, tmp_path / "one", 10, *more))
    launch.run(2, arguments(corpus, tmp_path / "two", 10, *more, "--parallel", "fsdp"))
    assert_same_result(tmp_path / "one", tmp_path / "two")


def stop_after(checkpoint: str, out: Path, processes: list[subprocess.Popen]) -> list:
    """SIGTERM to one process as soon as a checkpoint is there; the ends of all."""
    wait_for(out / "checkpoints" / checkpoint, processes[0])
    began = time.monotonic()
    processes[-1].send_signal(signal.SIGTERM)
    ends = launch.finish(processes)
    assert time.monotonic() - began < 30
    return ends


def test_four_then_two_then_one(corpus, tmp_path) -> None:
    """A run goes on with another number of processes, in another way, on the same data.

    SIGTERM to any one of them stops all after the same step, with a checkpoint and status 0.
    """
    whole, out = tmp_path / "whole", tmp_path / "run"
    launch.run(1, arguments(corpus, whole, 40, "--dropout", 0))
    plan = [(4, "fsdp", "step-00000005"), (2, "ddp", "step-00000020"), (2, "fsdp", "step-00000030")]
    for size, way, checkpoint in plan:
        command = arguments(corpus, out, 40, "--dropout", 0, "--parallel", way)
        ends = stop_after(checkpoint, out, launch.start(size, command))
        assert [status for status, _ in ends] == [0] * size, ends
        assert "stopped after step" in ends[0][1]
    assert not (out / "summary.json").exists()
    launch.run(1, arguments(corpus, out, 40, "--dropout", 0))
    assert_same_result(whole, out)


def test_a_killed_process_ends_the_run_which_then_goes_on(corpus, tmp_path) -> None:
    """Case R01 in two processes: dropout on; bit for bit the weights of an uninterrupted run.

    The process that is left says what happened and ends with status 2.
    """
    whole, out = tmp_path / "whole", tmp_path / "run"
    launch.run(2, arguments(corpus, whole, 40))
    processes = launch.start(2, arguments(corpus, out, 40))
    wait_for(out / "checkpoints" / "step-00000010", processes[0])
    processes[1].kill()
    (status, shown), (killed, _) = launch.finish(processes)
    assert (status, killed) == (2, -signal.SIGKILL)
    assert "another process of this run has ended" in shown
    assert "Traceback" not in shown
    assert "going on from step" in launch.run(2, arguments(corpus, out, 40))
    assert losses(out) == losses(whole)
    for name, tensor in weights(whole).items():
        assert torch.equal(tensor, weights(out)[name])


def test_a_broken_checkpoint_is_passed_over(corpus, alone, tmp_path) -> None:
    """Case R07 in two processes: said once, and the one before is used by both."""
    out = tmp_path / "run"
    shutil.copytree(alone, out)
    (out / "summary.json").unlink()
    newest = sorted((out / "checkpoints").iterdir())[-1] / "optimizer.safetensors"
    newest.write_bytes(newest.read_bytes()[:-9])
    shown = launch.run(2, arguments(corpus, out, 20, "--dropout", 0))
    assert shown.count("passed over the broken checkpoint step-00000020") == 1
    assert "going on from step 15" in shown
    assert_same_result(alone, out)


def test_a_launcher_starts_it_again(corpus, tmp_path) -> None:
    """torchrun --max-restarts: after SIGKILL to a process the run goes on by itself."""
    out = tmp_path / "run"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"),
            *("--max-restarts", "1", "--master-port", str(launch.free_port()), "-m", "bertsmith"),
            *map(str, arguments(corpus, out, 40)),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(out / "checkpoints" / "step-00000010", process)
    found = subprocess.run(
        ["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True
    )
    os.kill(int(found.stdout.split()[-1]), signal.SIGKILL)
    shown = process.communicate(timeout=300)[1]
    assert process.returncode == 0, shown
    assert "going on from step" in shown
    assert sorted(losses(out)) == list(range(1, 41))


def test_more_processes_than_sequences(corpus, tmp_path) -> None:
    """One message, of the first process, and status 2."""
    ends = launch.finish(launch.start(2, arguments(corpus, tmp_path / "run", 5, "--batch-size", 1)))
    assert [status for status, _ in ends] == [2, 2]
    assert "fewer sequences than the run has processes (2)" in ends[0][1]
    assert "mend: give a larger --batch-size" in ends[0][1]


def test_half_an_environment(corpus, tmp_path, bertsmith) -> None:
    """RANK and WORLD_SIZE without an address: a message, no waiting."""
    told = {**os.environ, "RANK": "0", "WORLD_SIZE": "2"}
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        told.pop(name, None)
    done = bertsmith(*arguments(corpus, tmp_path / "run", 5), check=False, env=told, timeout=60)
    assert done.returncode == 2
    assert "MASTER_ADDR" in done.stderr
