"""Upper case and accents: what each file of a tokenizer says of them, and the vocabulary itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, some
from bertsmith.doctor.files import SETTINGS, TOKENIZER, TokenizerFiles
from bertsmith.text.tokenizer import Tokenizer

# bert-base-cased has capitals in 29 % of its entries and accents in 2 %, the multilingual one 16 %
# each; the lower-cased ones have none, but for <S> and <T> of the Chinese one, 0.01 %.
_SOME = 0.005
# Below this share of letters that have a capital form (the Chinese vocabulary: a third), a
# vocabulary without capitals says nothing about case.
_LETTERS = 0.5


@dataclass(frozen=True)
class Casing:
    """What a file says the tokenizer does; None where it says nothing."""

    lowercase: bool | None
    strip_accents: bool | None

    def __str__(self) -> str:
        words = {None: "says nothing", True: "lower-cases", False: "keeps upper case"}
        text = words[self.lowercase]
        if self.strip_accents is not None:
            text += ", removes accents" if self.strip_accents else ", keeps accents"
        return text


@dataclass(frozen=True)
class _Shares:
    """Shares of a vocabulary's entries with a capital, an accent, letters that have case."""

    capitals: float
    accents: float
    letters: float

    @classmethod
    def of(cls, pieces: Sequence[str]) -> _Shares:
        words = [one for one in pieces if not _is_control(one)]
        total = max(1, len(words))
        cased = sum(one.lower() != one.upper() for one in words)
        capitals, accents = sum(map(_has_capital, words)), sum(map(_has_accent, words))
        return cls(capitals / total, accents / total, cased / total)


def casing(files: TokenizerFiles, tokenizer: Tokenizer | None) -> Observations:
    """What each file says, and where they contradict each other.

    Args:
        files: the tokenizer's files.
        tokenizer: the tokenizer as the commands read it, where they can.
    """
    said = {TOKENIZER: _of_tokenizer(files), SETTINGS: _of_settings(files)}
    known = {name: one for name, one in said.items() if one is not None}
    shares = _Shares.of(files.pieces)
    if tokenizer is not None:
        yield Fact("case", "uncased" if tokenizer.lowercase else "cased", str(_in_force(tokenizer)))
    if files.pieces:
        rows = [f"{name} {one}" for name, one in known.items()]
        rows.append(f"entries with capitals: {shares.capitals:.1%}, accents: {shares.accents:.1%}")
        values = {name: asdict(one) for name, one in known.items()}
        yield Fact("case by file", {**values, "vocabulary": asdict(shares)}, "\n".join(rows))
    if len(known) == 2:
        yield from _contradictions(*known.values())
    if tokenizer is not None:
        yield from _unreachable(files, tokenizer, shares)
        if not tokenizer.lowercase and all(one.lowercase is None for one in known.values()):
            yield Finding(
                Grade.WARNING,
                "no file says that text keeps its upper case: bertsmith goes by the vocabulary's "
                "capitals, transformers lower-cases",
                SETTINGS,
                'write "do_lower_case": false there',
            )


def _unreachable(files: TokenizerFiles, tokenizer: Tokenizer, shares: _Shares) -> Observations:
    """Entries that no text can become, and letters that have no entries."""
    if tokenizer.lowercase and shares.capitals >= _SOME:
        yield Finding(
            Grade.WARNING,
            f"the text is lower-cased, so the {shares.capitals:.1%} of the entries that have "
            f"capitals are never used: {some(one for one in files.pieces if _has_capital(one))}",
            files.source,
            "if a model was trained on cased text, set do_lower_case and the normalizer's "
            "lowercase to false; build a corpus with --cased",
        )
    elif _in_force(tokenizer).strip_accents and shares.accents >= _SOME:
        yield Finding(
            Grade.WARNING,
            f"accents are removed, so the {shares.accents:.1%} of the entries that have some are "
            f"never used: {some(one for one in files.pieces if _has_accent(one))}",
            files.source,
            "if a model was trained with accents, set strip_accents to false; build a corpus with "
            "--strip-accents no",
        )
    if not tokenizer.lowercase and shares.capitals < _SOME and shares.letters >= _LETTERS:
        yield Finding(
            Grade.WARNING,
            "upper case is kept, but the vocabulary has hardly a capital: words with one fall to "
            "pieces or become [UNK]",
            files.source,
            "if a model was trained on lower-cased text, set do_lower_case and the normalizer's "
            "lowercase to true; build a corpus without --cased",
        )


def _in_force(tokenizer: Tokenizer) -> Casing:
    return _casing(tokenizer.lowercase, tokenizer.strip_accents)


def _of_tokenizer(files: TokenizerFiles) -> Casing | None:
    normalizer = (files.tokenizer or {}).get("normalizer")
    if not isinstance(normalizer, dict) or "lowercase" not in normalizer:
        return None
    return _casing(normalizer["lowercase"], normalizer.get("strip_accents"))


def _of_settings(files: TokenizerFiles) -> Casing | None:
    if files.settings is None:
        return None
    return _casing(files.settings.get("do_lower_case"), files.settings.get("strip_accents"))


def _casing(lowercase: object, accents: object) -> Casing:
    """Where nothing is said of accents, they go with upper case (2018 tokenization.py)."""
    lower = None if lowercase is None else bool(lowercase)
    return Casing(lower, lower if accents is None else bool(accents))


def _contradictions(a: Casing, b: Casing) -> Observations:
    mend = "keep what the model was trained with, in both files"
    why = "the ids of a text depend on the program that reads them"
    if None not in (a.lowercase, b.lowercase) and a.lowercase != b.lowercase:
        yield Finding(
            Grade.BROKEN,
            f"{TOKENIZER} {'lower-cases' if a.lowercase else 'keeps upper case'} and {SETTINGS} "
            f"{'lower-cases' if b.lowercase else 'keeps upper case'}: {why}",
            SETTINGS, mend,
        )  # fmt: skip
    elif None not in (a.strip_accents, b.strip_accents) and a.strip_accents != b.strip_accents:
        yield Finding(
            Grade.BROKEN,
            f"{TOKENIZER} {'removes' if a.strip_accents else 'keeps'} accents and {SETTINGS} "
            f"{'removes' if b.strip_accents else 'keeps'} them: {why}",
            SETTINGS, mend,
        )  # fmt: skip


def _is_control(piece: str) -> bool:
    return piece[:1] == "[" and piece[-1:] == "]"


def _has_capital(piece: str) -> bool:
    return piece != piece.lower() and not _is_control(piece)


def _has_accent(piece: str) -> bool:
    return any(unicodedata.category(one) == "Mn" for one in unicodedata.normalize("NFD", piece))
