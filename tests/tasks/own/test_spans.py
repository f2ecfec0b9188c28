from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bertsmith.tasks.own.spans import ABSENT, AMBIGUOUS, Span, spans_of
from bertsmith.tasks.tables.rows import BadRow, Row

TEXT = "Rome is in Italy; Milan is in Italy too."


def spans(counts: Counter[str] | None = None, **cells: Any) -> tuple[Span, ...]:
    return spans_of(Row(1, cells), "answer", TEXT, Counter() if counts is None else counts)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"answer": "Milan"}, (("Milan", 18),)),
        ({"answer": ["Rome", "Milan"]}, (("Rome", 0), ("Milan", 18))),
        ({"answer": "Italy", "answer_start": "30"}, (("Italy", 30),)),
        ({"answer": ["Italy", "Italy"], "answer_start": ["11", "30"]}, (("Italy", 11), ("Italy", 30))),
        ({"answer": {"text": ["Italy"], "answer_start": ["30"]}}, (("Italy", 30),)),
        ({"answer": {"text": [], "answer_start": []}}, ()),
        ({"answer": ""}, ()),
        ({"answer": []}, ()),
        ({}, ()),
        ({"answer": "", "answer_start": "0"}, ()),
    ],
)  # fmt: skip
def test_where_answers_stand(cells: dict[str, Any], expected: tuple[Span, ...]) -> None:
    counts: Counter[str] = Counter()
    assert spans(counts, **cells) == expected
    assert not counts


def test_what_is_counted() -> None:
    counts: Counter[str] = Counter()
    assert spans(counts, answer=["Italy", "Paris", "Rome"]) == (
        ("Italy", 11),
        ("Paris", -1),
        ("Rome", 0),
    )
    assert counts == {AMBIGUOUS: 1, ABSENT: 1}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"answer": "Rome", "answer_start": "x"}, "'x' in 'answer_start' is not a number"),
        ({"answer": "Rome", "answer_start": "-1"}, "'-1' in 'answer_start' is not a number"),
        (
            {"answer": "Rome", "answer_start": ["0", "1"]},
            "2 places in 'answer_start' for 1 answers",
        ),
        ({"answer": ["Rome", {"a": "b"}]}, "holds something that is not text"),
    ],
)
def test_wrong_cells(cells: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRow, match=message):
        spans(**cells)
