"""Model directories: each file damaged in turn; a model opens whole and as stored, or is refused."""

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
    whole = file.read_bytes()
    (size,) = struct.unpack("<Q", whole[:8])
    header, body = json.loads(whole[8 : 8 + size]), whole[8 + size :]
    return {
        name: np.frombuffer(body[slice(*one["data_offsets"])], "<f4").reshape(one["shape"])
        for name, one in header.items()
        if name != "__metadata__" and one["dtype"] == "F32"
    }


@fuzzed(250)
@given(st.data())
def test_safetensors(models: Models, data: st.DataObject) -> None:
    folder = models["safetensors"]
    file = folder / "model.safetensors"
    whole = file.read_bytes()
    (size,) = struct.unpack("<Q", whole[:8])
    header, body = whole[8 : 8 + size], whole[8 + size :]
    bad = data.draw(odd_json(json.loads(header)) | damaged(header), "header")
    length = data.draw(st.sampled_from([len(bad)] * 8 + [2**40, 2**63, 0, size]), "length")
    if data.draw(st.booleans(), "whole file"):
        made = data.draw(damaged(whole), "file")
    else:
        made = struct.pack("<Q", length) + bad + body
    with changed(file, made):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None:
            there = stored(file)
            for name, tensor in of(loaded).items():
                if name in there:
                    assert np.array_equal(tensor.numpy(), there[name], equal_nan=True), name
                else:
                    assert name in loaded.report.missing


@pytest.mark.parametrize("layout", ["pickle", "old_pickle"])
@fuzzed(150)
@given(data=st.data())
def test_pickles(models: Models, layout: str, data: st.DataObject) -> None:
    folder = models[layout]
    file = folder / "pytorch_model.bin"
    with changed(file, data.draw(damaged(file.read_bytes()))):
        answer(lambda: load_any(folder), folder)


@pytest.mark.parametrize("layout", LAYOUTS)
@fuzzed(60)
@given(data=st.data())
def test_the_small_files(models: Models, layout: str, data: st.DataObject) -> None:
    """Configuration, indexes, tokenizer files."""
    folder = models[layout]
    file = data.draw(st.sampled_from(sorted(folder.glob("*.json")) + sorted(folder.glob("*.txt"))))
    whole = file.read_bytes()
    kinds = damaged(whole)
    if file.suffix == ".json":
        kinds |= odd_json(json.loads(whole))
    with changed(file, data.draw(kinds)):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None:
            assert loaded.tokenizer.size <= loaded.model.config.vocab_size


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
@fuzzed(150)
@given(data=st.data())
def test_tensorflow(models: Models, ending: str, data: st.DataObject) -> None:
    folder = models["google"]
    file = folder / f"bert_model.ckpt.{ending}"
    made = data.draw(damaged(file.read_bytes()))
    want = load_file(models["safetensors"] / "model.safetensors")
    with changed(file, made):
        loaded = answer(lambda: load_any(folder), folder)
        if loaded is not None:  # checksums tell of any damage
            for name, tensor in of(loaded).items():
                assert torch.equal(tensor, want[name]), name


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
