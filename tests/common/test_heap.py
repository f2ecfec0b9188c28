"""Freed memory: kept by choice, given back on demand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bertsmith.common.heap import give_back_memory


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


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("keep", [True, False])
def test_a_freed_tensor_serves_the_next_one_only_where_memory_is_kept(keep: bool) -> None:
    program = (
        "import resource, torch\n"
        "from bertsmith.common.heap import keep_freed_memory\n"
        f"keep_freed_memory() if {keep} else None\n"
        "for _ in range(30): torch.ones(10_000_000)\n"  # the heap finds its shape
        "def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "before = faults()\n"
        "for _ in range(10): torch.ones(10_000_000)\n"
        "print(faults() - before)\n"
    )
    faults = int(subprocess.check_output([sys.executable, "-c", program], text=True))
    pages = 10 * 40_000_000 // os.sysconf("SC_PAGE_SIZE")
    assert faults < pages / 100 if keep else faults > pages / 2
