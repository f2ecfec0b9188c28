"""A damaged ``task.json`` is one clear message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertsmith.common.errors import ModelError
from bertsmith.tasks.record import RECORD, TaskRecord, read_record, task_record
from bertsmith.tasks.settings import TaskSettings

GOOD = json.dumps(task_record("squad", TaskSettings(doc_stride=64), {"null_threshold": 1.5}))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    (tmp_path / RECORD).write_text(GOOD)
    assert read_record(tmp_path) == TaskRecord(
        "squad", TaskSettings(doc_stride=64), {"null_threshold": 1.5}
    )


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        ("1.5", "NaN", "NaN is no number of JSON"),
        ("1.5", "Infinity", "Infinity is no number of JSON"),
        ("1.5", "1e999", "1e999 is no number of JSON"),
        ("1.5", "1" + 400 * "0", "too large"),
        ("1.5", "null", "null|None"),
        ('"dev_percent": 10.0', '"dev_percent": NaN', "NaN is no number of JSON"),
        ('"dev_percent": 10.0', '"dev_percent": 1e999', "1e999 is no number of JSON"),
        ('"doc_stride": 64', '"doc_stride": 0', "doc_stride must be at least 1"),
        ('"doc_stride": 64', '"doc_stride": "x"', "doc_stride takes a whole number"),
        ('"doc_stride": 64', '"stride": 64', "unknown setting 'stride'"),
        ('"squad"', '"squid"', "names no task"),
        ('"squad"', "5", "names no task"),
        ('"tuned"', '"tune"', "'tuned' is missing"),
        (GOOD, "[1]", "damaged"),
        (GOOD, "", "damaged"),
        (GOOD, "[" * 100_000, "damaged"),
    ],
)
def test_damage_is_named_with_file_and_mend(
    tmp_path: Path, was: str, now: str, reason: str
) -> None:
    assert GOOD.count(was) == 1
    (tmp_path / RECORD).write_text(GOOD.replace(was, now))
    with pytest.raises(ModelError, match=reason) as caught:
        read_record(tmp_path)
    assert caught.value.file == str(tmp_path / RECORD)
    assert caught.value.mend
