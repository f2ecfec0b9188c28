import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertsmith.checkpoints.tensorflow.protobuf import (
    bytes_field,
    fixed32_field,
    number_field,
    read_fields,
    read_varint,
    write_varint,
)


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3), st.binary(max_size=3))
def test_numbers_there_and_back(value: int, before: bytes, after: bytes) -> None:
    stored = write_varint(value)
    assert read_varint(before + stored + after, len(before)) == (value, len(before) + len(stored))


def test_the_documented_example() -> None:
    assert write_varint(150) == bytes([0x96, 0x01])
    assert number_field(1, 150) == bytes([0x08, 0x96, 0x01])
    assert bytes_field(2, b"testing") == bytes([0x12, 0x07]) + b"testing"


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 9, b"\xff" * 10, b"\xff" * 9 + b"\x02"])
def test_a_malformed_number(data: bytes) -> None:
    with pytest.raises(ValueError, match="a number is malformed"):
        read_varint(data, 0)


def test_fields_there_and_back() -> None:
    message = number_field(1, 7) + fixed32_field(6, 0xDEADBEEF) + bytes_field(2, b"\0x")
    message += number_field(3, 0) + bytes([4 << 3 | 1]) + (5).to_bytes(8, "little")
    assert list(read_fields(message)) == [(1, 7), (6, 0xDEADBEEF), (2, b"\0x"), (4, 5)]


@given(st.binary(max_size=40))
def test_any_bytes_are_fields_or_malformed(message: bytes) -> None:
    try:
        fields = list(read_fields(message))
    except ValueError:
        return
    assert sum(len(value) for _, value in fields if isinstance(value, bytes)) <= len(message)


@pytest.mark.parametrize(
    "message", [b"\x12\x05abc", b"\x35\1\2\3", b"\x09\1", b"\x0b", b"\x0f\1", b"\x08"]
)
def test_a_malformed_message(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"field|number"):
        list(read_fields(message))
