"""A build's memory does not grow with the text."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

MEGABYTES = 300
MOST = 700_000  # kB, of all processes of the build together


def tree(root: int) -> list[int]:
    """A process and all below it."""
    found, waiting = [], [root]
    while waiting:
        number = waiting.pop()
        found.append(number)
        for path in Path(f"/proc/{number}/task").glob("*/children"):
            try:
                waiting += map(int, path.read_text().split())
            except OSError:  # it has ended in between
                continue
    return found


def resident(number: int) -> int:
    """kB of a process in memory, 0 when it has ended."""
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return 0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmRSS")]
    return int(lines[0][1]) if lines else 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_memory_stays_flat(tmp_path: Path) -> None:
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(20_000)]
    sentences = [" ".join(rng.choices(words, k=rng.randint(5, 30))) + "." for _ in range(5_000)]
    size = 0
    with (tmp_path / "made.jsonl").open("w") as stream:
        while size < MEGABYTES * 1_000_000:
            text = json.dumps({"text": "\n".join(rng.choices(sentences, k=40))}) + "\n"
            size += stream.write(text)
    command = [
        sys.executable, "-m", "bertsmith", "corpus", str(tmp_path / "made.jsonl"),
        "--out", str(tmp_path / "corpus"), "--vocab-size", "8192", "--workers", "2",
    ]  # fmt: skip
    with (tmp_path / "log").open("w") as log:
        build = subprocess.Popen(command, stderr=log)
        peak = 0
        while build.poll() is None:
            peak = max(peak, sum(map(resident, tree(build.pid))))
            time.sleep(0.2)
    assert build.returncode == 0
    assert 100_000 < peak < MOST
