from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bertsmith.common.errors import InputError, SettingsError
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.read import read_table
from bertsmith.tasks.tables.rows import BadRow
from tests.data import data

FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# Lone surrogates can not be written as UTF-8; a CSV reader takes a lone CR for a line end.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def cells(path: Path, **options: Any) -> list[dict[str, object]]:
    return [dict(row.cells) for row in read_table(path, TaskSettings(**options)).rows]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_tsv_has_no_quoting(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"odd\t1\r\neven "\t2\n\n')
    assert cells(path) == [{"text": '"odd', "label": "1"}, {"text": 'even "', "label": "2"}]


def test_csv_has_quoting_over_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'text,label\n"a, ""b""\nc",1\n\nd,2\n')
    table = read_table(path, TaskSettings())
    assert [row.cells["text"] for row in table.rows] == ['a, "b"\nc', "d"]
    assert [row.line for row in table.rows] == [2, 5]


def test_csv_without_quoting(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'text,label\n"odd,1\nb,2\n')
    assert cells(path, quoting=False)[0] == {"text": '"odd', "label": "1"}


def test_only_line_feeds_end_lines_of_tsv(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "text\tlabel\na\u2028b\x85c\rd\x0ce\t1\n")
    assert cells(path) == [{"text": "a\u2028b\x85c\rd\x0ce", "label": "1"}]


def test_custom_file_with_mark_and_without_header(tmp_path: Path) -> None:
    """Case G07: the label is ``2``, not ``\\ufeff2``."""
    path = write(tmp_path / "a.tsv", b"\xef\xbb\xbf2\tsome text\n")
    assert cells(path, header=False) == [{"1": "2", "2": "some text"}]


