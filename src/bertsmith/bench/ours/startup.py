"""How long the bertsmith command takes until it has done something.

The processes of these sides import nothing large: the peak memory of a process that is started
counts that of the one that starts it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bertsmith.bench.launch import KILL, STOP, Launcher
from bertsmith.bench.models import model_folder
from bertsmith.bench.work import Work

_COMMAND = [sys.executable, "-m", "bertsmith"]
_STEPS = "1000000"  # so many that evaluations and the end are far away


def nothing(folder: str) -> Work:
    """A Python that ends at once."""
    return Launcher(Path(folder) / "log.txt").work([sys.executable, "-c", "pass"])


def usage(folder: str) -> Work:
    """``bertsmith --help``."""
    return Launcher(Path(folder) / "log.txt").work([*_COMMAND, "--help"])


def fill(folder: str) -> Work:
    """``bertsmith fill`` with the preset tiny."""
    model = model_folder({"layers": 2, "hidden": 128, "heads": 1}, Path(folder))
    command = [*_COMMAND, "fill", str(model), "w1 [MASK] w3 ."]
    return Launcher(Path(folder) / "log.txt").work(command)


def resume(folder: str, tokens: int) -> Work:
    """From the start of ``bertsmith pretrain`` to the record of the first step after a checkpoint.

    The run is begun and stopped once; a round resumes it and kills it after a step, so that the
    checkpoint stays where it is.
    """
    place = Path(folder)
    corpus, run = place / "corpus", place / "run"
    code = (
        "import sys; from pathlib import Path; from bertsmith.bench.made import made_corpus; "
        "made_corpus(Path(sys.argv[1]), int(sys.argv[2]))"
    )
    subprocess.run([sys.executable, "-c", code, str(corpus), str(tokens)], check=True)
    command = [
        *_COMMAND, "pretrain", str(corpus), "--out", str(run), "--steps", _STEPS,
        "--preset", "tiny", "--batch-size", "32", "--lengths", "128", "--length-shares", "1",
        "--log-every", "1", "--checkpoint-every", _STEPS,
    ]  # fmt: skip
    launcher, log = Launcher(place / "log.txt"), run / "metrics.jsonl"
    launcher.run(command, until=lambda: _records(log) > 0, ending=STOP)
    kept = _records(log)
    launcher.peak = 0

    def go() -> dict[str, float]:
        # The records of the round before go first: the run itself removes them only when it is up.
        log.write_text("".join(log.read_text().splitlines(keepends=True)[:kept]))
        return {"seconds": launcher.run(command, lambda: _records(log) > kept, KILL)}

    size = sum(one.stat().st_size for one in (corpus / "shards").iterdir())
    return Work(go, memory=lambda: launcher.peak, about=f"{size / 1e6:,.0f} MB of shards")


def _records(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0
