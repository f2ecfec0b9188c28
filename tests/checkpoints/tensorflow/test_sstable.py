from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertsmith.checkpoints.tensorflow.crc32c import masked_crc32c
from bertsmith.checkpoints.tensorflow.protobuf import write_varint
from bertsmith.checkpoints.tensorflow.sstable import MAGIC, read_table, table_bytes
from bertsmith.common.errors import ModelError

KEYS = st.one_of(
    st.binary(max_size=12),
    st.integers(0, 300).map(lambda number: b"a/prefix/that/many/share" * 8 + b"%d" % number),
)


def test_there_and_back(tmp_path: Path) -> None:
    file = tmp_path / "table"

    @settings(deadline=None)
    @given(st.dictionaries(KEYS, st.binary(max_size=200), max_size=60), st.integers(1, 3000))
    def check(table: dict[bytes, bytes], block_bytes: int) -> None:
        entries = sorted(table.items())
        file.write_bytes(table_bytes(entries, block_bytes))
        assert list(read_table(file)) == entries

    check()


def test_shared_beginnings_are_stored_once_in_sixteen() -> None:
    entries = [(b"x" * 1000 + b"%03d" % number, b"") for number in range(160)]
    assert len(table_bytes(entries, 1 << 20)) < 10 * 1000 + 1000 + 160 * 10 + 200


def test_a_block_goes_on_until_it_is_full() -> None:
    entries = [(b"%04d" % number, b"v" * 100) for number in range(1000)]
    one, many = table_bytes(entries, 1 << 30), table_bytes(entries, 1000)
    assert len(many) - len(one) > 90 * 20


def table_of(*blocks: bytes, compression: int = 0) -> bytes:
    """A table whose blocks have the given contents, by a second hand."""
    table = b""
    index = b""

    def place(block: bytes) -> bytes:
        nonlocal table
        where = write_varint(len(table)) + write_varint(len(block))
        stored = block + bytes([compression])
        table += stored + masked_crc32c(stored).to_bytes(4, "little")
        return where

    for number, block in enumerate(blocks):
        where = place(block)
        index += bytes([0, 1, len(where), number]) + where
    none = bytes(4) + b"\1\0\0\0"
    footer = place(none) + place(index + none)
    return table + footer.ljust(40, b"\0") + MAGIC


def block_of(*entries: bytes) -> bytes:
    return b"".join(entries) + bytes(4) + b"\1\0\0\0"


A = b"\0\1\1a1"  # shares nothing, key "a", value "1"


def read(tmp_path: Path, table: bytes) -> list[tuple[bytes, bytes]]:
    file = tmp_path / "table"
    file.write_bytes(table)
    return list(read_table(file))


def test_a_table_by_another_hand(tmp_path: Path) -> None:
    more = b"\1\1\1b2"  # shares a byte: key "ab", value "2"
    assert read(tmp_path, table_of(block_of(A, more), block_of(b"\0\1\0c"))) == [
        (b"a", b"1"), (b"ab", b"2"), (b"c", b""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of(block_of(A), compression=1), "a block of the index is compressed with snappy"),
        (table_of(block_of(A), compression=4), "compressed with method 4"),
        (table_of(block_of(A, A)), "the keys are not in order"),
        (table_of(block_of(A), block_of(A)), "the keys are not in order"),
        (table_of(block_of(b"\1\1\1a1")), "an entry does not fit its block"),
        (table_of(block_of(b"\0\1\2a1")), "an entry does not fit its block"),
        (table_of(block_of(b"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1a")), "does not fit"),
        (table_of(block_of(b"\0\1")), "a number is malformed|does not fit"),
        (table_of(b""), "a block is too short"),
        (table_of(b"\1\0\0"), "a block is too short"),
        (table_of(b"\xff\xff\xff\xff"), "a block is too short"),
        (MAGIC, "its end is missing"),
        (b"", "its end is missing"),
        (b"text " * 100, "this is no index of a TensorFlow checkpoint"),
        (bytes(40) + MAGIC, "a block lies beyond the end|does not agree|too short"),
        (b"\xff" * 40 + MAGIC, "a number is malformed"),
        (table_of(block_of(A))[:-9] + b"\1" + MAGIC, "the footer holds more"),
    ],
)
def test_what_is_no_table(tmp_path: Path, table: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        read(tmp_path, table)
    assert caught.value.file == str(tmp_path / "table")


def test_a_chain_of_keys_does_not_grow_without_end(tmp_path: Path) -> None:
    """Each key is the one before and a byte more: their sum is a square of the file's size."""
    entries = (write_varint(length) + b"\1\0k" for length in range(10_000))
    with pytest.raises(
        ModelError, match=r"an entry does not fit its block|far larger than the file"
    ):
        read(tmp_path, table_of(block_of(*entries)))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no such index"):
        list(read_table(tmp_path / "none"))
    with pytest.raises(ModelError, match="the index can not be read: Is a directory"):
        list(read_table(tmp_path))
