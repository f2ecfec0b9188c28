"""Memory of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertsmith.train.memory import give_back_memory


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_holes_in_the_heap_are_given_back() -> None:
    blocks = [bytes(3000) for _ in range(100_000)]
    kept = blocks[::1000]  # so that the heap can not simply end earlier
    full = resident()
    del blocks
    give_back_memory()
    assert len(kept) == 100
    assert full - resident() > 200_000_000
