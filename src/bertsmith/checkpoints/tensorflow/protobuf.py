"""The part of Protocol Buffers' wire format that a checkpoint's index uses.

Source: the encoding page of the Protocol Buffers documentation.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10  # bytes of seven bits for a number of 64


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at ``at``, from 0 to 2**64 - 1, and the place after it.

    Raises:
        ValueError: the data end within the number, or it is too long.
    """
    value = 0
    for place, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            if value >= 1 << 64:
                break
            return value, at + place + 1
    raise ValueError("a number is malformed")


def write_varint(value: int) -> bytes:
    """A number from 0 up in groups of seven bits, the lowest first."""
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def read_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in stored order: its number, and a number from 0 up or bytes.

    Raises:
        ValueError: the message is malformed.
    """
    at = 0
    while at < len(message):
        tag, at = read_varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = read_varint(message, at)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, at = read_varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"a field is of the unknown kind {kind}")
        part = message[at : at + size]
        if len(part) < size:
            raise ValueError("the data end within a field")
        yield tag >> 3, part if kind == _BYTES else int.from_bytes(part, "little")
        at += size


def number_field(field: int, value: int) -> bytes:
    """A varint field; zero is the value of an absent one, and takes no bytes."""
    return write_varint(field << 3 | _VARINT) + write_varint(value) if value else b""


def bytes_field(field: int, value: bytes) -> bytes:
    """A field of bytes, or of an embedded message."""
    return write_varint(field << 3 | _BYTES) + write_varint(len(value)) + value


def fixed32_field(field: int, value: int) -> bytes:
    """A field of four bytes."""
    return write_varint(field << 3 | _FIXED32) + value.to_bytes(4, "little")
