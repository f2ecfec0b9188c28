"""Sequences of texts and pairs, and what is cut from them."""

from __future__ import annotations

import random

from bertsmith.tasks.text.encode import encode_texts, truncate
from bertsmith.tasks.text.examples import TextExample
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data

CLS, SEP = 2, 3


def text(count: int, start: int = 0) -> str:
    return " ".join(f"w{n}" for n in range(start, start + count))


def reference(first: list[int], second: list[int], room: int) -> tuple[list[int], list[int]]:
    """The 2018 rule, said again: pop from the longer, on a tie from the second."""
    first, second = list(first), list(second)
    while len(first) + len(second) > room:
        (first if len(first) > len(second) else second).pop()
    return first, second


def test_pairs_are_truncated_as_in_2018() -> None:
    draw = random.Random(0)
    for _ in range(500):
        first = draw.choices(range(100), k=draw.randrange(12))
        second = draw.choices(range(100), k=draw.randrange(12))
        room = draw.randrange(1, 20)
        expected = reference(first, second, room)
        before = len(first) + len(second)
        cut = truncate(first, second, room)
        assert (first, second) == expected
        assert cut == before - len(first) - len(second)


def test_on_a_tie_the_second_text_is_cut() -> None:
    first, second = [1, 2, 3], [4, 5, 6]
    assert truncate(first, second, 5) == 1
    assert (first, second) == ([1, 2, 3], [4, 5])


def test_single_text_is_cut_at_its_end_and_counted(words: Tokenizer) -> None:
    examples = [TextExample("0", text(7)), TextExample("1", text(6)), TextExample("2", "")]
    found, counts = encode_texts(examples, words, 8)
    assert found[0] == ([CLS, 5, 6, 7, 8, 9, 10, SEP], [0] * 8)
    assert found[1] == found[0]
    assert found[2] == ([CLS, SEP], [0, 0])
    assert counts == {
        "truncated examples": 1, "tokens cut": 1, "examples with an empty text": 1
    }  # fmt: skip


def test_empty_texts_are_counted(words: Tokenizer) -> None:
    examples = [
        TextExample("0", " \t"), TextExample("1", text(1), ""), TextExample("2", "", text(1)),
        TextExample("3", text(1), text(1)), TextExample("4", text(2)),
    ]  # fmt: skip
    assert encode_texts(examples, words, 8)[1] == {"examples with an empty text": 3}


def test_pair_segments_and_counts(words: Tokenizer) -> None:
    examples = [TextExample("0", text(2), text(3, 10)), TextExample("1", text(9), text(2, 20))]
    found, counts = encode_texts(examples, words, 10)
    assert found[0] == ([CLS, 5, 6, SEP, 15, 16, 17, SEP], [0, 0, 0, 0, 1, 1, 1, 1])
    assert found[1] == ([CLS, 5, 6, 7, 8, 9, SEP, 25, 26, SEP], [0] * 7 + [1] * 3)
    assert counts == {"truncated examples": 1, "tokens cut": 4}


def test_empty_second_text_leaves_its_sep(words: Tokenizer) -> None:
    """Case G02: a row with an empty second text is a pair all the same."""
    [found], _ = encode_texts([TextExample("0", "w0 w1", "")], words, 8)
    assert found == ([CLS, 5, 6, SEP, SEP], [0, 0, 0, 0, 1])


def test_control_tokens_in_data_are_text(words: Tokenizer) -> None:
    """Case T08: exactly two [SEP] in a pair whose text spells one."""
    [found], _ = encode_texts([TextExample("0", "hello [SEP] w0", "[MASK] hello")], words, 32)
    ids, segments = found
    assert ids[:7] == [CLS, 45, 47, 46, 48, 5, SEP]
    assert (ids.count(SEP), ids.count(4)) == (2, 0)
    assert segments == [0] * 7 + [1] * (len(ids) - 7)


def test_mixed_singles_and_pairs_keep_their_order(words: Tokenizer) -> None:
    examples = [
        TextExample("0", "w0"), TextExample("1", "w1", "w2"), TextExample("2", "w3"),
        TextExample("3", "w4", "w5"),
    ]  # fmt: skip
    found, _ = encode_texts(examples, words, 8)
    assert [ids for ids, _ in found] == [
        [CLS, 5, SEP], [CLS, 6, SEP, 7, SEP], [CLS, 8, SEP], [CLS, 9, SEP, 10, SEP],
    ]  # fmt: skip


def test_more_examples_than_are_tokenized_at_once(words: Tokenizer) -> None:
    examples = [TextExample(str(n), f"w{n % 40}", f"w{n % 7}") for n in range(9000)]
    found, _ = encode_texts(examples, words, 8)
    assert [ids for ids, _ in found] == [
        [CLS, 5 + n % 40, SEP, 5 + n % 7, SEP] for n in range(9000)
    ]


def test_real_vocabulary() -> None:
    tokenizer = Tokenizer.load(data("vocab", "bert-base-uncased", "vocab.txt"))
    [(ids, segments)], counts = encode_texts(
        [TextExample("0", "Hello, world!", "Good-bye.")], tokenizer, 128
    )
    tokens = " ".join(tokenizer.tokens[one] for one in ids)
    assert tokens == "[CLS] hello , world ! [SEP] good - bye . [SEP]"
    assert segments == [0] * 6 + [1] * 5
    assert not counts
