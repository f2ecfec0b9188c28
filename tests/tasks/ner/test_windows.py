from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from bertsmith.tasks.ner.windows import Line, Window, cut, widen


def test_what_fits_is_one_window() -> None:
    assert cut(Line.of([1, 2, 0, 1]), 0, 4, 4) == [Window(0, 4, (0, 1, 3))]


def test_windows_overlap_by_half() -> None:
    """Ten words of one token, room for four: the third word stands in the middle of the second
    window and at the edge of the first."""
    assert cut(Line.of([1] * 10), 0, 10, 4) == [
        Window(0, 4, (0, 1, 2)), Window(2, 6, (3, 4)), Window(4, 8, (5, 6)),
        Window(6, 10, (7, 8, 9)),
    ]  # fmt: skip


def test_the_last_window_is_moved_back() -> None:
    windows = cut(Line.of([1] * 9), 0, 9, 4)
    assert [(one.start, one.stop) for one in windows] == [(0, 4), (2, 6), (4, 8), (5, 9)]


def test_words_of_the_size_of_a_window() -> None:
    windows = cut(Line.of([4, 4, 0, 4]), 0, 4, 4)
    assert [one.owned for one in windows] == [(0,), (1,), (3,)]


def test_a_line_may_begin_before_the_sentence() -> None:
    line = Line.of([3, *([1] * 6), 2])
    assert [(one.start, one.stop) for one in cut(line, 1, 7, 4)] == [(1, 5), (3, 7)]


def test_a_file_of_one_endless_sentence() -> None:
    windows = cut(Line.of([1] * 60_000), 0, 60_000, 126)
    assert sorted(word for one in windows for word in one.owned) == list(range(60_000))


SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=60)


@settings(max_examples=300, deadline=None)
@given(sizes=SIZES, room=st.integers(5, 20), before=st.integers(0, 3), after=st.integers(0, 3))
def test_no_word_is_lost(sizes: list[int], room: int, before: int, after: int) -> None:
    line = Line.of([2] * before + sizes + [2] * after)
    start, stop = before, before + len(sizes)
    windows = cut(line, start, stop, room)
    assert all(start <= one.start <= one.stop <= stop for one in windows)
    assert all(line.tokens(one.start, one.stop) <= room for one in windows)
    assert all(one.start <= word < one.stop for one in windows for word in one.owned)
    owned = [word for one in windows for word in one.owned]
    with_tokens = [start + at for at, size in enumerate(sizes) if size]
    assert sorted(owned) == with_tokens
    assert len(windows) == 1 or all(one.owned for one in windows)
    # Each word is where its poorer side is richest among all windows that hold it.
    poorer = lambda word, one: min(  # noqa: E731
        line.tokens(one.start, word), line.tokens(word + 1, one.stop)
    )
    for one in windows:
        for word in one.owned:
            assert poorer(word, one) == max(
                poorer(word, other) for other in windows if other.start <= word < other.stop
            )
    assert all(a.start <= b.start and a.stop <= b.stop for a, b in pairwise(windows))


def test_context_is_even() -> None:
    line = Line.of([1] * 20)
    assert widen(line, 9, 11, 0, 20, 8) == (6, 14)
    assert widen(line, 9, 11, 0, 20, 7) == (7, 14)


def test_a_side_that_ends_leaves_its_share_to_the_other() -> None:
    line = Line.of([1] * 20)
    assert widen(line, 1, 3, 0, 20, 8) == (0, 8)
    assert widen(line, 17, 19, 0, 20, 8) == (12, 20)
    assert widen(line, 9, 11, 8, 12, 8) == (8, 12)


def test_context_is_whole_words() -> None:
    line = Line.of([1, 3, 2, 1, 3, 1])
    assert widen(line, 2, 3, 0, 6, 6) == (2, 4)


@settings(max_examples=300, deadline=None)
@given(sizes=SIZES, room=st.integers(5, 40), numbers=st.tuples(*[st.integers(0, 60)] * 4))
def test_context_fits(sizes: list[int], room: int, numbers: tuple[int, int, int, int]) -> None:
    low, start, stop, high = sorted(min(one, len(sizes)) for one in numbers)
    line = Line.of(sizes)
    if line.tokens(start, stop) > room:
        return
    first, last = widen(line, start, stop, low, high, room)
    assert low <= first <= start <= stop <= last <= high
    assert line.tokens(first, last) <= room
    if line.tokens(low, high) <= room:
        assert line.tokens(first, last) == line.tokens(low, high)
