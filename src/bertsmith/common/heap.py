"""What the C library does with memory that was freed: kept for the next step, or given back."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # names of glibc's malloc.h


def keep_freed_memory() -> None:
    """Let the process keep freed memory, and take all of it from one heap.

    By itself glibc maps large tensors afresh and unmaps them when they are freed: every step of a
    model then touches pages that the system has to find and clear first. With this the memory of
    one step serves the next. For commands that compute; does nothing where the C library is
    another.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_MMAP_MAX, 0)
        set_option(_TRIM_THRESHOLD, -1)


def give_back_memory() -> None:
    """Give the pages that hold nothing back to the system.

    Batches differ in size, so that the heap fragments: without this a long run holds slowly more
    memory than it uses. Costs milliseconds; does nothing elsewhere.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
