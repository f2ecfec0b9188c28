"""Where the real data for tests is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("BERTSMITH_TEST_DATA", ROOT.parent / "shared" / "data"))


def data(*parts: str) -> Path:
    """A file or folder of the test data; the test is skipped where it is absent."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no test data at {path}: set BERTSMITH_TEST_DATA")
    return path
