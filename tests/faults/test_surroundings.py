"""A shell that lacks what one usually has: each command works, or says in one message why not."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.command import ONE_THREAD
from tests.faults.conftest import CORPUS, finetuning, pretraining
from tests.torture import LONG

pytestmark = pytest.mark.processes

BARE = {"PATH": os.environ["PATH"], **ONE_THREAD}
PLAIN = "{command} </dev/null"
# Redirections and settings by the shell, and the statuses that are right.
SURROUNDINGS = {
    "nothing set, no terminal": (PLAIN, {}, {0}),
    "an ASCII locale": (PLAIN, {"LC_ALL": "C", "TERM": "dumb"}, {0}),
    "no home, no folder for temporary files": (PLAIN, {"HOME": "/absent", "TMPDIR": "/absent"}, {0}),
    "stdin closed": ("{command} <&-", {}, {0}),
    "stdout closed": ("{command} >&-", {}, {0, 2}),
    "stderr closed": ("{command} 2>&-", {}, {0, 2}),
    "a reader that is gone": ("{command} | true", {}, {0}),
    "a folder that was deleted": ("cd {gone} && rmdir {gone} && {command}", {}, {0, 2}),
}  # fmt: skip
SHORT = ("--help", "corpus", "fill", "predict")
VERBS = (*SHORT, "pretrain", "finetune", "report")


def words(verb: str, made: Path, tmp_path: Path) -> list[str]:
    out = tmp_path / "out"
    shutil.copytree(made / "run", tmp_path / "run")
    (tmp_path / "lines.txt").write_text("a cat in a .\n")
    found = {
        "--help": ("--help",),
        "corpus": ("corpus", made / "text.txt", "--out", out, *CORPUS),
        "fill": ("fill", made / "run" / "model", "a cat [MASK] in garden ."),
        "pretrain": pretraining(made, out),
        "finetune": finetuning(made, out),
        "predict": ("predict", made / "tuned" / "model", tmp_path / "lines.txt"),
        "report": ("report", tmp_path / "run"),
    }[verb]
    return [str(word) for word in found]


@pytest.mark.parametrize("surroundings", list(SURROUNDINGS))
@pytest.mark.parametrize("verb", VERBS if LONG else SHORT)
def test_works_or_says_why(verb: str, surroundings: str, made: Path, tmp_path: Path) -> None:
    form, environment, right = SURROUNDINGS[surroundings]
    gone = tmp_path / "gone"
    gone.mkdir()
    command = shlex.join([sys.executable, "-m", "bertsmith", *words(verb, made, tmp_path)])
    line = "set -o pipefail; " + form.format(command=command, gone=shlex.quote(str(gone)))
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, errors="replace", check=False,
        env=BARE | environment,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in right, (done.returncode, done.stderr)
