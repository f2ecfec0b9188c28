"""Sentence boundaries, by language, found by ``sentencex``."""

from __future__ import annotations

import sentencex

from bertsmith.text.surrogates import clean


def split_sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a paragraph, without the white space around them; none is empty.

    Nothing but white space is lost. Lone surrogates, which the library can not take, are U+FFFD.

    Args:
        text: a paragraph.
        language: its ISO 639-1 code; one that the library does not know is split by the general
            rules.
    """
    found = (sentence.strip() for sentence in sentencex.segment(language, clean(text)))
    return [sentence for sentence in found if sentence]
