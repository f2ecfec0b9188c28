"""Model directories: each file damaged in turn; a model opens whole and as stored, or is refused."""

import dataclasses
import io
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from bertsmith.checkpoints.architectures import table_of
from bertsmith.checkpoints.directory import Loaded, load_any
from bertsmith.checkpoints.names import to_hugging_face
from bertsmith.common.errors import ModelError
from bertsmith.model.config import BertConfig
from bertsmith.model.task import BertForTask
from tests.fuzz.inputs import answer, damaged, fuzzed, odd_json
from tests.fuzz.models import LAYOUTS

Models = dict[str, Path]


@contextmanager
def changed(file: Path, data: bytes) -> Iterator[None]:
    before = file.read_bytes()
    file.write_bytes(data)
    try:
        yield
    finally:
        file.write_bytes(before)


def of(loaded: Loaded) -> dict[str, torch.Tensor]:
    return to_hugging_face(loaded.model.state_dict(), table_of(loaded.model))


def stored(file: Path) -> dict[str, np.ndarray]:
    """The float32 tensors of a safetensors file, by its format's description."""
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    return {
        name: np.frombuffer(body[slice(*one["data_offsets"])], "<f4").reshape(one["shape"])
        for name, one in header.items()
        if name != "__metadata__" and one["dtype"] == "F32"
    }


@pytest.mark.parametrize(
    ("layout", "name"), [("safetensors", "model.safetensors"), ("sharded", "model-0.safetensors")]
)
@fuzzed(200)
@given(data=st.data())
def test_safetensors(models: Models, layout: str, name: str, data: st.DataObject) -> None:
    """Our files have checksums, which tell of any damage; those of others are as stored."""
    folder = models[layout]
    file = folder / name
    before = file.read_bytes()
    (size,) = struct.unpack("<Q", before[:8])
    header, body = before[8 : 8 + size], before[8 + size :]
    bad = data.draw(odd_json(json.loads(header)) | damaged(header), "header")
    length = data.draw(st.sampled_from([len(bad)] * 8 + [2**40, 2**63, 0, size]), "length")
    if data.draw(st.booleans(), "whole file"):
        made = data.draw(damaged(before), "file")
    else:
        made = struct.pack("<Q", length) + bad + body
    with changed(file, made):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None and b"bertsmith.crc32" in made:
            assert_whole(loaded, whole(models, layout))
        elif loaded is not None:
            there = {}
            for one in folder.glob("*.safetensors"):
                there |= stored(one)
            for name, tensor in of(loaded).items():
                if name in there:
                    assert np.array_equal(tensor.numpy(), there[name], equal_nan=True), name
                else:
                    assert name in loaded.report.missing


def whole(models: Models, layout: str) -> dict[str, torch.Tensor]:
    """The weights of an undamaged model."""
    return load_file(models["task" if layout == "task" else "safetensors"] / "model.safetensors")


def assert_whole(loaded: Loaded, want: dict[str, torch.Tensor]) -> None:
    """Every weight of the model is that of the undamaged one."""
    for name, tensor in of(loaded).items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, want[name]), name


@pytest.mark.parametrize("layout", ["pickle", "sharded_pickle"])
@fuzzed(150)
@given(data=st.data())
def test_pickles(models: Models, layout: str, data: st.DataObject) -> None:
    """The checksums of the archive tell of any damage; torch does not look at them."""
    folder = models[layout]
    file = data.draw(st.sampled_from(sorted(folder.glob("*.bin"))))
    with changed(file, data.draw(damaged(file.read_bytes()))):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None:
            assert_whole(loaded, whole(models, layout))


