"""Lines of text from bytes, without ever holding a whole file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from bertsmith.common.errors import InputError

_BLOCK = 1 << 20  # bytes
_BOM = "\ufeff"
LONGEST_LINE = 1 << 17  # characters of a line of text; what is longer is cut
LONGEST_RECORD = 1 << 26  # characters of a line of JSON; what is longer is refused


def read_lines(
    stream: BinaryIO, name: str, encoding: str, errors: str, *, cut: bool = False
) -> Iterator[str]:
    r"""Lines without their ends; only ``\n``, ``\r\n`` and ``\r`` end a line.

    Args:
        stream: the bytes.
        name: the file's name, for messages.
        encoding: how the bytes spell characters.
        errors: ``strict``, ``replace`` or ``ignore``.
        cut: give lines too long for memory in several pieces, see :func:`cut_line`.

    Raises:
        InputError: a byte is wrong (the message gives its offset in the decompressed file), the
            file can not be read, or a line is so long that it is of another kind.
    """
    rest: list[str] = []  # of the line that has not ended yet
    held, first, size = "", True, 0
    for block in _decoded(stream, name, encoding, errors):
        text = held + block
        if first and text:
            text, first = text.removeprefix(_BOM), False
        # A \r at the end may be the first half of \r\n.
        held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        head, *lines = text.split("\n")
        rest.append(head)
        size += len(head)
        for line in lines:
            whole = "".join(rest)
            yield from cut_line(whole) if cut else (whole,)
            rest, size = [line], len(line)
        if cut and size > LONGEST_LINE:
            *pieces, last = cut_line("".join(rest))
            yield from pieces
            rest, size = [last], len(last)
        if size > LONGEST_RECORD:
            raise InputError(f"a line is longer than {LONGEST_RECORD:,} characters", file=name)
    last = "".join(rest)
    if last or held:
        yield from cut_line(last) if cut else (last,)


def cut_line(line: str) -> Iterator[str]:
    """``line`` in pieces of at most ``LONGEST_LINE`` characters, cut at spaces where possible."""
    at = 0  # not by cutting the rest off, which copies it each time
    while len(line) - at > LONGEST_LINE:
        end = line.rfind(" ", at + 1, at + LONGEST_LINE) + 1 or at + LONGEST_LINE
        yield line[at:end]
        at = end
    yield line[at:] if at else line


def _decoded(stream: BinaryIO, name: str, encoding: str, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    at, final = 0, False
    while not final:
        try:
            block = stream.read(_BLOCK)
        except (OSError, EOFError, ValueError) as error:
            raise InputError(f"the file can not be read: {error}", file=name) from None
        final = not block
        waiting = len(decoder.getstate()[0])
        try:
            yield decoder.decode(block, final)
        except UnicodeError as error:
            raise _wrong_byte(error, at - waiting, name, encoding) from None
        at += len(block)


def _wrong_byte(error: UnicodeError, base: int, name: str, encoding: str) -> InputError:
    where = "the bytes are"
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        where = f"the byte at offset {base + error.start:,} (0x{byte:02x}) is"
    return InputError(
        f"{where} not {encoding}: {getattr(error, 'reason', error)}",
        file=name,
        mend="give the right --encoding (latin-1 for old Western text), or --errors replace or "
        "ignore",
    )
