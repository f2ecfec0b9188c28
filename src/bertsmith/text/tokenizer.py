"""WordPiece tokenization as in the 2018 ``tokenization.py``, by the ``tokenizers`` library."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from bertsmith.common.errors import InputError
from bertsmith.common.files import atomic_path, write_json
from bertsmith.text.surrogates import clean, has_surrogates, without_surrogates
from bertsmith.text.tokenizer_files import PREFIX, read_tokenizer
from bertsmith.text.vocabulary import (
    CLS,
    MASK,
    PAD,
    SEP,
    SPECIAL,
    UNK,
    check_vocabulary,
    read_vocabulary,
    write_vocabulary,
)

_CONTROL = re.compile("|".join(re.escape(token) for token in SPECIAL))
_LONGEST = 1000  # BERT has 100, the 2018 code 200; the time for a word grows with its cube


@dataclass(frozen=True)
class SpecialIds:
    """Ids of the special tokens."""

    pad: int
    unk: int
    cls: int
    sep: int
    mask: int


@dataclass(frozen=True)
class Encoding:
    """A text as pieces, without special tokens around it.

    Attributes:
        ids: id of each piece.
        offsets: first character and character after the last of each piece, in Python characters.
        tokens: each piece as it stands in the vocabulary.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]
    tokens: list[str]


