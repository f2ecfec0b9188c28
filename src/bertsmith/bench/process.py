"""A side's process, seen from the coordinator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertsmith.bench.rows import Side
from bertsmith.bench.worker import GO
from bertsmith.common.errors import BertsmithError

_LAST_WORDS = 2000  # characters


class SideProcess:
    """Starts a side and waits until it is set up and warm.

    Args:
        name: what the side is called.
        side: what it does.
        folder: a folder of its own, for files.
        environment: that of the process.
        before: ``module:function`` that bertsmith's own sides call first, with their verb.

    Raises:
        BertsmithError: the side refuses its arguments, or its process died.

    Attributes:
        facts: what the side says of its work; ``missing`` where its tool is not installed.
    """

    def __init__(
        self, name: str, side: Side, folder: Path, environment: Mapping[str, str], before: str
    ) -> None:
        self.name = name
        folder.mkdir(parents=True)
        self._log = folder / "stderr.txt"
        order = {
            "factory": side.factory,
            "arguments": {**side.arguments, "folder": str(folder)},
            "before": [before, side.verb] if side.verb else None,
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bertsmith.bench.worker", json.dumps(order)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=dict(environment), text=True,
            )  # fmt: skip
        self.facts = self._read()
        if "refused" in self.facts:
            raise BertsmithError(self.facts["refused"])

    @property
    def missing(self) -> str | None:
        """The package that is not installed."""
        return self.facts.get("missing")

    def go(self) -> dict[str, float]:
        """Have it do one round; what it says of it."""
        self._say(GO)
        return self._read()

    def end(self) -> int:
        """End it; its peak of resident memory in bytes."""
        self._say("end")
        memory = int(self._read()["memory"])
        self._process.wait()
        return memory

    def kill(self) -> None:
        """End it at once, if it still runs."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _died(self) -> BertsmithError:
        status = self._process.wait()
        words = self._log.read_text("utf-8", errors="replace")[-_LAST_WORDS:].rstrip()
        return BertsmithError(
            f"the side {self.name!r} ended with status {status}:\n{words}",
            mend="a status of -9 often means too little memory; rows that were done are kept",
        )
