"""Training a WordPiece vocabulary from text, the same one every time.

The library numbers the pieces that continue a word in the order of a hash table, and breaks ties
between equally frequent pairs by those numbers, so that two runs on one text give two vocabularies.
Here the single characters, with and without ``##``, are counted and numbered beforehand; what is
left to the library is exact counting and merging, which does not depend on any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from bertsmith.common.errors import InputError
from bertsmith.text.surrogates import clean
from bertsmith.text.tokenizer import Tokenizer, prepare
from bertsmith.text.tokenizer_files import PREFIX
from bertsmith.text.vocabulary import SPECIAL, UNK

# Of the vocabulary, at most, goes to characters that join into words (each counts twice: at the
# start of a word and after it), and to those that always stand alone, as Chinese ones do.
_JOINING_SHARE, _ALONE_SHARE = 0.3, 0.6


class Alphabet:
    """Counts the characters of a text as the tokenizer will see them.

    The characters of the text are counted as they are, and what the tokenizer makes of each is
    asked once: its cleaning does not look at a character's neighbours.

    Args:
        lowercase: as in :class:`Tokenizer`.
        strip_accents: as in :class:`Tokenizer`.
    """

    def __init__(self, lowercase: bool, strip_accents: bool | None) -> None:
        self._normalizer = normalizers.BertNormalizer(
            lowercase=lowercase, strip_accents=strip_accents
        )
        self._words = pre_tokenizers.BertPreTokenizer()
        self._counts: Counter[str] = Counter()
        self._inside: set[str] = set()  # characters of the text seen inside a word
        self._cleaned: dict[str, str] = {}
        self._joins: dict[str, bool] = {}

    def add(self, text: str) -> None:
        """Count the characters of ``text``."""
        text = clean(text)
        counts = Counter(text)
        self._counts.update(counts)
        for char in counts.keys() - self._inside:
            first = self._clean(char)[:1]
            if first and self._can_join(first) and self._stands_inside(char, text):
                self._inside.add(char)

    def pieces(self, vocabulary_size: int, min_frequency: int = 1) -> list[str]:
        """The single characters that belong in a vocabulary, then those with ``##``.

        The most frequent ones, as many as there is room for, ties in code-point order.
        """
        counts, inside = self._after_cleaning()
        joining, alone = _JOINING_SHARE * vocabulary_size, _ALONE_SHARE * vocabulary_size
        chosen: list[str] = []
        for char, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if count < min_frequency:
                continue
            if self._can_join(char):
                joining -= 1 + (char in inside)
            else:
                alone -= 1
            if (joining if self._can_join(char) else alone) >= 0:
                chosen.append(char)
        return chosen + [PREFIX + char for char in chosen if char in inside]

    def _after_cleaning(self) -> tuple[Counter[str], set[str]]:
        counts: Counter[str] = Counter()
        inside: set[str] = set()
        for raw, count in self._counts.items():
            cleaned = self._clean(raw)
            for at, char in enumerate(cleaned):
                counts[char] += count
                before = self._can_join(cleaned[at - 1]) if at else raw in self._inside
                if before and self._can_join(char):
                    inside.add(char)
        return counts, inside

    def _clean(self, char: str) -> str:
        if char not in self._cleaned:
            self._cleaned[char] = self._normalizer.normalize_str(char).strip()
        return self._cleaned[char]

    def _can_join(self, char: str) -> bool:
        """Whether the tokenizer ever leaves the (cleaned) ``char`` and a letter in one word."""
        if char not in self._joins:
            around = self._normalizer.normalize_str(f"x{char}x")
            words = self._words.pre_tokenize_str(around)
            self._joins[char] = len(words) == 1 and len(around) > 2
        return self._joins[char]

    def _stands_inside(self, char: str, text: str) -> bool:
        at = text.find(char, 1)
        while at > 0:
            before = at - 1
            while before > 0 and not self._clean(text[before]) and not text[before].isspace():
                before -= 1  # characters that are removed leave no gap
            last = self._clean(text[before])[-1:]
            if last and self._can_join(last):
                return True
            at = text.find(char, at + 1)
        return False


def train_wordpiece(
    texts: Iterable[str],
    size: int,
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    min_frequency: int = 2,
    alphabet: Alphabet | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tokenizer:
    """A vocabulary of at most ``size`` pieces, the special tokens at 0-4.

    The same text, in whatever order and pieces, gives the same vocabulary. Memory grows with the
    number of distinct words of the text.

    Args:
        texts: the text, in any pieces (a word must not be cut). Where there is no ``alphabet`` it
            is held in memory, else it is read once.
        size: pieces wanted; fewer where the text does not give that many.
        lowercase: as in :class:`Tokenizer`.
        strip_accents: as in :class:`Tokenizer`.
        min_frequency: characters and pairs that are rarer become no pieces.
        alphabet: the characters of the text, counted before with the same settings.
        progress: called with the number of characters of each text read.

    Raises:
        InputError: there is no text, or ``size`` has no room for its characters.
    """
    if alphabet is None:
        texts = list(texts)
        alphabet = Alphabet(lowercase, strip_accents)
        for text in texts:
            alphabet.add(text)
    characters = alphabet.pieces(size, min_frequency)
    if not characters:
        raise InputError(f"there is no character that occurs {min_frequency} times in the text")
    known = [*SPECIAL, *(piece for piece in characters if piece not in SPECIAL)]
    inner = tokenizers.Tokenizer(models.WordPiece({UNK: 0}, unk_token=UNK))
    prepare(inner, lowercase, strip_accents, chinese_chars=True)
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        special_tokens=known,
        limit_alphabet=0,
        show_progress=False,
    )
    inner.train_from_iterator(_reported(texts, progress), trainer)
    by_id = sorted(inner.get_vocab().items(), key=lambda item: item[1])
    return Tokenizer([token for token, _ in by_id], lowercase, strip_accents)


def _reported(texts: Iterable[str], progress: Callable[[int], None] | None) -> Iterator[str]:
    for text in texts:
        yield clean(text)
        if progress:
            progress(len(text))
