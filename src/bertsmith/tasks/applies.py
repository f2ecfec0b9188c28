"""Which settings are for which tasks: one that would do nothing is refused."""

from __future__ import annotations

import dataclasses

from bertsmith.common.errors import SettingsError
from bertsmith.tasks.settings import TaskSettings

_TEXTS = ("classify", "regress")
_TAGGING = ("ner", "tag")
_ANSWERS = ("squad", "answer")
_OWN = (*_TEXTS, "tag", "answer", "choose")
_TABLES = (*_OWN, "swag")

# Setting -> the tasks that read it; all tasks read a setting that is not here.
TASKS_OF: dict[str, tuple[str, ...]] = {
    "text_column": (*_TEXTS, "tag", "choose"),
    "pair_column": _TEXTS,
    "label_column": (*_TEXTS, "tag", "choose"),
    "id_column": _OWN,
    "label_separator": ("classify",),
    "question_column": ("answer",),
    "context_column": ("answer",),
    "answer_column": ("answer",),
    "choice_columns": ("choose",),
    "choice_labels": ("choose",),
    "header": _TABLES,
    "quoting": _TABLES,
    "encoding": (*_TABLES, "ner"),
    "dev_percent": (*_TABLES, "ner", "squad"),
    "split_seed": (*_TABLES, "ner", "squad"),
    "doc_stride": _ANSWERS,
    "max_query_length": _ANSWERS,
    "n_best": _ANSWERS,
    "max_answer_length": _ANSWERS,
    "feature_layers": _TAGGING,
    "document_context": _TAGGING,
}


# Columns that are to be different ones, as far as a task reads them.
_ROLES = (
    ("text_column", "pair_column", "label_column", "choice_columns"),
    ("question_column", "context_column", "answer_column"),
)


def check_applies(task: str, settings: TaskSettings) -> None:
    """Whether every setting that is not at its default is one that the task reads.

    Raises:
        SettingsError: one is not; the message names the tasks it is for. Or a column has two roles,
            a text that is its own label for instance.
    """
    _check_roles(task, settings)
    for field in dataclasses.fields(TaskSettings):
        value, tasks = getattr(settings, field.name), TASKS_OF.get(field.name)
        if tasks is None or task in tasks or value == field.default:
            continue
        flag = "--" + field.name.replace("_", "-")
        raise SettingsError(
            f"{field.name} is not for {task}, but for {', '.join(tasks)}",
            value=list(value) if isinstance(value, tuple) else value,
            mend=f"leave out {flag}, or take another task",
        )


def _check_roles(task: str, settings: TaskSettings) -> None:
    for roles in _ROLES:
        taken: dict[str, str] = {}
        for role in roles:
            value = getattr(settings, role) if task in TASKS_OF[role] else ""
            for column in value if isinstance(value, tuple) else (value,):
                if column and column in taken:
                    raise SettingsError(
                        f"one column is {taken[column]} and {role} both", value=column,
                        mend=f"name another one with --{role.replace('_', '-')}",
                    )  # fmt: skip
                taken[column] = role
