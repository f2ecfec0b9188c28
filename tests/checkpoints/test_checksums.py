"""The checksums in a safetensors file: kept, looked at, and of no one's concern but ours."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from bertsmith.checkpoints.checksums import check_tensors, write_tensors
from bertsmith.checkpoints.stored import read_safetensors
from bertsmith.common.errors import ModelError

KEY = "bertsmith.crc32"


@pytest.fixture
def tensors() -> dict[str, Tensor]:
    return {
        "matrix": torch.arange(6, dtype=torch.float32).reshape(2, 3),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 4),
        "ids": torch.arange(4),
    }


@pytest.fixture
def file(tmp_path: Path, tensors: dict[str, Tensor]) -> Path:
    write_tensors(tmp_path / "model.safetensors", tensors)
    return tmp_path / "model.safetensors"


def test_what_was_written_is_read(file: Path, tensors: dict[str, Tensor]) -> None:
    found = read_safetensors(file)
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)


def test_the_same_bytes_each_time(file: Path, tensors: dict[str, Tensor]) -> None:
    written = file.read_bytes()
    for _ in range(20):
        write_tensors(file, tensors)
        assert file.read_bytes() == written


def test_the_checksum_is_the_one_described(tmp_path: Path) -> None:
    """CRC-32 of "torch.float32 [1]" and the bytes 00 00 80 3f, by another implementation."""
    write_tensors(tmp_path / "one", {"a": torch.ones(1)})
    with safe_open(tmp_path / "one", "pt") as opened:
        assert json.loads(opened.metadata()[KEY]) == {"a": crc32(b"torch.float32 [1]\0\0\x80\x3f")}


def crc32(data: bytes) -> str:
    """Bit by bit, by the reflected polynomial of IEEE 802.3."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0xEDB88320 if state & 1 else 0)
    return f"{state ^ 0xFFFFFFFF:08x}"


def test_every_bit_of_the_numbers_counts(file: Path) -> None:
    whole = file.read_bytes()
    start = 8 + struct.unpack("<Q", whole[:8])[0]
    for at in range(start, len(whole)):
        for bit in range(8):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            file.write_bytes(data)
            with pytest.raises(ModelError, match="checksum of a tensor does not agree"):
                read_safetensors(file)


def test_every_bit_of_the_header(file: Path, tensors: dict[str, Tensor]) -> None:
    """Refused, or of no consequence, as in the name of the checksums themselves."""
    whole = file.read_bytes()
    taken = 0
    for at in range(8 + struct.unpack("<Q", whole[:8])[0]):
        for bit in range(8):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            file.write_bytes(data)
            try:
                found = read_safetensors(file)
            except ModelError:
                continue
            taken += 1
            assert found.keys() == tensors.keys()
            for name, tensor in tensors.items():
                assert found[name].dtype == tensor.dtype
                assert torch.equal(found[name], tensor)
    assert 0 < taken <= 8 * len(KEY + "format" + "pt")


@pytest.mark.parametrize(
    "stored", ["", "[", "[1]", "7", '"a"', "[[1, 2]]", '{"matrix": 7}', '[[["a"], 1]]', "[" * 9999]
)
def test_checksums_that_are_none(tmp_path: Path, tensors: dict[str, Tensor], stored: str) -> None:
    save_file(tensors, tmp_path / "file", metadata={KEY: stored})
    with pytest.raises(ModelError, match=r"checksums can not be read|does not agree") as caught:
        read_safetensors(tmp_path / "file")
    assert "leave bertsmith.crc32 out" in str(caught.value)


def test_a_tensor_more_or_less(file: Path, tensors: dict[str, Tensor]) -> None:
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    for others in ({**tensors, "more": torch.ones(1)}, dict(list(tensors.items())[1:])):
        save_file(others, file, metadata=metadata)
        with pytest.raises(ModelError, match=r"more|matrix"):
            check_tensors(file, load_file(file))


def test_files_of_others_have_none(tmp_path: Path, tensors: dict[str, Tensor]) -> None:
    for metadata in (None, {"format": "pt"}):
        save_file(tensors, tmp_path / "file", metadata=metadata)
        assert read_safetensors(tmp_path / "file").keys() == tensors.keys()
