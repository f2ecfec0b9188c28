"""Sentence boundaries, by language, found by ``sentencex``."""

from __future__ import annotations

import sentencex


def split_sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a paragraph, without the white space around them; none is empty."""
    found = (sentence.strip() for sentence in sentencex.segment(language, text))
    return [sentence for sentence in found if sentence]
