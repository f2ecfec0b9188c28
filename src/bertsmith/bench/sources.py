"""The text that corpora are made of."""

from __future__ import annotations

from pathlib import Path

from bertsmith.bench.models import published
from bertsmith.bench.texts import made_sentences
from bertsmith.common.errors import InputError


def source(folder: Path, text: str | None, megabytes: float) -> Path:
    """The file that is given, or one of made sentences of the published encoder's words.

    Raises:
        InputError: there is no such file.
    """
    if text is not None:
        if not Path(text).is_file():
            raise InputError("there is no such text file", file=text)
        return Path(text)
    pieces = (published() / "vocab.txt").read_text("utf-8").split("\n")
    words = [piece for piece in pieces if piece.isascii() and piece.isalpha() and len(piece) > 1]
    file = folder / "text.txt"
    file.write_text(made_sentences(words, megabytes), "utf-8")
    return file
