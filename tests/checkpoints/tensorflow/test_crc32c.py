import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertsmith.checkpoints.tensorflow.crc32c import crc32c, mask, masked_crc32c

# Of RFC 3720, appendix B.4, and the check value of the catalogues of checksums.
KNOWN = {
    b"123456789": 0xE3069283,
    b"": 0,
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(reversed(range(32))): 0x113FDB5C,
}
# Where the rows of one width begin, and some whole and broken rows of several widths.
LENGTHS = [
    *range(200), *range(2044, 2053), *range(65532, 65542), 131071, 131072, 131076,
    3 * 65536 + 2 * 2048 + 5 * 64 + 3,
]  # fmt: skip


def bit_by_bit(message: bytes) -> int:
    """The definition: a register of 32 bits, a bit of the message at a time."""
    register = 0xFFFFFFFF
    for byte in message:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 * (register & 1))
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize("message", KNOWN)
def test_known_values(message: bytes) -> None:
    assert crc32c(message) == KNOWN[message]


@given(st.binary(max_size=600))
def test_is_what_the_definition_says(message: bytes) -> None:
    assert crc32c(message) == bit_by_bit(message)


def test_every_width_of_rows_agrees_with_the_definition() -> None:
    message = np.random.default_rng(0).bytes(max(LENGTHS))
    wanted = {}
    register = 0xFFFFFFFF
    for length in range(max(LENGTHS) + 1):  # the definition once, its sum at each length
        wanted[length] = register ^ 0xFFFFFFFF
        if length < len(message):
            register ^= message[length]
            for _ in range(8):
                register = (register >> 1) ^ (0x82F63B78 * (register & 1))
    assert {length: crc32c(message[:length]) for length in LENGTHS} == {
        length: wanted[length] for length in LENGTHS
    }


def test_an_array_counts_as_its_bytes_in_order() -> None:
    array = np.arange(60, dtype="<f8").reshape(3, 4, 5)
    assert crc32c(array) == crc32c(array.tobytes())
    assert crc32c(array.T) == crc32c(array.T.tobytes())
    assert crc32c(np.array(3, "<i8")) == crc32c(bytes([3, 0, 0, 0, 0, 0, 0, 0]))
    assert crc32c(np.zeros((0, 4))) == 0


def test_bytes_need_no_alignment() -> None:
    data = np.random.default_rng(1).integers(0, 256, 300_001).astype(np.uint8)
    assert crc32c(data[1:]) == crc32c(data[1:].tobytes())


def test_the_masked_form() -> None:
    """The rotation by 15 and the sum, each seen by itself."""
    assert mask(0) == 0xA282EAD8
    assert mask(0x8000) == 0xA282EAD9
    assert mask(1) == 0xA284EAD8
    assert masked_crc32c(b"123456789") == mask(0xE3069283)


def test_takes_no_time_that_anyone_notices() -> None:
    """A loop over bytes would take a minute for what is a quarter of a base model."""
    data = np.zeros(100_000_000, np.uint8)
    begun = time.process_time()
    crc32c(data)
    assert time.process_time() - begun < 5
