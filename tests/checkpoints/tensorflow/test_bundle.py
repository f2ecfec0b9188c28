import dataclasses
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from tests.checkpoints.tensorflow.made import OLD_LAYOUT, bundle, sharded
from tests.data import data

from bertsmith.checkpoints.tensorflow import Entry, TensorBundle, write_bundle
from bertsmith.checkpoints.tensorflow.crc32c import masked_crc32c
from bertsmith.checkpoints.tensorflow.entries import Header
from bertsmith.checkpoints.tensorflow.protobuf import bytes_field, number_field
from bertsmith.common.errors import ModelError

TYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool",
)  # fmt: skip
ARRAYS = st.sampled_from(TYPES).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=5))
)
NAMES = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
    st.integers(0, 99).map(lambda number: "a/long/name/that/others/share/" * 20 + str(number)),
)
ONE = np.arange(6, dtype=np.float32).reshape(2, 3)


def same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def small(folder: Path) -> Path:
    """The prefix of a small checkpoint of ours."""
    rng = np.random.default_rng(0)
    tensors = {"w/kernel": rng.random((2, 3), np.float32), "w/bias": rng.random(3, np.float32)}
    write_bundle(folder / "small", tensors | {"step": np.array(5)})
    return folder / "small"


def entry(array: NDArray[Any] = ONE, **changes: Any) -> Entry:
    whole = Entry(array.dtype.name, array.shape, 0, 0, array.nbytes, masked_crc32c(array))
    return dataclasses.replace(whole, **changes)


def made(folder: Path, one: Entry) -> TensorBundle:
    """A checkpoint of the tensor ``t``."""
    messages = {b"": Header(1).message(), b"t": one.message()}
    return TensorBundle(bundle(folder, messages, ONE.tobytes()))


def test_any_tensors_there_and_back(tmp_path: Path) -> None:
    @settings(deadline=None)
    @given(st.dictionaries(NAMES, ARRAYS, max_size=8))
    def check(tensors: dict[str, NDArray[Any]]) -> None:
        write_bundle(tmp_path / "any.ckpt-1", tensors)
        found = TensorBundle(tmp_path / "any.ckpt-1")
        assert list(found.entries) == sorted(tensors, key=str.encode)
        for name, tensor in tensors.items():
            one = found.entries[name]
            assert (one.dtype, one.shape) == (tensor.dtype.name, tensor.shape)
            assert same(found.read(name), tensor)

    check()


def test_an_index_of_many_blocks(tmp_path: Path) -> None:
    tensors = {f"a/scope/that/all/share/layer_{n}/kernel": np.array([n]) for n in range(1000)}
    write_bundle(tmp_path / "many", tensors)
    assert (tmp_path / "many.index").stat().st_size > 4 * 4096
    found = TensorBundle(tmp_path / "many")
    assert list(found.entries) == sorted(tensors)
    assert all(same(found.read(name), tensor) for name, tensor in tensors.items())


def test_order_of_memory_and_of_bytes_do_not_matter(tmp_path: Path) -> None:
    tensors = {"turned": ONE.T, "every_other": ONE[:, ::2], "big": ONE.astype(">f4")}
    write_bundle(tmp_path / "t", tensors)
    found = TensorBundle(tmp_path / "t")
    for name, tensor in tensors.items():
        assert np.array_equal(found.read(name), tensor)
        assert found.read(name).flags.c_contiguous


def test_what_is_read_is_memory_of_its_own(tmp_path: Path) -> None:
    found = TensorBundle(small(tmp_path))
    found.read("w/bias")[:] = 0
    assert found.read("w/bias").all()


def test_what_tensorflow_wrote(tmp_path: Path) -> None:
    """Two files of data, and bfloat16, which is widened."""
    found = TensorBundle(sharded(tmp_path))
    assert {name: (one.dtype, one.shape, one.shard) for name, one in found.entries.items()} == {
        "a/half": ("bfloat16", (2, 2), 0),
        "a/halves": ("float32", (2,), 1),
        "global_step": ("int64", (), 1),
    }
    half = found.read("a/half")
    assert half.dtype == np.float32
    assert np.array_equal(half, np.array([[1.5, -2.25], [3.00405527e38, 0]], np.float32))
    assert same(found.read("a/halves"), np.array([0.5, -1], np.float32))
    assert same(found.read("global_step"), np.array(1000))


