"""Lines of text from bytes, without ever holding a whole file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from bertsmith.common.errors import InputError

_BLOCK = 1 << 20
_BOM = "\ufeff"
MOST_LINE = 1 << 28  # characters; a longer line is a file of another kind


def read_lines(stream: BinaryIO, name: str, encoding: str, errors: str) -> Iterator[str]:
    r"""Lines without their ends; only ``\n``, ``\r\n`` and ``\r`` end a line.

    Args:
        stream: the bytes.
        name: the file's name, for messages.
        encoding: how the bytes spell characters.
        errors: ``strict``, ``replace`` or ``ignore``.

    Raises:
        InputError: a byte is wrong; the message gives its offset in the (decompressed) file.
    """
    rest: list[str] = []
    held, first, size = "", True, 0
    for text in _decoded(stream, name, encoding, errors):
        text = held + text
        if first and text:
            text, first = text.removeprefix(_BOM), False
        # A \r at the end may be the first half of \r\n.
        held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        head, *lines = text.split("\n")
        rest.append(head)
        size += len(head)
        if size > MOST_LINE:
            raise InputError(f"a line is longer than {MOST_LINE:,} characters", file=name)
        for line in lines:
            yield "".join(rest)
            rest, size = [line], len(line)
    last = "".join(rest)
    if held:
        yield last
        last = ""
    if last:
        yield last


def _decoded(stream: BinaryIO, name: str, encoding: str, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    at, final = 0, False
    while not final:
        try:
            block = stream.read(_BLOCK)
        except OSError as error:
            raise InputError(f"the file can not be read: {error}", file=name) from None
        final = not block
        waiting = len(decoder.getstate()[0])
        try:
            yield decoder.decode(block, final)
        except UnicodeDecodeError as error:
            wrong = at - waiting + error.start
            raise InputError(
                f"the byte at offset {wrong:,} (0x{error.object[error.start]:02x}) is not "
                f"{encoding}: {error.reason}",
                file=name,
                mend="give the right --encoding (latin-1 for old Western text), or --errors "
                "replace or ignore",
            ) from None
        at += len(block)
