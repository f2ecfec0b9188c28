"""All tasks by the names that commands know them by."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bertsmith.common.errors import SettingsError, nearest
from bertsmith.tasks.applies import check_applies
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Task

GLUE = ("cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte", "wnli")

# Name -> what it is for, and the class that does it; modules are imported when they are used.
_OTHERS: dict[str, tuple[str, str]] = {
    "squad": (
        "questions with an answer in a text, SQuAD 1.1 and 2.0 files",
        "squad.task:SquadTask",
    ),
    "swag": ("four endings, SWAG's CSV", "choice.task:SwagTask"),
    "ner": ("named entities, CoNLL files", "ner.task:NerTask"),
    "classify": ("your table: text or pair of texts -> label(s)", "own.classify:ClassifyTask"),
    "regress": ("your table: text or pair of texts -> number", "own.regress:RegressTask"),
    "tag": ("your files: words -> tags", "own.tag:TagTask"),
    "answer": ("your table: question and text -> answer in it", "own.answer:AnswerTask"),
    "choose": ("your table: text and choices -> choice", "choice.task:ChooseTask"),
}
TASKS = (*GLUE, *_OTHERS)


def descriptions() -> dict[str, str]:
    """Name and purpose of the tasks, for help texts."""
    own = {name: text for name, (text, _) in _OTHERS.items()}
    return {", ".join(GLUE): "the tasks of GLUE, official TSV files", **own}


def known_name(name: str) -> str:
    """The name as it is here: ``SST-2`` is ``sst2``."""
    return name.lower().replace("-", "")


def make_task(name: str, settings: TaskSettings) -> Task[Any]:
    """The task called ``name`` with its settings.

    Raises:
        SettingsError: there is no task of that name, or it does not read one of the settings.
    """
    known = known_name(name)
    if known in TASKS:
        check_applies(known, settings)
    if known in GLUE:
        glue: Callable[[str, TaskSettings], Task[Any]] = import_module(
            "bertsmith.tasks.glue.tasks"
        ).glue_task
        return glue(known, settings)
    if known not in _OTHERS:
        close = nearest(known, TASKS)
        hint = f"did you mean {close!r}? " if close else ""
        raise SettingsError(
            "no task of that name", value=name, mend=f"{hint}known: glue, {', '.join(TASKS)}"
        )
    module, kind = _OTHERS[known][1].split(":")
    made: Task[Any] = getattr(import_module(f"bertsmith.tasks.{module}"), kind)(settings)
    return made
