"""``task.json`` in a model directory: which task the model is for, and how it reads and decides."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.common.settings import check, to_mapping
from bertsmith.tasks.registry import TASKS
from bertsmith.tasks.settings import TaskSettings

RECORD = "task.json"
_MEND = "copy the file again from where the model was fine-tuned, or fine-tune once more"


@dataclass(frozen=True)
class TaskRecord:
    """What a fine-tuned model remembers of its task.

    Attributes:
        task: the task's name.
        settings: how data were read and encoded.
        tuned: what was fitted on dev beside the weights.
    """

    task: str
    settings: TaskSettings
    tuned: dict[str, float]


def task_record(task: str, settings: TaskSettings, tuned: Mapping[str, float]) -> dict[str, Any]:
    """The content of ``task.json``."""
    names = {field.name for field in dataclasses.fields(TaskSettings)}
    kept = {name: value for name, value in to_mapping(settings).items() if name in names}
    return {"task": task, "settings": kept, "tuned": dict(tuned)}


def read_record(folder: Path) -> TaskRecord | None:
    """The record of a model directory; None where another program wrote the model.

    Raises:
        ModelError: the file is damaged.
    """
    path = folder / RECORD
    try:
        raw = strict_json.read(path)
        settings = TaskSettings(**check(TaskSettings, raw["settings"], path))
        tuned = {str(name): _finite(value) for name, value in raw["tuned"].items()}
        name = str(raw["task"])
    except FileNotFoundError:
        return None
    except SettingsError as error:
        raise ModelError(
            f"the record of the task is damaged: {error.message}", file=path, value=error.value,
            mend=_MEND,
        ) from None  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelError(
            f"the record of the task is damaged: {reason}", file=path, mend=_MEND
        ) from None
    if name not in TASKS:
        raise ModelError("the record names no task", file=path, value=name, mend=_MEND)
    return TaskRecord(name, settings, tuned)


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a finite number")
    return number
