"""From the bytes of a file to text."""

from __future__ import annotations

import codecs
from pathlib import Path

from bertsmith.common.errors import InputError, SettingsError

_NULS = 10  # of as many characters, one that is NUL is too much for a text
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: Path, encoding: str) -> str:
    """The text of a file without its byte order mark.

    A file that begins with the mark of UTF-8 is UTF-8, whatever ``encoding`` says.

    Args:
        path: the file.
        encoding: a name that Python's codecs know.

    Raises:
        InputError: the file can not be read, is empty, or is not in this encoding: names the byte.
        SettingsError: there is no such encoding.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"the file can not be read: {error.strerror}", file=path) from None
    text = decode(raw, encoding, path)
    if not text.strip():
        raise InputError("the file is empty", file=path)
    return text


def decode(raw: bytes, encoding: str, path: Path | str, flag: str = "--encoding") -> str:
    """The text of the bytes of a file without its byte order mark, as :func:`read_text`.

    Args:
        raw: the bytes.
        encoding: a name that Python's codecs know.
        path: the file, for messages.
        flag: what gives the encoding, for messages; empty where there is no such flag.

    Raises:
        InputError: the bytes are not in this encoding: names the first; or much of the text is
            NUL characters, as in UTF-16 that is taken for another encoding.
        SettingsError: there is no such encoding.
    """
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise SettingsError(
            "there is no encoding of that name", value=encoding, mend="for example utf-8, latin-1"
        ) from None
    marked = raw.startswith(codecs.BOM_UTF8)
    body = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = body.decode("utf-8" if marked else name).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        at = error.start + len(raw) - len(body)
        raise InputError(
            f"byte {at} is not {'utf-8' if marked else encoding}", file=path,
            line=raw[:at].count(b"\n") + 1, value=raw[at : at + 4],
            mend=_mend(raw, marked, flag),
        ) from None  # fmt: skip
    except (UnicodeError, LookupError) as error:
        raise InputError(f"the file can not be decoded: {error}", file=path) from None
    if text.count("\0") * _NULS > len(text):
        raise InputError(
            f"a share of {text.count(chr(0)) / len(text):.0%} of the characters is NUL: the file "
            f"is not text, or not {encoding}",
            file=path,
            mend=f"for UTF-16 give {flag} utf-16-le or utf-16-be" if flag else "write it as UTF-8",
        )
    return text


def _mend(raw: bytes, marked: bool, flag: str) -> str:
    if not flag:
        return "write it as UTF-8"
    if marked:
        return "the file begins with the mark of UTF-8: mend these bytes"
    wide = raw.startswith(_WIDE_MARKS)
    named = "utf-16" if wide else "latin-1, for instance"
    return f"say how the file is encoded, with {flag} {named}"
