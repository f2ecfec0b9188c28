"""Training a WordPiece vocabulary from text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import tokenizers
from tokenizers import models, normalizers, trainers

from bertsmith.common.errors import InputError
from bertsmith.text.surrogates import has_surrogates, without_surrogates
from bertsmith.text.tokenizer import Tokenizer, prepare
from bertsmith.text.vocabulary import SPECIAL, UNK

_ALPHABET_SHARE = 0.3  # of the vocabulary, at most, goes to single characters


class Alphabet:
    """Counts the characters of a text as the tokenizer will see them."""

    def __init__(self, lowercase: bool, strip_accents: bool | None) -> None:
        self._normalizer = normalizers.BertNormalizer(
            lowercase=lowercase, strip_accents=strip_accents
        )
        self._counts: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Count the characters of ``text``."""
        self._counts.update(self._normalizer.normalize_str(clean(text)))

    def most_frequent(self, vocabulary_size: int) -> list[str]:
        """The characters that a vocabulary of this size has room for, ties in code-point order."""
        limit = max(1000, int(_ALPHABET_SHARE * vocabulary_size))
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return [char for char, _ in ranked if not char.isspace()][:limit]


def clean(text: str) -> str:
    """``text`` without the surrogates that the library can not take."""
    return without_surrogates(text)[0] if has_surrogates(text) else text


def train_wordpiece(
    texts: Iterable[str],
    size: int,
    alphabet: list[str],
    lowercase: bool = True,
    strip_accents: bool | None = None,
    min_frequency: int = 2,
) -> Tokenizer:
    """A vocabulary of at most ``size`` pieces, the special tokens at 0-4.

    Args:
        texts: the text, in any pieces; it is read once.
        size: pieces wanted; fewer where the text does not give that many.
        alphabet: the characters that become pieces of their own.
        lowercase: as in :class:`Tokenizer`.
        strip_accents: as in :class:`Tokenizer`.
        min_frequency: pairs that are rarer are not merged.

    Raises:
        InputError: ``size`` has no room for the alphabet.
    """
    if size < len(SPECIAL) + len(alphabet):
        raise InputError(
            f"a vocabulary of {size} pieces has no room for the {len(alphabet)} characters of the "
            "text",
            mend=f"give a --vocab-size of {2 * (len(SPECIAL) + len(alphabet))} or more",
        )
    inner = tokenizers.Tokenizer(models.WordPiece({UNK: 0}, unk_token=UNK))
    prepare(inner, lowercase, strip_accents, chinese_chars=True)
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        special_tokens=list(SPECIAL),
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    inner.train_from_iterator((clean(text) for text in texts), trainer)
    by_id = sorted(inner.get_vocab().items(), key=lambda item: item[1])
    return Tokenizer([token for token, _ in by_id], lowercase, strip_accents)