class Tokenizer:
    """A BERT tokenizer: cleaning, words, then the longest pieces of the vocabulary.

    In text, ``[SEP]`` and ``[MASK]`` are characters like any others; see :meth:`encode`.

    Args:
        tokens: the vocabulary in the order of the ids.
        lowercase: lower-case the text ("uncased").
        strip_accents: remove accents; None for what ``lowercase`` says.
        chinese_chars: make every Chinese character a word of its own.
        longest_word: characters above which a word is ``[UNK]``.
        foreign: strings that another program took out of a text before all else ("added tokens").
            They are not honoured here, and are kept only so that this can be said.

    Raises:
        InputError: a piece stands twice, a special token is missing, ``longest_word`` is odd.
    """

    def __init__(
        self,
        tokens: Sequence[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        chinese_chars: bool = True,
        longest_word: int = 100,
        foreign: Sequence[str] = (),
    ) -> None:
        check_vocabulary(tokens)
        if not 1 <= longest_word <= _LONGEST:
            raise InputError(f"a word has 1 to {_LONGEST:,} characters", value=longest_word)
        self.foreign = tuple(foreign)
        self.tokens = list(tokens)
        self.lowercase, self.strip_accents = lowercase, strip_accents
        self.chinese_chars, self.longest_word = chinese_chars, longest_word
        self._id_of = {token: number for number, token in enumerate(self.tokens)}
        self.ids = SpecialIds(*(self._id_of[token] for token in SPECIAL))
        self.special_ids = frozenset(self._id_of[token] for token in SPECIAL)
        self._inner = tokenizers.Tokenizer(
            models.WordPiece(
                self._id_of,
                unk_token=UNK,
                continuing_subword_prefix=PREFIX,
                max_input_chars_per_word=longest_word,
            )
        )
        prepare(self._inner, lowercase, strip_accents, chinese_chars)

    @classmethod
    def from_vocab_file(cls, path: Path, lowercase: bool = True, **options: Any) -> Tokenizer:
        """The tokenizer of a ``vocab.txt``; ``options`` as in the class."""
        return cls(read_vocabulary(path), lowercase, **options)

    @classmethod
    def load(cls, path: Path, **otherwise: Any) -> Tokenizer:
        """A tokenizer from a folder, a ``tokenizer.json`` or a ``vocab.txt``.

        Of a folder, ``tokenizer.json`` comes first. Settings come from the
        ``tokenizer_config.json`` beside the file, then from ``tokenizer.json``. Where nothing says
        so, a tokenizer is lower-casing if the vocabulary has no capital letter.

        Args:
            path: folder or file.
            otherwise: settings for a ``vocab.txt`` that has no ``tokenizer_config.json``.

        Raises:
            InputError: nothing is there, or it is not a BERT tokenizer.
        """
        path = Path(path)
        if path.is_dir():
            names = [name for name in ("tokenizer.json", "vocab.txt") if (path / name).exists()]
            if not names:
                raise InputError(
                    "the folder has no tokenizer.json and no vocab.txt", file=path,
                    mend="copy the vocab.txt of the pre-trained model there; bertsmith convert "
                    "also takes it as --vocab",
                )  # fmt: skip
            path = path / names[0]
        if not path.exists():
            raise InputError("there is no such tokenizer file", file=path)
        found = read_tokenizer(path, otherwise)
        try:
            return cls(**found)
        except InputError as error:  # which does not know of the file
            raise InputError(
                error.message, file=path, line=error.line, value=error.value, mend=error.mend
            ) from None

    @property
    def size(self) -> int:
        """Pieces in the vocabulary."""
        return len(self.tokens)

    @cached_property
    def is_continuation(self) -> np.ndarray:
        """``[size]``, True for pieces that continue a word."""
        return np.array([token.startswith(PREFIX) for token in self.tokens])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides the ids of a text."""
        options = [self.lowercase, self.strip_accents, self.chinese_chars, self.longest_word]
        text = json.dumps([options, self.tokens])
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @property
    def known(self) -> Mapping[str, int]:
        """Every piece with its id."""
        return self._id_of

    def words(self, text: str) -> list[str]:
        """The words of ``text`` as the vocabulary is searched for them: cleaned and split."""
        inner = self._inner
        cleaned = inner.normalizer.normalize_str(clean(text))
        return [word for word, _ in inner.pre_tokenizer.pre_tokenize_str(cleaned)]

    def encode(self, text: str, blanks: bool = False) -> Encoding:
        """The pieces of ``text`` with their places in it.

        Args:
            text: any string, lone surrogates included.
            blanks: take ``[MASK]`` and the other control tokens, spelled exactly so, for control
                tokens. For text that someone wrote for this purpose, never for data.
        """
        result = Encoding([], [], [])
        at = 0
        for match in _CONTROL.finditer(text) if blanks else ():
            self._encode_into(result, text[at : match.start()], at)
            result.ids.append(self._id_of[match.group()])
            result.offsets.append(match.span())
            result.tokens.append(match.group())
            at = match.end()
        self._encode_into(result, text[at:], at)
        return result

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of many texts; in parallel, where the library's own threads are not turned off."""
        found = self._inner.encode_batch_fast(
            [clean(text) for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in found]

    def decode(self, ids: Sequence[int]) -> str:
        """Text for people: pieces joined to words, words joined by spaces."""
        words: list[str] = []
        for number in ids:
            token = self.tokens[number]
            if token.startswith(PREFIX) and words:
                words[-1] += token[len(PREFIX) :]
            else:
                words.append(token)
        return re.sub(r" ([.,;:!?%)\]}])", r"\1", " ".join(words))

    def save(self, folder: Path, max_length: int = 512) -> None:
        """Write ``tokenizer.json``, ``vocab.txt`` and ``tokenizer_config.json``.

        Args:
            folder: where to.
            max_length: positions of the model beside it, for other programs.
        """
        full = tokenizers.Tokenizer.from_str(self._inner.to_str())
        full.add_special_tokens([tokenizers.AddedToken(token, special=True) for token in SPECIAL])
        full.post_processor = processors.BertProcessing((SEP, self.ids.sep), (CLS, self.ids.cls))
        full.decoder = decoders.WordPiece(prefix=PREFIX)
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder / "tokenizer.json") as part:
            part.write_text(full.to_str(pretty=True), encoding="utf-8")
        write_vocabulary(folder / "vocab.txt", self.tokens)
        write_json(
            folder / "tokenizer_config.json",
            {
                # transformers' BertTokenizer knows no other longest word than 100.
                "tokenizer_class": (
                    "BertTokenizer" if self.longest_word == 100 else "PreTrainedTokenizerFast"
                ),
                "do_lower_case": self.lowercase,
                "strip_accents": self.strip_accents,
                "tokenize_chinese_chars": self.chinese_chars,
                "max_input_chars_per_word": self.longest_word,
                "model_max_length": max_length,
                "pad_token": PAD,
                "unk_token": UNK,
                "cls_token": CLS,
                "sep_token": SEP,
                "mask_token": MASK,
            },
        )

    def _encode_into(self, result: Encoding, text: str, shift: int) -> None:
        places: Sequence[int] = range(len(text) + 1)
        original = text
        if has_surrogates(text):
            text, places = without_surrogates(text)
        found = self._inner.encode(text, add_special_tokens=False)
        result.ids.extend(found.ids)
        result.tokens.extend(found.tokens)
        stripped = self.lowercase if self.strip_accents is None else self.strip_accents
        for start, stop in found.offsets:
            first, last = places[start], places[stop]
            # A slice of the text is to be whole: the accents that were removed belong to it.
            while stripped and last < len(original) and _is_accent(original[last]):
                last += 1
            result.offsets.append((first + shift, last + shift))


def _is_accent(char: str) -> bool:
    return unicodedata.category(char) == "Mn"


def prepare(
    inner: tokenizers.Tokenizer, lowercase: bool, strip_accents: bool | None, chinese_chars: bool
) -> None:
    """Give a tokenizer of the library BERT's cleaning and word splitting."""
    inner.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=chinese_chars,
        strip_accents=strip_accents,
        lowercase=lowercase,
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
