"""Two commands that write into one folder: the second is refused, the first ends well."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.faults.command import Warm, files, result
from tests.faults.conftest import CORPUS, finetuning, pretraining

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("kind", ["corpus", "run", "tuned"])
def test_the_second_is_refused(kind: str, made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = {
        "corpus": ("corpus", made / "text.txt", "--out", out, *CORPUS),
        "run": pretraining(made, out),
        "tuned": finetuning(made, out),
    }[kind]
    sign = out / ("vocabulary.json" if kind == "corpus" else "metrics.jsonl")
    first = bertsmith.start(*words)
    while first.alive() and not sign.exists():
        time.sleep(0.0005)
    os.kill(first.pid, signal.SIGSTOP)
    bertsmith(*words).refused(str(out), "another process is")
    os.kill(first.pid, signal.SIGCONT)
    first.wait().done()
    if kind == "corpus":
        assert files(out, ".lock") == files(made / "corpus", ".lock")
    else:
        assert result(out) == result(made / kind)
