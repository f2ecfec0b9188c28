"""The tokenizer of a corpus: given by the user, trained before by this build, or trained now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bertsmith.common import strict_json
from bertsmith.common.console import note
from bertsmith.common.errors import InputError
from bertsmith.common.files import write_json
from bertsmith.common.settings import require
from bertsmith.corpus import folder
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source
from bertsmith.corpus.survey import Survey, shown, survey
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.trainer import Alphabet, train_wordpiece


@dataclass(frozen=True)
class Prepared:
    """What the encoding needs.

    Attributes:
        survey: what is known of all documents.
        tokenizer: the tokenizer, saved in the corpus.
        sample_share: share of the text that it was trained on; 0 where it was given.
    """

    survey: Survey
    tokenizer: Tokenizer
    sample_share: float


def given_tokenizer(settings: CorpusSettings) -> Tokenizer | None:
    """The tokenizer that the user names, or None.

    What a bare ``vocab.txt`` does not say (accents, and whether it is cased if it has no capital
    letter) comes from the settings.

    Raises:
        InputError: it can not be read.
        SettingsError: it lower-cases, and the settings say ``cased``.
    """
    if not settings.vocab:
        return None
    said = {"lowercase": False} if settings.cased else {}
    tokenizer = Tokenizer.load(Path(settings.vocab), strip_accents=settings.strips_accents, **said)
    require(
        not (settings.cased and tokenizer.lowercase),
        "--cased contradicts the vocabulary's own settings, which say that it is lower-cased",
        value=settings.vocab,
    )
    return tokenizer


def prepare(
    sources: list[Source],
    out: Path,
    settings: CorpusSettings,
    given: Tokenizer | None,
    key: str,
) -> Prepared:
    """Survey the inputs and save the tokenizer in the corpus.

    Args:
        sources: the inputs.
        out: the corpus folder.
        settings: the settings in force.
        given: the user's tokenizer, if any.
        key: hash of inputs and settings; a tokenizer trained for the same key is used again.
    """
    ready = given or _trained_before(out, key)
    alphabet = None if ready else Alphabet(not settings.cased, settings.strips_accents)
    # Files may be compressed, so this share of their bytes is at least that of the text.
    rate = settings.vocab_sample_mb * 1e6 / max(1, sum(source.size for source in sources))
    found = survey(sources, settings, rate, alphabet)
    if not found.documents:
        raise InputError(
            "the inputs hold no text",
            file=sources[0].url,
            mend="see --format, --encoding and --text-column",
        )
    rate = 0.0 if given else min(1.0, settings.vocab_sample_mb * 1e6 / max(1, found.size))
    if ready is None:
        note(f"training a vocabulary of {settings.vocab_size:,} pieces")
        ready = train_wordpiece(
            _sample(sources, settings, found, rate),
            settings.vocab_size,
            lowercase=not settings.cased,
            strip_accents=settings.strips_accents,
            min_frequency=settings.min_frequency,
            alphabet=alphabet,
        )
    ready.save(out / folder.TOKENIZER)
    write_json(out / folder.VOCABULARY, {"key": key, "digest": ready.digest})
    return Prepared(found, ready, rate)


def _trained_before(out: Path, key: str) -> Tokenizer | None:
    try:
        record = strict_json.loads((out / folder.VOCABULARY).read_text("utf-8"))
        if record["key"] != key:
            return None
        tokenizer = Tokenizer.load(out / folder.TOKENIZER)
        return tokenizer if tokenizer.digest == record["digest"] else None
    except (OSError, ValueError, KeyError, TypeError, InputError):
        return None


def _sample(
    sources: list[Source], settings: CorpusSettings, found: Survey, rate: float
) -> Iterator[str]:
    for document in shown(sources, settings, "vocabulary"):
        if document.place >= found.held_out_below:
            yield from document.sampled(rate)
