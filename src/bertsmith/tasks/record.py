"""``task.json`` in a model directory: which task the model is for, and how it reads and decides."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.common.errors import ModelError
from bertsmith.common.settings import check, to_mapping
from bertsmith.tasks.settings import TaskSettings

RECORD = "task.json"


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
        raw = json.loads(path.read_text("utf-8"))
        settings = TaskSettings(**check(TaskSettings, raw["settings"], path))
        tuned = {str(name): float(value) for name, value in raw["tuned"].items()}
        return TaskRecord(str(raw["task"]), settings, tuned)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"the record of the task is damaged: {error!r}", file=path) from None
