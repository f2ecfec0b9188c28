"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bertsmith.common.cores import cores

PACKAGES = (
    "bertsmith", "torch", "numpy", "tokenizers", "transformers", "sentence-transformers",
    "onnxruntime", "datasets",
)  # fmt: skip
# Variables that decide how many threads there are and how they wait.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY",
            "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM", "LD_PRELOAD")  # fmt: skip


def describe(environment: dict[str, str]) -> dict[str, Any]:
    """Processor, cores, memory, load, versions and what the environment says of threads."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "environment": {name: environment[name] for name in _THREADS if name in environment},
        "versions": {name: _version(name) for name in PACKAGES},
    }


def cpu_model() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
