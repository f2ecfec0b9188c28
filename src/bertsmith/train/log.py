"""The metrics of a run: one JSON object a logged step, and TensorBoard events beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bertsmith.common.files import write_text

METRICS = "metrics.jsonl"


class MetricsLog:
    """Appends records to ``metrics.jsonl`` and to ``tensorboard/`` in a run folder.

    Args:
        folder: the run folder.
        step: step that the run goes on from; later records, and a half-written last line, are of
            an interrupted run whose steps will be made again, and are removed.
    """

    def __init__(self, folder: Path, step: int = 0) -> None:
        from tensorboardX import SummaryWriter

        path = folder / METRICS
        kept = [record for record in read_metrics(path) if record.get("step", 0) <= step]
        write_text(path, "".join(_line(record) for record in kept))
        self._stream = path.open("a", encoding="utf-8")
        self._events = SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)

    def write(self, record: dict[str, Any]) -> None:
        """Append one record, which has a ``step``."""
        self._stream.write(_line(record))
        self._stream.flush()
        for name, value in record.items():
            if name == "held_out":
                for figure, number in value.items():
                    self._events.add_scalar(f"held_out/{figure}", number, record["step"])
            elif name != "step":
                self._events.add_scalar(f"train/{name}", value, record["step"])

    def close(self) -> None:
        """Write what is still in memory."""
        self._stream.close()
        self._events.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The records of a metrics file; a half-written last line is passed over."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text("utf-8", errors="replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, allow_nan=False) + "\n"