@pytest.mark.parametrize("suffix", ["tsv", "csv", "txt", "jsonl"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_mark_before_a_header(tmp_path: Path, suffix: str, encoding: str) -> None:
    """Case G07: the first column has its name, also where another encoding was asked for."""
    separator = "," if suffix == "csv" else "\t"
    text = f"text{separator}label\né{separator}1\n"
    if suffix == "jsonl":
        text = '{"text": "é", "label": 1}\n'
    path = write(tmp_path / f"a.{suffix}", b"\xef\xbb\xbf" + text.encode())
    assert cells(path, encoding=encoding) == [{"text": "é", "label": "1"}]


def test_utf_16(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "text\tlabel\né\t1\n".encode("utf-16"))
    assert cells(path, encoding="utf-16") == [{"text": "é", "label": "1"}]
    with pytest.raises(InputError, match=r"byte 0 is not utf-8.*\n.*--encoding utf-16"):
        cells(path)


def test_label_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.train", "2 some text\n1 more\n")
    table = read_table(path, TaskSettings(header=False, label_column="1", text_column="2"))
    assert [dict(row.cells) for row in table.rows] == [
        {"1": "2", "2": "some text"},
        {"1": "1", "2": "more"},
    ]
    assert "no tabs" in table.notes[0]
    # Lines of plain text stay whole where no second column is asked for.
    assert cells(path, header=False, text_column="1")[0] == {"1": "2 some text"}


def test_bytes_of_another_encoding(tmp_path: Path) -> None:
    plain = b"text\tlabel\nok\t1\ncaf\xe9\t2\n"
    for content, at, mend in (
        (plain, 19, "--encoding latin-1"), (b"\xef\xbb\xbf" + plain, 22, "begins with the mark"),
    ):  # fmt: skip
        assert content[at : at + 1] == b"\xe9"
        with pytest.raises(InputError, match=mend) as caught:
            cells(write(tmp_path / "a.tsv", content))
        assert (caught.value.line, caught.value.value) == (3, b"\xe9\t2\n")
        assert caught.value.message == f"byte {at} is not utf-8"
    assert cells(write(tmp_path / "a.tsv", plain), encoding="latin-1")[1]["text"] == "café"


def test_unknown_encoding(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no encoding of that name"):
        cells(write(tmp_path / "a.tsv", "x\n"), encoding="utf8-sig-x")


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.txt", "a.json"])
@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_empty_file(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(InputError, match="the file is empty"):
        cells(write(tmp_path / name, content))


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_header_alone(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="the file has no rows after its header"):
        cells(write(tmp_path / name, "text\n"))


def test_no_rows_in_parquet_and_json(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
    for path in (tmp_path / "a.parquet", write(tmp_path / "a.json", "[]")):
        with pytest.raises(InputError, match="the file has no rows"):
            cells(path)


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table is known by this suffix"):
        cells(write(tmp_path / "a.csv.gz", b"\x1f\x8b"))


def test_rows_of_another_width_keep_their_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "text\tlabel\na\t1\nb\nc\t3\tx\nd\t4\n")
    rows = read_table(path, TaskSettings()).rows
    assert [(row.line, row.problem) for row in rows] == [
        (2, ""), (3, "1 fields instead of 2"), (4, "3 fields instead of 2"), (5, ""),
    ]  # fmt: skip


def test_width_without_header_is_the_usual_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "a\n" + "b\tc\n" * 3)
    table = read_table(path, TaskSettings(header=False))
    assert table.columns == ("1", "2")
    assert [bool(row.problem) for row in table.rows] == [True, False, False, False]


@pytest.mark.parametrize(
    "content",
    [
        'text,label\n"odd,1\nb,2\nc,3\n',  # ends inside quotes
        'text,label\n"odd,1\nsaid "hi" to,2\nc,3\n',  # something follows the closing quote
        'text,label\n"odd,1\n' + "b,2\n" * 5 + 'c",3\n',  # five whole rows inside
        'text\n"odd\n' + "b\n" * 1000 + 'c"\n',  # too many lines
    ],
)
def test_a_quote_that_swallows_rows(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match="--no-quoting") as caught:
        cells(write(tmp_path / "a.csv", content))
    assert caught.value.line == 2


def test_long_cells_are_no_mistake(tmp_path: Path) -> None:
    letter = "Dear Sir,\n" + "no comma here\n" * 400 + "one, two\n" + "x" * 200_000
    path = write(tmp_path / "a.csv", f'text,label\n"{letter}",1\n')
    assert cells(path) == [{"text": letter, "label": "1"}]


def test_json_values_become_words_as_they_are_written(tmp_path: Path) -> None:
    line = '{"a": 1, "b": 1.0, "c": true, "d": false, "e": null, "f": NaN, "g": ["x", 2], "h": 12345678901234567890}'
    assert cells(write(tmp_path / "a.jsonl", line + "\n\n" + '{"z": "u\\u00e9"}')) == [
        {"a": "1", "b": "1.0", "c": "true", "d": "false", "g": ["x", "2"], "h": "12345678901234567890"},
        {"z": "ué"},
    ]  # fmt: skip


def test_broken_json_lines_are_malformed_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "a"}\n{"text": \n7\n{"text": "b"}\n')
    rows = read_table(path, TaskSettings()).rows
    assert [row.problem[:8] for row in rows] == ["", "not JSON", "not a JS", ""]


def test_list_of_objects(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps([{"text": "a"}, 3, {"text": "[b]"}], indent=1))
    rows = read_table(path, TaskSettings()).rows
    assert [(row.line, row.text("text")) for row in rows] == [(2, "a"), (5, None), (6, "[b]")]
    assert rows[1].problem == "not a JSON object"


def test_broken_list_of_objects(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '[{"text": "a"},\n{"text": ')
    with pytest.raises(InputError, match="the list of objects is broken") as caught:
        cells(path)
    assert caught.value.line == 2


def test_parquet_values(tmp_path: Path) -> None:
    table = pa.table({
        "whole": pa.array([1.0, None, 3.0]), "float": pa.array([1.0, 0.25, float("nan")]),
        "int": pa.array([1, None, 3]), "bool": pa.array([True, False, None]),
        "list": pa.array([["a"], None, []]), "word": pa.array(["x", None, "y"]).dictionary_encode(),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    assert cells(tmp_path / "a.parquet") == [
        {"whole": "1", "float": "1.0", "int": "1", "bool": "true", "list": ["a"], "word": "x"},
        {"float": "0.25", "bool": "false"},
        {"whole": "3", "int": "3", "list": [], "word": "y"},
    ]


def test_damaged_parquet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can not be read"):
        cells(write(tmp_path / "a.parquet", b"PAR1 no"))


def test_missing_column_is_named_with_those_present(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "a.tsv", "texts\tlabel\na\t1\n"), TaskSettings())
    with pytest.raises(InputError) as caught:
        table.need("text", "--text-column")
    assert caught.value.message == "there is no column 'text'"
    assert str(caught.value.mend).startswith(
        "the file has the columns 'texts', 'label'; name one with --text-column texts"
    )
    assert "--no-header" in str(caught.value.mend)


def test_column_that_is_there_twice(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "a.tsv", "text\ttext\na\tb\n"), TaskSettings())
    with pytest.raises(InputError, match="2 columns are 'text'"):
        table.need("text", "--text-column")


def test_structures_are_no_text(tmp_path: Path) -> None:
    line = '{"list": ["a"], "object": {"a": "b"}, "mixed": [{"a": "b"}], "text": "t"}'
    [row] = read_table(write(tmp_path / "a.jsonl", line), TaskSettings()).rows
    assert row.texts("list") == ("a",)
    assert row.texts("absent") is None
    assert row.text("absent") is None
    for wrong in (lambda: row.text("list"), lambda: row.need("object"), lambda: row.texts("mixed"),
                  lambda: row.texts("text"), lambda: row.need("absent")):  # fmt: skip
        with pytest.raises(BadRow):
            wrong()


ROWS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6)


@FEW
@given(rows=ROWS)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path: Path, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerows([("text", "label"), *rows])
    assert cells(path) == [{"text": text, "label": label} for text, label in rows]


@FEW
@given(rows=ROWS)
def test_what_pyarrow_writes_is_read_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    texts, labels = zip(*rows, strict=True)
    pq.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "a.parquet")
    assert cells(tmp_path / "a.parquet") == [{"text": text, "label": label} for text, label in rows]


@FEW
@given(rows=ROWS, ascii_only=st.booleans())
def test_what_json_writes_is_read_back(
    tmp_path: Path, rows: list[tuple[str, str]], ascii_only: bool
) -> None:
    expected = [{"text": text, "label": label} for text, label in rows]
    lines = "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in expected)
    assert cells(write(tmp_path / "a.jsonl", lines)) == expected
    assert cells(write(tmp_path / "a.json", json.dumps(expected))) == expected


def test_odd_quote_of_a_real_file(tmp_path: Path) -> None:
    """86 rows of this file are one cell under the default rules of CSV."""
    text = data("classification", "chnsenticorp", "train.tsv").read_text("utf-8")
    assert len(cells(write(tmp_path / "a.tsv", text), text_column="text_a")) == 2000
    commas = text.replace(",", "，").replace("\t", ",")
    path = write(tmp_path / "a.csv", commas)
    assert len(list(csv.reader(commas.splitlines(keepends=True)))) == 2001 - 86
    with pytest.raises(InputError, match="quotes of the row do not fit together"):
        cells(path)
    assert len(cells(path, quoting=False)) == 2000
