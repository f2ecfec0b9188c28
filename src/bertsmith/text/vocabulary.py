"""Vocabulary files: one piece a line, its number is its id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.common.files import atomic_path, read_small
from bertsmith.text.surrogates import has_surrogates

PAD, UNK, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL = (PAD, UNK, CLS, SEP, MASK)


def read_vocabulary(path: Path) -> list[str]:
    """The pieces of a ``vocab.txt`` in the order of their ids.

    Only ``\\n`` (or ``\\r\\n``) ends a line: the vocabularies of 2018 have pieces that other
    readers take for line ends, such as U+2028.

    Raises:
        InputError: the file is missing, not UTF-8, lacks a special token or has a piece twice.
    """
    try:
        text = read_small(path).decode("utf-8")
    except OSError as error:
        raise InputError(f"the vocabulary can not be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} of the vocabulary is not UTF-8", file=path) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    tokens = [line.removesuffix("\r") for line in lines]
    check_vocabulary(tokens, path)
    return tokens


def check_vocabulary(tokens: Sequence[str], path: Path | None = None) -> None:
    """Raise InputError when a piece stands twice or a special token is missing."""
    first: dict[str, int] = {}
    for line, token in enumerate(tokens, start=1):
        if "\n" in token or token.endswith("\r") or has_surrogates(token):
            raise InputError(
                "a piece has a line end or half a character in it", file=path, line=line,
                value=token, mend="rename it, [unused1] for instance",
            )  # fmt: skip
    for line, token in enumerate(tokens, start=1):
        if token in first:
            raise InputError(
                f"the piece stands on line {first[token]} and again on line {line}",
                file=path,
                line=line,
                value=token,
                mend="every piece needs an id of its own: rename one, [unused1] for instance",
            )
        first[token] = line
    missing = [token for token in SPECIAL if token not in first]
    if missing:
        raise InputError(f"the vocabulary lacks {', '.join(missing)}", file=path)


def has_capitals(tokens: Sequence[str]) -> bool:
    """Whether a piece has a capital letter, markers like ``[unused1]`` and ``<S>`` aside."""
    marks = {("[", "]"), ("<", ">")}
    return any(token != token.lower() for token in tokens if (token[:1], token[-1:]) not in marks)


def write_vocabulary(path: Path, tokens: Sequence[str]) -> None:
    """Write a ``vocab.txt``; reading it gives the same pieces, writing them the same bytes."""
    with atomic_path(path) as part:
        part.write_bytes("".join(token + "\n" for token in tokens).encode("utf-8"))
