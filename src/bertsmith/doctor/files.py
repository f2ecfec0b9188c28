"""The files of a tokenizer as they stand, each read for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import InputError
from bertsmith.common.files import read_small
from bertsmith.doctor.chart import Chart

VOCABULARY, TOKENIZER, SETTINGS = "vocab.txt", "tokenizer.json", "tokenizer_config.json"


@dataclass(frozen=True)
class TokenizerFiles:
    """What each file says; None for a file that is not there or can not be read.

    Attributes:
        lines: the lines of ``vocab.txt``.
        entries: piece -> id in ``tokenizer.json``.
        tokenizer: the content of ``tokenizer.json``.
        settings: the content of ``tokenizer_config.json``.
    """

    lines: list[str] | None
    entries: dict[str, int] | None
    tokenizer: Mapping[str, Any] | None
    settings: Mapping[str, Any] | None

    @property
    def pieces(self) -> list[str]:
        """The vocabulary in the order of the ids, from the file that counts first."""
        if self.entries is not None:
            return sorted(self.entries, key=self.entries.__getitem__)
        return self.lines or []

    @property
    def source(self) -> str:
        """The file that ``pieces`` is from."""
        return VOCABULARY if self.entries is None else TOKENIZER


def read_files(folder: Path, chart: Chart) -> TokenizerFiles:
    """Read the files of ``folder``; one that can not be read is a finding."""
    tokenizer = chart.attempt(_read_json, folder / TOKENIZER)
    return TokenizerFiles(
        lines=chart.attempt(_read_lines, folder / VOCABULARY),
        entries=None if tokenizer is None else chart.attempt(_entries, tokenizer, folder),
        tokenizer=tokenizer,
        settings=chart.attempt(_read_json, folder / SETTINGS),
    )


def _read_lines(file: Path) -> list[str] | None:
    if not file.exists():
        return None
    try:
        text = read_small(file).decode("utf-8")
    except OSError as error:
        raise InputError(f"the vocabulary can not be read: {error.strerror}", file=file) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} of the vocabulary is not UTF-8", file=file) from None
    # Only \n ends a line, as in text/vocabulary.py.
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _read_json(file: Path) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        raw = strict_json.read(file)
    except (ValueError, OSError) as error:
        raise InputError(f"the file can not be read: {error}", file=file) from None
    if not isinstance(raw, dict):
        raise InputError("the file is not a JSON object", file=file)
    return raw


def _entries(tokenizer: Mapping[str, Any], folder: Path) -> dict[str, int]:
    model = tokenizer.get("model")
    entries = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(entries, dict) or not all(isinstance(one, int) for one in entries.values()):
        raise InputError("the file has no vocabulary of a WordPiece", file=folder / TOKENIZER)
    return entries
