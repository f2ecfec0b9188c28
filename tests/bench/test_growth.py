"""The script that measures growth: real commands, very little text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "growth.py"


@pytest.fixture(scope="module")
def printed() -> str:
    """What it prints for texts of 0.1 and 1 MB."""
    command = [sys.executable, str(SCRIPT), "--sizes", "1", "0.1", "--rounds", "1", "--batches"]
    done = subprocess.run(
        [*command, "4"], capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_table_has_sensible_numbers(printed: str) -> None:
    head, _, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in printed.splitlines()
        if line.startswith("|")
    ]
    assert head == ["", "0.1 MB", "1 MB", "1 MB / 0.1 MB"]
    found = {name: [float(cell.split()[0]) for cell in cells] for name, *cells in lines}
    assert all(value > 0 for values in found.values() for value in values)
    for name, (small, large, times) in found.items():
        assert times == pytest.approx(large / small, rel=0.02, abs=0.006), name
    assert found["million tokens"] == [
        pytest.approx(0.02, rel=0.3), pytest.approx(0.2, rel=0.1), pytest.approx(10, rel=0.3)
    ]  # fmt: skip
    # A start costs the same; so does a token, once it is paid for.
    assert found["build: processor s a million tokens"][2] < 0.5
    assert all(0.05 < one < 50 for one in found["batches, far steps: processor µs a token"][:2])
    imports = [
        whole - rest
        for whole, rest in zip(
            found["first batch: s"], found["first batch: s without imports"], strict=True
        )
    ]
    assert min(imports[:2]) > 0.1
    own = [cells for name, cells in found.items() if "own memory" in name]
    assert len(own) == 3
    assert all(30 < megabytes < 5000 for cells in own for megabytes in cells[:2])


def test_it_says_on_what_it_was_measured(printed: str) -> None:
    last = printed.splitlines()[-1]
    assert re.search(r"; cores: \d+, builds: 1, rounds: 1; Python 3\.\d+.*, torch \d", last)
