"""How a tokenizer fares on a text."""

from __future__ import annotations

from collections.abc import Sequence

from bertsmith.text.tokenizer import Tokenizer


def count_tokens(tokenizer: Tokenizer, lines: Sequence[str]) -> dict[str, float]:
    """Words (split at spaces and punctuation), tokens, tokens a word, and unknown tokens."""
    words = tokens = unknown = 0
    for line in lines:
        words += len(tokenizer.words(line))
    for ids in tokenizer.encode_ids(list(lines)):
        tokens += len(ids)
        unknown += ids.count(tokenizer.ids.unk)
    return {
        "words": words,
        "tokens": tokens,
        "tokens_a_word": tokens / max(1, words),
        "unknown": unknown,
    }
