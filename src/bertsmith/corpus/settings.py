"""Settings of a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from bertsmith.common.errors import SettingsError
from bertsmith.common.settings import require, require_finite, setting

FORMATS = ("auto", "sentences", "paragraphs", "wrapped", "jsonl", "parquet")
_VOCABULARY, _INPUT, _OUTPUT = "vocabulary", "input", "output"


@dataclass(frozen=True)
class CorpusSettings:
    """Everything that decides the content of a corpus, beside its inputs."""

    vocab_size: int = setting(
        30522, "size of the vocabulary to train", unit="pieces", group=_VOCABULARY
    )
    vocab: str = setting(
        "", "use this vocab.txt, tokenizer.json or folder and train none", unit="path",
        group=_VOCABULARY,
    )  # fmt: skip
    cased: bool = setting(False, "keep upper case", group=_VOCABULARY)
    strip_accents: str = setting(
        "auto", "remove accents; auto: where the text is lower-cased",
        choices=("auto", "yes", "no"), group=_VOCABULARY,
    )  # fmt: skip
    min_frequency: int = setting(
        2, "pairs of pieces that are rarer are not merged", unit="times", group=_VOCABULARY
    )
    vocab_sample_mb: float = setting(
        500.0, "most text to train the vocabulary on, a sample of lines where there is more",
        unit="megabytes", group=_VOCABULARY,
    )  # fmt: skip

    format: str = setting(
        "auto", "of plain text: sentences (one a line, blank line between documents), paragraphs "
        "(one a line), wrapped (hard-wrapped lines); or jsonl, parquet", choices=FORMATS,
        group=_INPUT,
    )  # fmt: skip
    text_column: str = setting("text", "field or column with the text", group=_INPUT)
    language: str = setting(
        "en", "ISO 639-1 code, for sentence boundaries", unit="code", group=_INPUT
    )
    encoding: str = setting("utf-8", "of plain text and JSON Lines", unit="name", group=_INPUT)
    errors: str = setting(
        "strict", "what to do with wrong bytes: stop, replace by U+FFFD, or leave out",
        choices=("strict", "replace", "ignore"), group=_INPUT,
    )  # fmt: skip

    held_out_percent: float = setting(
        1.0, "share of the documents kept for evaluation, chosen by a hash of their text",
        unit="percent", group=_OUTPUT,
    )  # fmt: skip
    deduplicate: bool = setting(False, "drop exact copies of documents", group=_OUTPUT)
    shard_mb: float = setting(8.0, "text that goes into a shard", unit="megabytes", group=_OUTPUT)
    workers: int = setting(
        0, "processes, 0 for one a core; changes nothing but the time", group=_OUTPUT
    )

    def __post_init__(self) -> None:
        require_finite(self)
        require(self.vocab_size >= 100, "vocab_size must be at least 100", value=self.vocab_size)
        require(
            self.min_frequency >= 0, "min_frequency must not be negative", value=self.min_frequency
        )
        require(self.workers >= 0, "workers must not be negative", value=self.workers)
        require(
            self.vocab_sample_mb > 0, "vocab_sample_mb must be above 0", value=self.vocab_sample_mb
        )
        require(
            0 < self.shard_mb <= 1000, "shard_mb must be in (0, 1000]", value=self.shard_mb,
            mend="a shard is encoded in the memory of one process",
        )  # fmt: skip
        require(
            0 <= self.held_out_percent < 100,
            "held_out_percent must be in [0, 100)", value=self.held_out_percent,
        )  # fmt: skip
        try:
            "".encode(self.encoding)  # which refuses codecs from bytes to bytes, as base64
        except (LookupError, ValueError):
            raise SettingsError("there is no such encoding", value=self.encoding) from None

    @property
    def strips_accents(self) -> bool | None:
        """``strip_accents`` as the tokenizer takes it."""
        return {"auto": None, "yes": True, "no": False}[self.strip_accents]
