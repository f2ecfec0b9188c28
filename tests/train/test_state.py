from __future__ import annotations

import errno
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

from bertsmith.common.errors import CheckpointError
from bertsmith.train.optimizers import OPTIMIZERS, build_optimizer
from bertsmith.train.state import Snapshot, latest_state, load_state, save_state


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
    save_state(tmp_path, 3, Snapshot.of(model, optimizer), {"tokens": 12, "rate": 0.1}, keep=3)
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
        save_state(tmp_path, number, Snapshot.of(model, optimizer), {}, keep=2)
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["step-00000004", "step-00000005"]


def saved(tmp_path: Path) -> list[Path]:
    model, optimizer = made()
    step(model, optimizer, 0)
    return [
        save_state(tmp_path, n, Snapshot.of(model, optimizer), {}, keep=9) for n in (100, 200, 300)
    ]


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


def test_the_optimizer_state_is_the_same_bits(tmp_path) -> None:
    for name in OPTIMIZERS:
        model, optimizer = made(name)
        step(model, optimizer, 0)
        folder = save_state(tmp_path / name, 1, Snapshot.of(model, optimizer), {}, keep=1)
        other, its_optimizer = made(name, seed=1)
        load_state(folder).restore(other, its_optimizer)
        before, after = optimizer.state_dict(), its_optimizer.state_dict()
        assert after["param_groups"] == before["param_groups"]
        assert after["state"].keys() == before["state"].keys()
        for index, entries in before["state"].items():
            for key, value in entries.items():
                found = after["state"][index][key]
                assert type(found) is type(value)
                same = torch.equal(found, value) if torch.is_tensor(value) else found == value
                assert same, (name, key)


def test_after_going_back_the_new_checkpoint_is_kept(tmp_path) -> None:
    """Broken checkpoints of later steps do not count among the last few (case R07)."""
    saved(tmp_path)
    for number in (200, 300):
        (tmp_path / f"step-{number:08d}" / "model.safetensors").unlink()
    model, optimizer = made()
    for number in (107, 114):
        save_state(tmp_path, number, Snapshot.of(model, optimizer), {}, keep=1)
        state, problems = latest_state(tmp_path)
        assert state is not None
        assert (state.step, len(problems)) == (number, 2)
    assert not (tmp_path / "step-00000107").exists()


def test_a_step_is_saved_again(tmp_path) -> None:
    model, optimizer = made()
    for attempt in range(2):
        save_state(tmp_path, 5, Snapshot.of(model, optimizer), {"attempt": attempt}, keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000005"]
    assert load_state(tmp_path / "step-00000005").extra == {"attempt": 1}


def test_a_full_disk(tmp_path, monkeypatch) -> None:
    """The earlier checkpoint stays, the unfinished one goes, and the message says what to do."""
    model, optimizer = made()
    save_state(tmp_path, 1, Snapshot.of(model, optimizer), {}, keep=1)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bertsmith.train.state.write_json", full)
    with pytest.raises(CheckpointError, match=r"disk is full(.|\n)*make room"):
        save_state(tmp_path, 2, Snapshot.of(model, optimizer), {}, keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]
    assert load_state(tmp_path / "step-00000001").step == 1


def test_a_model_of_another_shape_is_left_alone(tmp_path) -> None:
    """A matrix of one row must not be spread over many."""
    small, large = nn.Linear(3, 1), nn.Linear(3, 2)
    optimizer = build_optimizer("adamw", small.named_parameters(), 1e-3)
    folder = save_state(tmp_path, 1, Snapshot.of(small, optimizer), {}, keep=1)
    before = large.weight.detach().clone()
    with pytest.raises(CheckpointError, match="weight is"):
        load_state(folder).restore(large, build_optimizer("adamw", large.named_parameters(), 1e-3))
    assert torch.equal(before, large.weight)
    other = build_optimizer("lamb", small.named_parameters(), 1e-3)
    with pytest.raises(CheckpointError, match="optimizer is AdamW, not Lamb"):
        load_state(folder).restore(small, other)


def test_buffers_and_ties(tmp_path) -> None:
    def model() -> nn.Module:
        tied = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.BatchNorm1d(3))
        tied[1].weight = tied[0].weight
        return tied

    first, second = model(), model()
    step_of = build_optimizer("adamw", first.named_parameters(), 1e-3)
    first(torch.randn(4, 3)).sum().backward()
    folder = save_state(tmp_path, 1, Snapshot.of(first, step_of), {}, keep=1)
    state = load_state(folder)
    assert "1.weight" not in state.weights
    state.restore(second, build_optimizer("adamw", second.named_parameters(), 1e-3))
    for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(a, b)


# Loads torch once and forks a process for each attempt, which it kills for real while it saves.
SAVER = """
    import os, random, signal, sys, time
    from pathlib import Path
    import torch
    from torch import nn
    from bertsmith.train.optimizers import build_optimizer
    from bertsmith.train.state import Snapshot, save_state

    torch.set_num_threads(1)
    model = nn.Linear(100, 100)
    optimizer = build_optimizer("adamw", model.named_parameters(), 1e-2)
    for weights in model.parameters():
        weights.grad = torch.ones_like(weights)
    optimizer.step()

    def save_for_ever(root):
        number = 0
        while True:
            number += 1
            # Each step twice: a checkpoint is replaced as safely as it is made.
            save_state(root, (number + 1) // 2, Snapshot.of(model, optimizer), {}, keep=1)

    rng = random.Random(0)
    for attempt in range(12):
        root = Path(sys.argv[1]) / str(attempt)
        child = os.fork()
        if child == 0:
            save_for_ever(root)
        while not (root / "step-00000002").exists():
            if os.waitpid(child, os.WNOHANG) != (0, 0):
                sys.exit("the process ended by itself")
            time.sleep(0.001)
        time.sleep(rng.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
"""


def test_killed_at_any_moment_of_a_save(tmp_path) -> None:
    """Case R07: after SIGKILL the newest checkpoint loads, though only one is kept."""
    script = textwrap.dedent(SAVER)
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=120)
    roots = list(tmp_path.iterdir())
    assert len(roots) == 12
    for root in roots:
        state, _ = latest_state(root)
        assert state is not None
        assert state.step >= 2
        model = nn.Linear(100, 100)
        optimizer = build_optimizer("adamw", model.named_parameters(), 1e-2)
        save_state(root, state.step + 1, Snapshot.of(model, optimizer), {}, keep=1)
        assert [path.name for path in root.iterdir()] == [f"step-{state.step + 1:08d}"]
