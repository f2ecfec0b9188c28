from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertsmith.tasks.tables.split import (
    across,
    dev_rows,
    dev_rows_apart,
    equal_text_notes,
    rarest,
    seats_of,
)

STRATA = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=80)
FEW = settings(max_examples=80, deadline=None)


@FEW
@given(strata=STRATA, percent=st.floats(0.5, 99.5), seed=st.integers(0, 5))
def test_size_and_what_stays(strata: list[str], percent: float, seed: int) -> None:
    chosen = dev_rows(percent, seed, strata)
    assert chosen == sorted(set(chosen)) == dev_rows(percent, seed, strata)
    assert 1 <= len(chosen) < len(strata)
    assert abs(len(chosen) - len(strata) * percent / 100) <= 1
    sizes = Counter(strata)
    wanted = len(chosen)
    if sum(size - 1 for size in sizes.values()) >= wanted:  # no label has to leave training
        assert set(strata) == {strata[at] for at in range(len(strata)) if at not in set(chosen)}


@FEW
@given(strata=STRATA, percent=st.floats(0.5, 99.5))
def test_each_class_of_two_rows_has_a_dev_row_where_the_share_allows(
    strata: list[str], percent: float
) -> None:
    chosen = dev_rows(percent, 0, strata)
    able = {name for name, size in Counter(strata).items() if size > 1}
    if len(able) <= len(chosen):
        assert able <= {strata[at] for at in chosen}


def test_largest_remainders() -> None:
    assert seats_of({"a": 50, "b": 30, "c": 20}, 10) == {"a": 5, "b": 3, "c": 2}
    assert seats_of({"a": 47, "b": 16, "c": 37}, 10) == {"a": 5, "b": 1, "c": 4}  # 4.7 1.6 3.7
    assert seats_of({"a": 96, "b": 2, "c": 2}, 10) == {"a": 8, "b": 1, "c": 1}
    assert seats_of({"a": 99, "b": 1}, 10) == {"a": 10, "b": 0}
    assert seats_of({"a": 1, "b": 1, "c": 1}, 1) == {"a": 1, "b": 0, "c": 0}


def test_seed_and_order() -> None:
    strata = ["a", "b"] * 500
    first, second = dev_rows(10, 0, strata), dev_rows(10, 1, strata)
    assert Counter(strata[at] for at in first) == {"a": 50, "b": 50}
    assert len(first) == len(second) == 100
    assert first != second
    # Not the first rows, nor every tenth: rows of a file are often in some order.
    assert 300 < sum(first) / len(first) < 700
    assert len({at % 10 for at in first}) > 5


def test_too_few_rows() -> None:
    assert dev_rows(10, 0, []) == dev_rows(10, 0, ["a"]) == []
    assert len(dev_rows(10, 0, ["a", "a"])) == 1


@FEW
@given(groups=STRATA, percent=st.floats(1, 99), seed=st.integers(0, 3))
def test_groups_stay_whole(groups: list[str], percent: float, seed: int) -> None:
    chosen = set(dev_rows(percent, seed, ["x"] * len(groups), groups))
    dev = {groups[at] for at in chosen}
    train = {groups[at] for at in range(len(groups)) if at not in chosen}
    assert not dev & train
    assert train
    assert bool(dev) == (len(set(groups)) > 1)
    if len(dev) > 1:
        assert len(chosen) <= max(1, round(len(groups) * percent / 100 + 0.01))


def test_share_of_groups() -> None:
    groups = [str(at // 5) for at in range(1000)]
    assert len(dev_rows(10, 0, ["x"] * 1000, groups)) == 100


@pytest.mark.parametrize(
    ("labels", "strata"),
    [([("a", "b"), ("a",), (), ("a", "c"), ("c", "b")], ["b", "a", "", "c", "b"])],
)
def test_rarest(labels: list[tuple[str, ...]], strata: list[str]) -> None:
    assert rarest(labels) == strata


@FEW
@given(strata=STRATA, percent=st.floats(0.5, 99.5), seed=st.integers(0, 5))
def test_where_all_texts_differ_the_split_is_the_plain_one(
    strata: list[str], percent: float, seed: int
) -> None:
    plain = dev_rows(percent, seed, strata)
    texts = list(range(len(strata)))
    assert dev_rows_apart(percent, seed, strata, texts) == plain
    assert equal_text_notes(texts, plain) == []


def test_equal_texts_stay_on_one_side() -> None:
    texts = [str(at // 2) for at in range(40)] + ["often"] * 20
    chosen = dev_rows_apart(10, 0, ["x"] * 60, texts)
    assert chosen
    assert across(texts, chosen) == 0
    assert "often" not in {texts[at] for at in chosen}
    assert equal_text_notes(texts, chosen) == [
        "39 texts stand more than once: equal ones stay on one side"
    ]


def test_texts_on_both_sides_are_counted() -> None:
    texts = ["a", "a", "a", "b"]
    assert across(texts, [0, 3]) == 1
    assert equal_text_notes(texts, [0, 3])[0].startswith("1 examples of dev have a text that is in")
    assert len(dev_rows_apart(50, 0, ["x"] * 4, ["a"] * 4)) == 2
