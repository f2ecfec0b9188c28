"""Every reader under libFuzzer, which breeds its inputs; long in ``make torture``, else not at all."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data import ROOT
from tests.faults.command import record
from tests.torture import LONG

pytestmark = [
    pytest.mark.skipif(not LONG, reason="takes minutes: make torture"),
    pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="needs bertsmith[fuzz]"),
]
READERS = (
    "text", "json-lines", "manifest", "config", "vocabulary", "tokenizer", "recipe", "tsv", "csv",
    "squad", "conll", "log", "safetensors", "pickle", "tensorflow",
)  # fmt: skip
RUNS = 20_000


@pytest.mark.parametrize("name", READERS)
def test_bred_inputs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.guided", name, str(RUNS), str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert f"Done {RUNS} runs" in done.stderr, done.stderr[-2000:]
    record(bred=name, runs=RUNS)
