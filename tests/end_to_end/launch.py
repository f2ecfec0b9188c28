"""The command in several processes, started as Slurm starts them: by the environment alone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start(size: int, arguments: Sequence[object]) -> list[subprocess.Popen[str]]:
    """``size`` processes of ``bertsmith ...``; one has no such environment."""
    own = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    own["OMP_NUM_THREADS"] = "1"
    port = str(free_port())
    found = []
    for rank in range(size):
        told = {
            "RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port, "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size),
        }  # fmt: skip
        found.append(
            subprocess.Popen(
                [sys.executable, "-m", "bertsmith", *map(str, arguments)],
                env=own | (told if size > 1 else {}),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return found


def finish(processes: list[subprocess.Popen[str]], timeout: float = 300) -> list[tuple[int, str]]:
    """Status and stderr of each, in the order of the ranks."""
    try:
        texts = [one.communicate(timeout=timeout)[1] for one in processes]
    finally:
        for one in processes:
            one.kill()
    return [(one.returncode, text) for one, text in zip(processes, texts, strict=True)]


def run(size: int, arguments: Sequence[object]) -> str:
    """Run to the end, which has to be a good one; returns what was shown."""
    ends = finish(start(size, arguments))
    assert [status for status, _ in ends] == [0] * size, ends
    assert all(text == "" for _, text in ends[1:]), ends[1:]
    return ends[0][1]
