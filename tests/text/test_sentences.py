import pytest

from bertsmith.text.sentences import split_sentences
from tests.data import data


def test_sentences():
    text = 'Mr. Smith paid $3.50 in the U.S. yesterday.  "Really?" she asked. Yes! '
    assert split_sentences(text) == [
        "Mr. Smith paid $3.50 in the U.S. yesterday.",
        '"Really?" she asked.',
        "Yes!",
    ]
    assert split_sentences("今天好。明天呢？", "zh") == ["今天好。", "明天呢？"]
    assert split_sentences(" \n\t") == []


@pytest.mark.parametrize("language", ["en", "xx", ""])
def test_nothing_but_white_space_is_lost(language):
    for path in sorted(data("pretrain", "udhr").glob("*.txt")):
        text = path.read_text("utf-8")
        assert "".join("".join(split_sentences(text, language)).split()) == "".join(text.split())


def test_lone_surrogates():
    """T10"""
    assert split_sentences("One \ud83d here. Two \ud83c\udf37.") == [
        "One \ufffd here.", "Two \U0001f337.",
    ]  # fmt: skip
