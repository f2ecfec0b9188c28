"""Files that are not what they seem: a message, never a silent reading."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.registry import make_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.read import read_table
from bertsmith.tasks.tables.rows import BadRow

PLAIN = TaskSettings()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_not_read_as_utf_8(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\na b,c\n".encode(encoding))
    with pytest.raises(InputError, match="50% of the characters is NUL"):
        read_table(path, TaskSettings(header=False))
    [row] = read_table(path, TaskSettings(encoding=encoding)).rows
    assert dict(row.cells) == {"text": "a b", "label": "c"}


def test_a_label_with_a_nul_is_no_label_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "a film,good\na book,bad\n" * 10
    path.write_text("text,label\n" + rows + "the film,good\0\n")
    data = make_task("classify", PLAIN).read(path)
    assert data.train is not None
    assert {one.target for part in (data.train, *data.dev) for one in part.examples} == {
        "good", "bad",
    }  # fmt: skip
    [skipped] = data.train.skipped
    assert f"{path}:22" in skipped
    assert "NUL" in skipped


def test_nothing_behind_a_json_list_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text": "a"}]\n\n')
    assert len(read_table(path, PLAIN).rows) == 1
    path.write_text('[{"text": "a"}]\n[{"text": "b"}]\n')
    with pytest.raises(InputError, match="behind the list") as caught:
        read_table(path, PLAIN)
    assert caught.value.value == '[{"text": "b"}]'


def test_a_key_that_stands_twice_is_a_malformed_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "text": "b"}\n{"text": "c"}\n')
    twice, once = read_table(path, PLAIN).rows
    assert "'text' stands twice" in twice.problem
    assert dict(once.cells) == {"text": "c"}


def test_json_over_many_lines_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n "data": [\n  {\n   "text": "a"\n  }\n ]\n}\n')
    with pytest.raises(InputError, match="no row can be read: not JSON") as caught:
        read_table(path, PLAIN).need("text", "--text-column")
    assert caught.value.line == 1


def test_other_separators_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text;label\na;b\n")
    with pytest.raises(InputError, match="set apart by ';'"):
        read_table(path, PLAIN).need("text", "--text-column")


def test_columns_that_are_no_text_do_no_harm_to_others(tmp_path: Path) -> None:
    """Times in nanoseconds, and bytes that are no text."""
    path = tmp_path / "a.parquet"
    moments = pa.array([1, None], pa.timestamp("ns"))
    day = pa.array([datetime.date(2020, 1, 2), None])
    pictures = pa.array([b"\xff\xd8", b"abc"], pa.binary())
    columns = {"text": ["a", "b"], "when": moments, "day": day, "picture": pictures}
    pq.write_table(pa.table(columns), path)
    first, second = read_table(path, PLAIN).rows
    assert first.text("text") == "a"
    assert first.text("when") == "1970-01-01 00:00:00.000000001"
    assert first.text("day") == "2020-01-02"
    with pytest.raises(BadRow, match="bytes that are not UTF-8"):
        first.text("picture")
    assert dict(second.cells) == {"text": "b", "picture": "abc"}


def test_values_that_are_no_numbers_of_the_field(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "a,1.5\nb,2\n" * 10 + "c,1_000\nd,1e16\ne,-1e15\n")
    data = make_task("regress", PLAIN).read(path)
    assert data.train is not None
    values = {one.target for part in (data.train, *data.dev) for one in part.examples}
    assert values == {1.5, 2.0, -1e15}
    assert [line.split(": ")[0] for line in data.train.skipped] == [f"{path}:22", f"{path}:23"]
