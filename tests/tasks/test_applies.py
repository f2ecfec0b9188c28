"""Settings that a task does not read are refused."""

from __future__ import annotations

import dataclasses

import pytest

from bertsmith.common.errors import SettingsError
from bertsmith.tasks.applies import TASKS_OF
from bertsmith.tasks.registry import TASKS, make_task
from bertsmith.tasks.settings import TaskSettings


@pytest.mark.parametrize(
    ("task", "options", "tasks"),
    [
        ("classify", {"doc_stride": 64}, "squad, answer"),
        ("squad", {"text_column": "body"}, "classify, regress, tag, choose"),
        ("cola", {"pair_column": "b"}, "classify, regress"),
        ("cola", {"feature_layers": "sum-all"}, "ner, tag"),
        ("regress", {"label_separator": ","}, "classify"),
        ("sst-2", {"dev_percent": 20.0}, "classify"),
    ],
)
def test_the_error_names_the_tasks(task: str, options: dict, tasks: str) -> None:
    [name] = options
    with pytest.raises(SettingsError, match=f"{name} is not for .*, but for {tasks}"):
        make_task(task, TaskSettings(**options))


def test_the_table_speaks_of_what_there_is() -> None:
    assert set(TASKS_OF) <= {field.name for field in dataclasses.fields(TaskSettings)}
    assert {task for tasks in TASKS_OF.values() for task in tasks} <= set(TASKS)
    assert make_task("answer", TaskSettings(doc_stride=64)).name == "answer"
    assert all(make_task(task, TaskSettings()) for task in TASKS)


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("classify", {"text_column": "label"}),
        ("regress", {"pair_column": "text"}),
        ("tag", {"label_column": "text"}),
        ("answer", {"answer_column": "context"}),
        ("choose", {"choice_columns": ("a", "a")}),
        ("choose", {"choice_columns": ("a", "label")}),
    ],
)
def test_a_column_has_one_role(task: str, options: dict) -> None:
    with pytest.raises(SettingsError, match=r"one column is .* both"):
        make_task(task, TaskSettings(**options))
    assert make_task("cola", TaskSettings()).name == "cola"
