from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from bertsmith.common.errors import CheckpointError
from bertsmith.train.optimizers import OPTIMIZERS, build_optimizer
from bertsmith.train.state import latest_state, load_state, save_state


def made(name: str = "adamw", seed: int = 0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7), nn.Linear(7, 2))
    return model, build_optimizer(name, model.named_parameters(), 1e-2)


def step(model: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    optimizer.zero_grad()
    model(torch.randn(4, 5, generator=generator)).square().sum().backward()
    optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_bit_for_bit(name: str, tmp_path) -> None:
    model, optimizer = made(name)
    for seed in range(3):
        step(model, optimizer, seed)
    save_state(tmp_path, 3, model, optimizer, {"tokens": 12, "rate": 0.1}, keep=3)
    other, its_optimizer = made(name, seed=9)
    state = load_state(tmp_path / "step-00000003")
    state.restore(other, its_optimizer)
    assert (state.step, state.extra) == (3, {"tokens": 12, "rate": 0.1})
    for seed in range(3, 6):
        step(model, optimizer, seed)
        step(other, its_optimizer, seed)
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_last_few_are_kept(tmp_path) -> None:
    model, optimizer = made()
    for number in range(1, 6):
        save_state(tmp_path, number, model, optimizer, {}, keep=2)
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["step-00000004", "step-00000005"]


def saved(tmp_path: Path) -> list[Path]:
    model, optimizer = made()
    step(model, optimizer, 0)
    return [save_state(tmp_path, n, model, optimizer, {}, keep=9) for n in (100, 200, 300)]


def test_half_written_checkpoints(tmp_path) -> None:
    """Case R07: the newest whole one is used; each broken one is named with its file."""
    first, second, third = saved(tmp_path)
    weights = second / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    (third / "optimizer.safetensors").unlink()
    state, problems = latest_state(tmp_path)
    assert state is not None
    assert state.folder == first
    assert len(problems) == 2
    assert "step-00000300/optimizer.safetensors" in problems[0]
    assert "step-00000200/model.safetensors" in problems[1]
    with pytest.raises(CheckpointError, match=r"step-00000200/model\.safetensors"):
        load_state(second)


def test_a_flipped_bit(tmp_path) -> None:
    """Case R07: found by the checksum."""
    folder = saved(tmp_path)[0]
    path = folder / "optimizer.safetensors"
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="checksum"):
        load_state(folder)


def test_nothing_and_only_broken_ones(tmp_path) -> None:
    """Case R07: no checkpoint is a beginning, only broken ones are an error."""
    assert latest_state(tmp_path / "nothing") == (None, [])
    for folder in saved(tmp_path):
        (folder / "state.json").write_text("{")
    with pytest.raises(CheckpointError, match="all checkpoints are broken"):
        latest_state(tmp_path)


def test_a_checkpoint_of_another_model(tmp_path) -> None:
    state = load_state(saved(tmp_path)[0])
    model = nn.Linear(3, 3)
    with pytest.raises(CheckpointError, match="not one of this model"):
        state.restore(model, build_optimizer("adamw", model.named_parameters(), 1e-3))


SAVER = """
    import sys
    from pathlib import Path
    import torch
    from torch import nn
    from bertsmith.train.optimizers import build_optimizer
    from bertsmith.train.state import save_state
    model = nn.Linear(300, 300)
    optimizer = build_optimizer("adamw", model.named_parameters(), 1e-2)
    model(torch.randn(2, 300)).sum().backward()
    optimizer.step()
    for number in range(1, 100000):
        save_state(Path(sys.argv[1]), number, model, optimizer, {}, keep=2)
"""


def test_killed_at_any_moment_of_a_save(tmp_path) -> None:
    """Case R07: after SIGKILL the latest checkpoint loads, and no checkpoint is half-written."""
    rng = random.Random(0)
    for attempt in range(6):
        root = tmp_path / str(attempt)
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(SAVER), str(root)])
        while not (root / "step-00000002").exists():
            assert process.poll() is None
            time.sleep(0.002)
        time.sleep(rng.random() * 0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        state, problems = latest_state(root)
        assert state is not None
        assert problems == []