def test_every_bfloat16_is_widened_exactly(tmp_path: Path) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    one = dataclasses.replace(entry(bits), dtype="bfloat16")
    prefix = bundle(tmp_path, {b"": Header(1).message(), b"t": one.message()}, bits.tobytes())
    wide = TensorBundle(prefix).read("t")
    assert np.array_equal(wide.view(np.uint32), bits.astype(np.uint32) << 16)


def test_a_real_checkpoint() -> None:
    prefix = data("checkpoints", "google-tf-tiny") / "bert_model.ckpt"
    found = TensorBundle(prefix)
    assert len(found.entries) == 139
    assert found.entries["bert/embeddings/word_embeddings"].shape == (15, 4)
    assert found.entries["bert/encoder/layer_1/intermediate/dense/kernel"].shape == (4, 16)
    for name, one in found.entries.items():
        tensor = found.read(name)
        assert tensor.shape == one.shape
        assert tensor.dtype == (np.int64 if name == "global_step" else np.float32)
        assert np.isfinite(tensor).all()


def test_a_real_checkpoint_written_again(tmp_path: Path) -> None:
    """The same tensors in the same order give the very bytes of Google's file of data."""
    prefix = data("checkpoints", "google-tf-tiny") / "bert_model.ckpt"
    found = TensorBundle(prefix)
    write_bundle(tmp_path / "again", {name: found.read(name) for name in found.entries})
    again = TensorBundle(tmp_path / "again")
    assert again.entries == found.entries
    suffix = "data-00000-of-00001"
    theirs = prefix.with_name(f"bert_model.ckpt.{suffix}").read_bytes()
    assert (tmp_path / f"again.{suffix}").read_bytes() == theirs


@pytest.mark.parametrize("suffix", ["index", "data-00000-of-00001"])
def test_no_damaged_byte_goes_unseen(tmp_path: Path, suffix: str) -> None:
    prefix = small(tmp_path)
    file = tmp_path / f"small.{suffix}"
    whole = file.read_bytes()
    for at in range(len(whole)):
        for flipped in (0x01, 0x80, 0xFF):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ flipped]) + whole[at + 1 :])
            with pytest.raises(ModelError) as caught:
                read_all(prefix)
            assert caught.value.file == str(file)


@pytest.mark.parametrize("suffix", ["index", "data-00000-of-00001"])
def test_no_truncation_goes_unseen(tmp_path: Path, suffix: str) -> None:
    prefix = small(tmp_path)
    file = tmp_path / f"small.{suffix}"
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"truncated|its end is missing") as caught:
            read_all(prefix)
        assert caught.value.file == str(file)


def read_all(prefix: Path) -> None:
    found = TensorBundle(prefix)
    for name in found.entries:
        found.read(name)


def test_damage_names_file_and_tensor(tmp_path: Path) -> None:
    prefix = small(tmp_path)
    file = tmp_path / "small.data-00000-of-00001"
    whole = bytearray(file.read_bytes())
    whole[-1] ^= 1
    file.write_bytes(whole)
    found = TensorBundle(prefix)
    found.read("w/bias")
    with pytest.raises(ModelError, match="the checksum of tensor w/kernel does not agree"):
        found.read("w/kernel")
    file.write_bytes(whole[:-1])
    with pytest.raises(ModelError, match="truncated: tensor w/kernel ends at byte 44, the file at"):
        found.read("w/kernel")


def test_a_missing_file_of_data(tmp_path: Path) -> None:
    prefix = sharded(tmp_path)
    (tmp_path / "model.ckpt.data-00001-of-00002").unlink()
    found = TensorBundle(prefix)
    found.read("a/half")
    with pytest.raises(ModelError, match="data is missing, with tensor a/halves") as caught:
        found.read("a/halves")
    assert caught.value.file is not None
    assert caught.value.file.endswith("model.ckpt.data-00001-of-00002")


def test_no_checkpoint_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no such index"):
        TensorBundle(tmp_path / "none")
    (tmp_path / "text.index").write_text("no table\n" * 20)
    with pytest.raises(ModelError, match="this is no index of a TensorFlow checkpoint"):
        TensorBundle(tmp_path / "text")


