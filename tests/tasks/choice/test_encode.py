from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bertsmith.tasks.choice.encode import encode_choices, fit
from bertsmith.tasks.choice.examples import ChoiceExample
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

HELLO, WORLD = 5, 6


def tokenizer() -> Tokenizer:
    return Tokenizer([*SPECIAL, "hello", "world", "mask", "sep", "[", "]", "cls"])


def test_control_tokens_in_the_text_are_text() -> None:
    """Case T08: exactly two [SEP] and no [MASK] in a sequence, whatever the choices say."""
    example = ChoiceExample("0", "hello [SEP] world", ("[MASK] hello", "[CLS]"))
    [sequences], counts = encode_choices([example], tokenizer(), 128)
    assert sequences[0] == ([2, 5, 9, 8, 10, 6, 3, 9, 7, 10, 5, 3], [0] * 7 + [1] * 5)
    assert sequences[1] == ([2, 5, 9, 8, 10, 6, 3, 9, 11, 10, 3], [0] * 7 + [1] * 4)
    assert not counts


def test_the_start_stands_before_each_choice() -> None:
    example = ChoiceExample("0", "sep", ("hello", "world"), "mask")
    [sequences], _ = encode_choices([example], tokenizer(), 128)
    assert [ids for ids, _ in sequences] == [[2, 8, 3, 7, 5, 3], [2, 8, 3, 7, 6, 3]]


def test_equal_choices_are_counted() -> None:
    example = ChoiceExample("0", "sep", ("hello", "HELLO ", "world"))
    _, counts = encode_choices([example], tokenizer(), 128)
    assert counts == {"examples with equal choices": 1}


def test_empty_texts_are_counted() -> None:
    examples = [
        ChoiceExample("0", " ", ("hello", "world")), ChoiceExample("1", "sep", ("hello", "\t")),
        ChoiceExample("2", "sep", ("hello", "world")),
    ]  # fmt: skip
    assert encode_choices(examples, tokenizer(), 128)[1] == {"examples with an empty text": 2}


def test_the_context_loses_its_front() -> None:
    context, seconds, counts = fit([1, 2, 3, 4], [[7, 8, 9], [7, 5]], 5)
    assert (context, seconds) == ([3, 4], [[7, 8, 9], [7, 5]])
    assert counts == {"truncated examples": 1, "tokens cut": 2}


def test_a_long_common_beginning_loses_its_front() -> None:
    context, seconds, counts = fit([1], [[4, 5, 6, 7, 8], [4, 5, 6, 9]], 4)
    assert (context, seconds) == ([1], [[6, 7, 8], [6, 9]])
    assert counts == {"truncated examples": 1, "tokens cut": 4}


def test_choices_that_do_not_fit_alone_are_cut_alike() -> None:
    context, seconds, counts = fit([1], [[4, 5, 6, 7], [8, 9], [5, 5, 5, 5, 5]], 3)
    assert (context, seconds) == ([], [[4, 5, 6], [8, 9], [5, 5, 5]])
    assert counts == {"truncated examples": 1, "tokens cut": 4, "endings cut": 2}


IDS = st.lists(st.integers(5, 8), max_size=12)


@settings(max_examples=200, deadline=None)
@given(
    context=IDS, start=IDS, endings=st.lists(IDS, min_size=2, max_size=4), room=st.integers(5, 30)
)
def test_what_tells_choices_apart_stays(
    context: list[int], start: list[int], endings: list[list[int]], room: int
) -> None:
    seconds = [start + one for one in endings]
    kept, cut, counts = fit(context, seconds, room)
    assert all(len(kept) + len(one) <= room for one in cut)
    assert kept == context[len(context) - len(kept) :]
    common = min(
        (next((at for at, (a, b) in enumerate(zip(seconds[0], one, strict=False)) if a != b),
              min(len(seconds[0]), len(one))) for one in seconds[1:]),
    )  # fmt: skip
    tails = [one[common:] for one in seconds]
    if max(map(len, tails)) <= room:
        assert "endings cut" not in counts
        # Each keeps all after the common beginning, and the same piece of that.
        left = {tuple(got[: len(got) - len(tail)]) for got, tail in zip(cut, tails, strict=True)}
        assert [got[len(got) - len(tail) :] for got, tail in zip(cut, tails, strict=True)] == tails
        assert len(left) == 1
        [beginning] = left
        assert list(beginning) == seconds[0][common - len(beginning) : common]
    else:
        assert cut == [tail[:room] for tail in tails]
        assert counts["endings cut"] == sum(len(tail) > room for tail in tails)
    if len(context) + max(map(len, seconds)) <= room:
        assert (kept, cut) == (context, seconds)
        assert not counts
    else:
        assert counts["truncated examples"] == 1
        assert len(kept) + max(map(len, cut)) == room
        before, after = (len(a) + sum(map(len, b)) for a, b in ((context, seconds), (kept, cut)))
        assert counts["tokens cut"] == before - after


def test_of_two_as_long_the_context_loses_first() -> None:
    context, seconds, _ = fit([1, 2], [[4, 5, 6], [4, 5, 7]], 4)
    assert (context, seconds) == ([2], [[4, 5, 6], [4, 5, 7]])
