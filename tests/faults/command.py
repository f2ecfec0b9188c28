"""The command in processes that tests stop, kill and deprive; and a record of what they did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.data import ROOT

ONE_THREAD = {"OMP_NUM_THREADS": "1", "GOMP_SPINCOUNT": "0", "TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True)
class Ended:
    """A command that came to its end: status (negative for a signal) and what it wrote."""

    status: int
    stdout: str
    stderr: str

    def refused(self, *words: str) -> None:
        """Status 2, one message with all of ``words``, no traceback."""
        assert self.status == 2, (self.status, self.stderr)
        assert "Traceback" not in self.stderr, self.stderr
        assert self.stderr.count("bertsmith: error: ") == 1, self.stderr
        for word in words:
            assert word in self.stderr, (word, self.stderr)

    def done(self) -> Ended:
        """Status 0, and no traceback either."""
        assert self.status == 0, (self.status, self.stderr)
        assert "Traceback" not in self.stderr, self.stderr
        return self


@dataclass(frozen=True)
class Running:
    """A command under way."""

    pid: int
    wait: Callable[[], Ended]

    def alive(self) -> bool:
        """Whether it has not ended yet; one that ended and was not waited for counts as ended."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False


class Warm:
    """Starts commands in copies of a process that has imported everything: see ``warm.py``."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "faults" / "warm.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
        )  # fmt: skip

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(60)

    def start(
        self, *words: object, folder: Path = ROOT, room: int | None = None, **environment: str
    ) -> Running:
        """Start ``bertsmith WORDS`` in ``folder``.

        Args:
            words: the arguments.
            folder: where.
            room: bytes of memory that it may take beyond what its modules have; None for no limit.
            environment: more of its environment.
        """
        streams = [os.devnull]
        for name in ("out", "err"):
            handle, path = tempfile.mkstemp(prefix="bertsmith-fault-", suffix=f".{name}")
            os.close(handle)
            streams.append(path)
        pid = self._ask(
            words=[str(word) for word in words], folder=str(folder), environment=environment,
            streams=streams, room=room,
        )  # fmt: skip
        return Running(pid, lambda: self._wait(pid, streams[1:]))

    def __call__(self, *words: object, **options: Any) -> Ended:
        """Run to the end."""
        return self.start(*words, **options).wait()

    def _wait(self, pid: int, streams: Sequence[str]) -> Ended:
        status = self._ask(wait=pid)
        texts = [Path(path).read_text("utf-8", errors="replace") for path in streams]
        for path in streams:
            Path(path).unlink()
        return Ended(status, *texts)

    def _ask(self, **request: Any) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(json.loads(self._server.stdout.readline()))


def cold(*words: object, **options: Any) -> Ended:
    """Run ``python -m bertsmith WORDS`` as a user does."""
    command = [sys.executable, "-m", "bertsmith", *map(str, words)]
    environment = {**os.environ, **ONE_THREAD, **options.pop("env", {})}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=environment,
        **options,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


def record(**figures: Any) -> None:
    """Append figures to the file that BERTSMITH_TORTURE_LOG names, if any, as a JSON line."""
    log = os.environ.get("BERTSMITH_TORTURE_LOG")
    if log:
        with Path(log).open("a") as stream:
            stream.write(json.dumps(figures) + "\n")


def files(folder: Path, *ignored: str) -> dict[str, bytes]:
    """Every file of a folder by its name, without those whose name is in ``ignored``."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if path.name not in ignored
    }


def result(run: Path) -> dict[str, Any]:
    """What has to be equal, bit for bit, of two runs with the same settings and sources."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    found: dict[str, Any] = {
        name: content
        for name, content in files(run).items()
        if name.startswith("model/") or (name.startswith("checkpoints/") and "tensors" in name)
    }
    found["losses"] = [(one["step"], one["loss"]) for one in lines if "loss" in one]
    found["held out"] = [(one["step"], one["held_out"]) for one in lines if "held_out" in one]
    return found