@fuzzed(200)
@given(data=st.data())
def test_old_pickles(models: Models, data: st.DataObject) -> None:
    """They have no checksums: a model is what torch reads of the file, number for number.

    Where the damage is in the numbers of some tensors alone, the others are as they were.
    """
    folder = models["old_pickle"]
    file = folder / "pytorch_model.bin"
    before, want = file.read_bytes(), whole(models, "old_pickle")
    made = data.draw(damaged(before) | flipped(before))
    with changed(file, made):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is None:
            return
        there = torch.load(io.BytesIO(made), map_location="cpu", weights_only=True)
    touched = {at for at, pair in enumerate(zip(before, made, strict=False)) if len({*pair}) > 1}
    numbers = {name: place(before, tensor) for name, tensor in want.items()}
    inside = len(made) == len(before) and touched <= {at for one in numbers.values() for at in one}
    for name, tensor in of(loaded).items():
        assert tensor.numpy().tobytes() == there[name].detach().numpy().tobytes(), name
        assert tensor.numpy().tobytes() in made, name
        if inside and touched.isdisjoint(numbers[name]):
            assert torch.equal(tensor, want[name]), name


def place(file: bytes, tensor: torch.Tensor) -> range:
    """Where the numbers of a tensor stand in a file; nowhere where this is not plain."""
    data = tensor.numpy().tobytes()
    return range(at := file.find(data), at + len(data)) if file.count(data) == 1 else range(0)


@st.composite
def flipped(draw: st.DrawFn, file: bytes) -> bytes:
    """Bits of the file's latter half, where the numbers are, are others."""
    data = bytearray(file)
    for at in draw(st.lists(st.integers(len(file) // 2, len(file) - 1), min_size=1, max_size=9)):
        data[at] ^= 1 << draw(st.integers(0, 7))
    return bytes(data)


@pytest.mark.parametrize("layout", LAYOUTS)
@fuzzed(60)
@given(data=st.data())
def test_the_small_files(models: Models, layout: str, data: st.DataObject) -> None:
    """Configuration, indexes, tokenizer files."""
    folder = models[layout]
    file = data.draw(st.sampled_from(sorted(folder.glob("*.json")) + sorted(folder.glob("*.txt"))))
    before = file.read_bytes()
    kinds = damaged(before)
    if file.suffix == ".json":
        kinds |= odd_json(json.loads(before))
    with changed(file, data.draw(kinds)):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None:
            assert_whole(loaded, whole(models, layout))
            assert_as_said(loaded, folder)


def assert_as_said(loaded: Loaded, folder: Path) -> None:
    """Shape, labels and vocabulary are those of the files, read by nothing of ours."""
    name = "bert_config.json" if (folder / "bert_config.json").exists() else "config.json"
    said = json.loads((folder / name).read_text("utf-8"))
    for field in dataclasses.fields(BertConfig):
        if field.name != "extra":
            value = getattr(loaded.model.config, field.name)
            assert value == said.get(field.name, field.default), field.name
    if isinstance(loaded.model, BertForTask) and loaded.model.spec.labels and "id2label" in said:
        labels = [str(said["id2label"][str(n)]) for n in range(len(said["id2label"]))]
        assert list(loaded.model.spec.labels) == labels
    tokenizer, tokens = folder / "tokenizer.json", loaded.tokenizer.tokens
    if tokenizer.exists():
        numbers = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
        assert dict(zip(tokens, range(len(tokens)), strict=True)) == numbers
    else:
        text = (folder / "vocab.txt").read_bytes().decode("utf-8")
        assert tokens == text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    assert len(tokens) <= loaded.model.config.vocab_size


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
@fuzzed(150)
@given(data=st.data())
def test_tensorflow(models: Models, ending: str, data: st.DataObject) -> None:
    folder = models["google"]
    file = folder / f"bert_model.ckpt.{ending}"
    made = data.draw(damaged(file.read_bytes()))
    with changed(file, made):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None:  # checksums tell of any damage
            assert_whole(loaded, whole(models, "google"))


@pytest.mark.parametrize(
    "name", ["../x.safetensors", "/etc/passwd", "a/../b", "", ".", "x\0", "b\n"]
)
@pytest.mark.parametrize("layout", ["sharded", "sharded_pickle"])
def test_an_index_names_files_of_its_folder_only(models: Models, layout: str, name: str) -> None:
    folder = models[layout]
    (file,) = folder.glob("*.index.json")
    index = json.loads(file.read_text())
    index["weight_map"] = dict.fromkeys(index["weight_map"], name)
    with changed(file, json.dumps(index).encode()), pytest.raises(ModelError, match="outside its"):
        load_any(folder)
