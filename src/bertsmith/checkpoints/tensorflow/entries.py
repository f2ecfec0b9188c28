"""The messages of a checkpoint's index: one header, and an entry for each tensor.

Source: ``core/protobuf/tensor_bundle.proto``, ``core/framework/tensor_shape.proto`` and
``types.proto`` of TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bertsmith.checkpoints.tensorflow.protobuf import (
    bytes_field,
    fixed32_field,
    number_field,
    read_fields,
)

# What TensorFlow's numbers for types mean. Those beyond are of no use to a reader of weights.
DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
    9: "int64", 10: "bool", 14: "bfloat16", 17: "uint16", 19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip
_NUMBERS = {name: number for number, name in DTYPES.items()}
_MOST_DIMENSIONS = 64  # of a tensor: numpy's limit
_VERSION = 1  # of the layout: what is written, and the highest that is read


@dataclass(frozen=True)
class Header:
    """What holds for all of a checkpoint.

    Attributes:
        shards: files of data.
        big_endian: whether the highest byte of a number comes first.
        needs: the lowest version of a reader.
    """

    shards: int
    big_endian: bool = False
    needs: int = 0

    @classmethod
    def parse(cls, message: bytes) -> Header:
        """The header in a message.

        Raises:
            ValueError: the message is malformed.
        """
        shards = order = needs = 0
        for field, value in read_fields(message):
            match field, value:
                case 1, int():
                    shards = value
                case 2, int():
                    order = value
                case 3, bytes():
                    needs = _number(value, 2)
                case 1, bytes():
                    raise OldLayoutError
        if shards < 1:
            raise ValueError("the header names no file of data")
        return cls(shards, order != 0, needs)

    def message(self) -> bytes:
        """The header as stored."""
        return number_field(1, self.shards) + bytes_field(3, number_field(1, _VERSION))

    @property
    def is_readable(self) -> bool:
        """Whether the layout is one that is known."""
        return not self.big_endian and self.needs <= _VERSION


class OldLayoutError(ValueError):
    """The first message is that of a checkpoint in the layout before tensor bundles."""


@dataclass(frozen=True)
class Entry:
    """Where a tensor is, and of which kind.

    Attributes:
        dtype: the name of its type, as numpy has it; ``type 21`` for one that is unknown here.
        shape: its shape.
        shard: the file of data, counted from 0.
        offset: its first byte in that file.
        size: its bytes.
        crc: the masked CRC-32C of those bytes.
        sliced: whether it is stored in parts, by entries of their own.
    """

    dtype: str
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc: int
    sliced: bool = False

    @classmethod
    def parse(cls, message: bytes) -> Entry:
        """The entry in a message.

        Raises:
            ValueError: the message is malformed.
        """
        numbers = {1: 0, 3: 0, 4: 0, 5: 0, 6: 0}
        shape: tuple[int, ...] = ()
        sliced = False
        for field, value in read_fields(message):
            match field, value:
                case 1 | 3 | 4 | 5 | 6, int():
                    numbers[field] = value
                case 2, bytes():
                    shape = tuple(islice(_shape(value), _MOST_DIMENSIONS + 1))
                    if len(shape) > _MOST_DIMENSIONS:
                        raise ValueError(f"a tensor has more than {_MOST_DIMENSIONS} dimensions")
                case 7, bytes():
                    sliced = True
                case 1 | 2 | 3 | 4 | 5 | 6 | 7, _:
                    raise ValueError(f"field {field} is of another kind than an entry has")
        dtype = DTYPES.get(numbers[1], f"type {numbers[1]}")
        return cls(dtype, shape, numbers[3], numbers[4], numbers[5], numbers[6], sliced)

    def message(self) -> bytes:
        """The entry as stored."""
        dimensions = (bytes_field(2, number_field(1, length)) for length in self.shape)
        return (
            number_field(1, _NUMBERS[self.dtype])
            + bytes_field(2, b"".join(dimensions))
            + number_field(3, self.shard)
            + number_field(4, self.offset)
            + number_field(5, self.size)
            + fixed32_field(6, self.crc)
        )


def _shape(message: bytes) -> Iterator[int]:
    for field, value in read_fields(message):
        match field, value:
            case 2, bytes():
                length = _number(value, 1)
                if length >= 1 << 63:  # how a negative number looks
                    raise ValueError("a tensor has a length below zero")
                yield length
            case 3, int():
                raise ValueError("a tensor has no shape")


def _number(message: bytes, wanted: int) -> int:
    """The number in one field of a message."""
    number = 0
    for field, value in read_fields(message):
        if field == wanted and isinstance(value, int):
            number = value
    return number