def test_the_old_layout_is_named(tmp_path: Path) -> None:
    for name in ("old", "renamed.index"):
        (tmp_path / name).write_bytes(bytes.fromhex(OLD_LAYOUT))
        with pytest.raises(ModelError, match="V1 layout"):
            TensorBundle(tmp_path / name.removesuffix(".index"))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "the header names no file of data"),
        (number_field(1, 1) + number_field(2, 1), "the checkpoint is big-endian"),
        (number_field(1, 1) + bytes_field(3, number_field(2, 2)), "is of version 2"),
        (b"\x08", "no index of a TensorFlow checkpoint: a number is malformed"),
    ],
)
def test_a_header_that_is_not_read(tmp_path: Path, header: bytes, message: str) -> None:
    prefix = bundle(tmp_path, {b"": header, b"t": entry().message()}, ONE.tobytes())
    with pytest.raises(ModelError, match=message):
        TensorBundle(prefix)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offset": 1}, "truncated: tensor t ends at byte 25, the file at 24"),
        ({"offset": 2**63 - 1}, "truncated"),
        ({"size": 2**64 - 1}, "has shape .* bytes"),
        ({"size": 20}, r"tensor t has shape \[2, 3\] of float32, but 20 bytes"),
        ({"shape": (2**40, 2**20), "size": 2**62}, "truncated"),
        ({"shape": (0, 2**62, 2**62), "size": 0, "crc": masked_crc32c(b"")}, "can not be"),
        (
            {"shape": (1,) * 70, "size": 4, "crc": masked_crc32c(ONE.tobytes()[:4])},
            "more than 64 dimensions",
        ),
        ({"crc": 0}, "the checksum of tensor t does not agree"),
        ({"dtype": "string"}, "tensor t is of the kind string, which is not read"),
    ],
)
def test_a_crafted_entry_takes_no_memory(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=message):
            made(tmp_path, entry(**changes)).read("t")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (entry(shard=1).message(), "tensor t is said to be in file 1 of 1"),
        (bytes_field(2, bytes_field(2, number_field(1, 2**64 - 1))), "t: .* length below zero"),
        (bytes_field(2, number_field(3, 1)), "entry t: a tensor has no shape"),
        (number_field(2, 5), "entry t: field 2 is of another kind"),
        (b"\x08", "entry t: a number is malformed"),
    ],
)
def test_a_malformed_entry(tmp_path: Path, message: bytes, error: str) -> None:
    with pytest.raises(ModelError, match=error):
        TensorBundle(bundle(tmp_path, {b"": Header(1).message(), b"t": message}))


def test_kinds_that_are_not_read_hide_no_others(tmp_path: Path) -> None:
    messages = {
        b"": Header(1).message(),
        b"\0part of a slice": entry().message(),
        b"quantised": number_field(1, 11) + entry().message()[2:],
        b"sliced": entry(size=0).message() + bytes_field(7, b""),
        b"whole": entry().message(),
    }
    found = TensorBundle(bundle(tmp_path, messages, ONE.tobytes()))
    assert list(found.entries) == ["quantised", "sliced", "whole"]
    assert same(found.read("whole"), ONE)
    with pytest.raises(ModelError, match="tensor sliced is stored in slices"):
        found.read("sliced")
    with pytest.raises(ModelError, match="tensor quantised is of the kind type 11"):
        found.read("quantised")


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"c": np.zeros(2, np.complex64)}, "tensor c is of type complex64, which is not written"),
        ({"s": np.array(["text"])}, "tensor s is of type str"),
        ({"o": np.array([None])}, "tensor o is of type object"),
        ({"": ONE}, "can not have this name"),
        ({"a\0b": ONE}, "can not have this name"),
        ({"\udc80": ONE}, "can not have this name"),
        ({"x" * 5000: ONE}, "can not have this name"),
    ],
)
def test_what_is_not_written_leaves_no_file(
    tmp_path: Path, tensors: dict[str, NDArray[Any]], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        write_bundle(tmp_path / "no", {"a": ONE} | tensors)
    assert not list(tmp_path.iterdir())
