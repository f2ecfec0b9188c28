"""The metrics of a run: one JSON object a logged step, and TensorBoard events beside it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from bertsmith.common import strict_json
from bertsmith.common.errors import InputError, TrainingError
from bertsmith.common.files import write_text
from bertsmith.train.processes import Processes

METRICS = "metrics.jsonl"


class Log(Protocol):
    """Where the records of a run go."""

    def write(self, record: dict[str, Any]) -> None:
        """Append one record."""

    def close(self) -> None:
        """No more records come."""


class NoLog:
    """The log of a process that is not the first of its run."""

    def write(self, record: dict[str, Any]) -> None:
        """The first process writes it."""

    def close(self) -> None:
        """Nothing is open."""


def open_log(folder: Path, step: int, processes: Processes) -> Log:
    """The log of this process of a run that goes on from ``step``; see :class:`MetricsLog`."""
    opened: list[Log] = [NoLog()]

    def begin() -> None:
        opened[0] = MetricsLog(folder, step)

    processes.first(begin)
    return opened[0]


class MetricsLog:
    """Appends records to ``metrics.jsonl`` and to ``tensorboard/`` in a run folder.

    A record is a mapping of names to numbers with a ``step``; an evaluation has its figures one
    level down, under ``held_out``; a warning is text, under ``warning``. A number that is not
    finite becomes null: JSON has no NaN.

    Args:
        folder: the run folder.
        step: step that the run goes on from; later records, and a half-written last line, are of
            an interrupted run whose steps will be made again, and are removed.

    Raises:
        InputError: a line of the log, other than the last, is damaged.
        TrainingError: the log can not be written, when the disk is full for instance.
    """

    def __init__(self, folder: Path, step: int = 0) -> None:
        path = self._path = folder / METRICS
        kept = [record for record in read_metrics(path) if record["step"] <= step]
        # What a run logs after its last checkpoint (the last evaluation) has that step, too.
        self._known = {_kind(record) for record in kept if record["step"] == step}
        try:
            write_text(path, "".join(_line(record) for record in kept))
            # Unbuffered: a record is out of the process before the next step begins.
            self._stream = path.open("ab", buffering=0)
            self._events = _Events(folder / "tensorboard", step + 1)
        except OSError as error:
            raise _unwritable(error, path) from None

    def write(self, record: dict[str, Any]) -> None:
        """Append one record; one that the log has from before a resume is passed over."""
        if _kind(record) in self._known:
            return
        try:
            rest = _line(record).encode()
            while rest:
                rest = rest[self._stream.write(rest) or 0 :]
            self._events.write(record)
        except OSError as error:
            raise _unwritable(error, self._path) from None

    def close(self) -> None:
        """Write what is still in memory; call it once, however the run ended."""
        self._stream.close()
        try:
            self._events.close()
        except OSError as error:
            raise _unwritable(error, self._path.parent / "tensorboard") from None


class _Events:
    """TensorBoard's event file, written by the caller's own thread.

    tensorboardX's ``SummaryWriter`` has a thread that dies of a full disk, after which the next
    call waits for it for ever.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto.event_pb2 import Event, SessionLog

        folder.mkdir(parents=True, exist_ok=True)
        self._file = EventsWriter(str(folder / "events"))
        # Readers forget the steps that an interrupted run made after its last checkpoint.
        start = SessionLog(status=SessionLog.START)
        self._file.write_event(Event(wall_time=time.time(), step=first_step, session_log=start))
        self._file.flush()

    def write(self, record: dict[str, Any]) -> None:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.summary import scalar

        for name, value in _scalars(record):
            event = Event(wall_time=time.time(), step=record["step"], summary=scalar(name, value))
            self._file.write_event(event)
        if "held_out" in record:  # a flush waits for the disk: not at every step
            self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The records of a metrics file, none where there is no file.

    A half-written last line, left by a killed process, is passed over.

    Raises:
        InputError: another line is not a record with a ``step``, or the file can not be read.
    """
    try:
        lines = path.read_text("utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"the log can not be read: {error.strerror}", file=path) from None
    records = []
    for number, line in enumerate(lines, start=1):
        record = _record(line)
        if record is not None:
            records.append(record)
        elif line and number < len(lines):
            raise InputError(
                "the line is not a record of a run", file=path, line=number, mend="remove the line"
            )
    return records


def _record(line: str) -> dict[str, Any] | None:
    try:
        value = strict_json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and _is_sound(value) else None


def _is_sound(record: dict[str, Any]) -> bool:
    """Whether the parts that a run reads again are what a run writes."""
    held_out, warning = record.get("held_out", {}), record.get("warning", "")
    return (
        type(record.get("step")) is int
        and 0 <= record["step"] < 1 << 53
        and isinstance(warning, str)
        and isinstance(held_out, dict)
        and all(value is None or _is_number(value) for value in held_out.values())
        and all(name.isprintable() for name in held_out)
    )


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold; JSON has integers of any length."""
    return type(value) is float or (type(value) is int and abs(value) < 1 << 1023)


def _kind(record: dict[str, Any]) -> tuple[Any, ...]:
    """What a step has only once."""
    return record["step"], "held_out" in record, "spike" in record, record.get("warning")


def _line(record: dict[str, Any]) -> str:
    return json.dumps(_finite(record), allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _scalars(record: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The finite numbers of a record, named as in TensorBoard."""
    parts = {"train": record, "held_out": record.get("held_out") or {}}
    for part, figures in parts.items():
        for name, value in figures.items():
            if name != "step" and isinstance(value, int | float) and math.isfinite(value):
                yield f"{part}/{name}", value


def _unwritable(error: OSError, path: Path) -> TrainingError:
    return TrainingError(
        f"the log can not be written: {error.strerror}",
        file=path,
        mend="make room and run the same command again: it goes on from the last checkpoint",
    )
