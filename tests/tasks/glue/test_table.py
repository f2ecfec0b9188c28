"""Bytes of TSV files to rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.glue.table import read_table


def rows(path: Path, columns: tuple[str, ...] = ()) -> list[tuple[int, list[str]]]:
    return [(row.line, row.fields) for row in read_table(path, columns).rows]


def test_quotes_are_text(write: Callable[..., Path]) -> None:
    """Case G01: no quoting rules in a format that has none."""
    path = write({"a.tsv": 'a\tb\n"x\ty"\n""\t"\n'}) / "a.tsv"
    assert rows(path) == [(2, ['"x', 'y"']), (3, ['""', '"'])]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", [False, True])
def test_line_ends(write: Callable[..., Path], end: str, tail: bool) -> None:
    text = end.join(["a\tb", "x\u2028\x0b\x85y\t1", "p\rq\t2"]) + (end if tail else "")
    table = read_table(write({"a.tsv": text}) / "a.tsv")
    assert table.columns == ("a", "b")
    assert [row.fields for row in table.rows] == [["x\u2028\x0b\x85y", "1"], ["p\rq", "2"]]


def test_empty_lines_are_rows_but_at_the_end(write: Callable[..., Path]) -> None:
    path = write({"a.tsv": "a\tb\n1\t2\n\n3\t\n\n\n"}) / "a.tsv"
    assert rows(path) == [(2, ["1", "2"]), (3, [""]), (4, ["3", ""])]


def test_byte_order_mark(write: Callable[..., Path]) -> None:
    """Case G07: neither the header nor the first label carries an invisible character."""
    folder = write({
        "head.tsv": b"\xef\xbb\xbfQuality\t#1 ID\n1\t2\n",
        "none.tsv": b"\xef\xbb\xbf2\tsome text\n",
    })  # fmt: skip
    assert read_table(folder / "head.tsv").columns == ("Quality", "#1 ID")
    assert rows(folder / "none.tsv", ("label", "text")) == [(1, ["2", "some text"])]


def test_what_can_not_be_read(write: Callable[..., Path]) -> None:
    folder = write({"latin.tsv": b"a\tb\n1\t2\ncaf\xe9\t3\n", "empty.tsv": b"\xef\xbb\xbf\n"})
    with pytest.raises(InputError, match="not UTF-8") as caught:
        read_table(folder / "latin.tsv")
    assert (caught.value.line, caught.value.value) == (3, b"\xe9\t3\n")
    with pytest.raises(InputError, match="empty"):
        read_table(folder / "empty.tsv")
    with pytest.raises(InputError, match="can not be read"):
        read_table(folder)


def test_a_missing_column_is_named_with_those_that_are_there(write: Callable[..., Path]) -> None:
    table = read_table(write({"a.tsv": "index\tsentence\n0\tx\n"}) / "a.tsv")
    assert table.need(("text", "sentence")) == 1
    assert table.find(("label",)) is None
    with pytest.raises(InputError, match="no column 'gold_label' or 'label'") as caught:
        table.need(("gold_label", "label"))
    assert caught.value.file is not None
    assert caught.value.file.endswith("a.tsv")
    assert caught.value.mend == "the file has the columns 'index', 'sentence'"
