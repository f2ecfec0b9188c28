"""Fine-tuning in two processes, against one process."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from safetensors.torch import load_file

from tests.end_to_end import launch

pytestmark = pytest.mark.processes

# Batches of four of 41 rows: the last one of an epoch has one, and the second process none.
FLAGS = [
    "--text-column", "text", "--label-column", "label", "--batch-size", 4, "--epochs", 2,
    "--learning-rate", "1e-3", "--dropout", 0, "--log-every", 1, "--micro-tokens", 40,
]  # fmt: skip


@pytest.fixture(scope="module")
def given(corpus: Path, tmp_path_factory) -> tuple[Path, Path]:
    """A model, and a folder with train.csv and dev.csv."""
    folder = tmp_path_factory.mktemp("given")
    launch.run(
        1,
        [
            "pretrain", corpus, "--out", folder / "run", "--steps", 2, "--lengths", 64,
            "--length-shares", 1, "--batch-size", 4,
        ],
    )  # fmt: skip
    rng = random.Random(0)
    (folder / "data").mkdir()
    for name, rows in (("train", 41), ("dev", 13)):
        lines = ["text,label"]
        for _ in range(rows):
            animal = rng.choice(["cat", "dog", "cow"])
            words = [
                rng.choice(["garden", "barn", "near", "days"]) for _ in range(rng.randint(1, 9))
            ]
            lines.append(f"a {animal} in {' '.join(words)},{animal}")
        (folder / "data" / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder / "run" / "model", folder / "data"


def finetune(size: int, given: tuple[Path, Path], out: Path, *more: object) -> Path:
    model, data = given
    launch.run(
        size,
        ["finetune", "classify", "--model", model, "--data", data, "--out", out, *FLAGS, *more],
    )
    return out


def losses(run: Path) -> list[float]:
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [one["loss"] for one in map(json.loads, lines) if "loss" in one]


def assert_same(run: Path, other: Path) -> None:
    assert len(losses(run)) == 22
    assert losses(run) == pytest.approx(losses(other), abs=3e-6)
    summary, its = (json.loads((one / "summary.json").read_text()) for one in (run, other))
    assert summary["figures"] == its["figures"]
    assert summary["tokens"] == its["tokens"]
    first, second = (load_file(one / "model" / "model.safetensors") for one in (run, other))
    assert first.keys() == second.keys()
    assert max(float((first[name] - second[name]).abs().max()) for name in first) < 3e-6
    names = sorted(path.name for path in (run / "predictions").iterdir())
    assert names == sorted(path.name for path in (other / "predictions").iterdir())
    assert names


@pytest.fixture(scope="module")
def alone(given, tmp_path_factory) -> Path:
    return finetune(1, given, tmp_path_factory.mktemp("alone") / "run")


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_two_processes_are_one(given, alone, tmp_path, way: str) -> None:
    """Losses, weights, figures and files, though the second has nothing of some batches."""
    assert_same(alone, finetune(2, given, tmp_path / "run", "--parallel", way))


@pytest.mark.slow
def test_adapters_and_restarts(given, tmp_path) -> None:
    """Weights that do not learn beside some that do, in shares; several runs in one folder."""
    more = ["--lora-rank", 2, "--restarts", 2]
    one = finetune(1, given, tmp_path / "one", *more)
    two = finetune(2, given, tmp_path / "two", *more, "--parallel", "fsdp")
    for name in ("seed0", "seed1"):
        assert_same(one / "runs" / name, two / "runs" / name)
    a, b = (load_file(run / "adapter" / "adapter_model.safetensors") for run in (one, two))
    assert max(float((a[name] - b[name]).abs().max()) for name in a) < 3e-6
    summaries = [json.loads((run / "summary.json").read_text()) for run in (one, two)]
    assert summaries[0]["runs"] == summaries[1]["runs"]
