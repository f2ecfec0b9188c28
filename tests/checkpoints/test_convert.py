"""Round trips between all layouts, to the last bit; and what a layout has no place for."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tests.checkpoints.test_layouts import KINDS, theirs, write
from tests.data import data

from bertsmith.checkpoints.convert import convert
from bertsmith.checkpoints.directory import load_any, load_task_model
from bertsmith.checkpoints.tensorflow import TensorBundle
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.text.tokenizer import Tokenizer

GOOGLE = {"BertForPreTraining", "BertForSequenceClassification", "BertForQuestionAnswering"}


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize(("kind", "config", "_ours"), KINDS)
def test_there_and_back(
    kind: str, config: dict[str, Any], _ours: type, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    model = theirs(kind, **config)
    source = write(tmp_path / "theirs", model, tokenizer)
    convert(source, tmp_path / "ours")
    convert(tmp_path / "ours", tmp_path / "again")
    assert weights(tmp_path / "ours") == weights(tmp_path / "again")
    if kind not in GOOGLE | {"BertModel", "BertForMaskedLM"} or not config.get(
        "tie_word_embeddings", True
    ):
        with pytest.raises(ModelError):
            convert(tmp_path / "ours", tmp_path / "google", "tensorflow")
        assert not (tmp_path / "google").exists()
        return
    convert(tmp_path / "ours", tmp_path / "google", "tensorflow")
    assert {one.name for one in (tmp_path / "google").iterdir()} == {
        "bert_config.json", "bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001",
        "vocab.txt", "tokenizer_config.json",
    }  # fmt: skip
    back = convert(tmp_path / "google", tmp_path / "back")
    assert weights(tmp_path / "back") == weights(tmp_path / "ours")
    assert back.tokenizer.digest == tokenizer.digest
    convert(tmp_path / "back", tmp_path / "google2", "tensorflow")
    for one in (tmp_path / "google").iterdir():
        assert one.read_bytes() == (tmp_path / "google2" / one.name).read_bytes()
    opened, info = getattr(transformers, kind).from_pretrained(
        tmp_path / "back", output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    for name, tensor in model.state_dict().items():
        assert torch.equal(opened.state_dict()[name], tensor), name


def test_a_fine_tuned_model_of_2018_has_as_many_labels_as_rows(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    model = theirs("BertForSequenceClassification", num_labels=3)
    source = write(tmp_path / "theirs", model, tokenizer)
    convert(source, tmp_path / "google", "tensorflow")
    for one in (tmp_path / "google").glob("bert_model.ckpt.*"):
        one.rename(one.with_name(one.name.replace("bert_model.ckpt", "model.ckpt-343")))
    bundle = TensorBundle(tmp_path / "google" / "model.ckpt-343")
    assert bundle.entries["output_weights"].shape == (3, 32)
    for path in (tmp_path / "google", tmp_path / "google" / "model.ckpt-343"):
        spec = load_task_model(path).model.spec
        assert (spec.kind, spec.labels) == ("classes", ("LABEL_0", "LABEL_1", "LABEL_2"))


def test_googles_own_checkpoint() -> None:
    folder = data("checkpoints", "google-tf-tiny")
    loaded = load_any(folder)
    report = loaded.report
    assert (len(report.found), report.missing, report.ignored) == (46, (), ())
    assert set(report.skipped.values()) == {"state of the optimizer", "a counter of steps"}
    bundle = TensorBundle(folder / "bert_model.ckpt")
    kernel = bundle.read("bert/encoder/layer_0/attention/self/key/kernel")
    ours = loaded.model.encoder.layers[0].qkv.weight.detach().numpy()[4:8]
    assert np.array_equal(ours, kernel.T)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layer_norm_eps": 1e-5}, "1e-12 for LayerNorm's epsilon"),
        ({"hidden_act": "gelu_new"}, "knows the activations gelu, relu, tanh"),
    ],
)
def test_mathematics_that_the_2018_code_has_not(
    change: dict[str, Any], message: str, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining", **change), tokenizer)
    with pytest.raises(ModelError, match=message):
        convert(source, tmp_path / "google", "tensorflow")


def test_a_bit_flipped_in_a_tensor(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    convert(source, tmp_path / "google", "tensorflow")
    file = tmp_path / "google" / "bert_model.ckpt.data-00000-of-00001"
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 4
    file.write_bytes(whole)
    with pytest.raises(ModelError, match=r"data-00000-of-00001.*bert/"):
        convert(tmp_path / "google", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_it_does_not_write_over_its_source(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "theirs", theirs("BertModel"), tokenizer)
    with pytest.raises(SettingsError, match="would replace itself"):
        convert(source / "model.safetensors", source)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    words: Sequence[str] = [sys.executable, "-m", "bertsmith", "convert", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_the_command_adds_words_and_counts(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    (tmp_path / "words.txt").write_text("cats\nthe\nthe-cat\n")
    (tmp_path / "text.txt").write_text("The cats sat on the mat.\n")
    out = tmp_path / "out"
    options = ("--add-tokens", tmp_path / "words.txt", "--text", tmp_path / "text.txt")
    done = command(source, out, *options, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["added"]["tokens"] == [{"token": "cats", "id": 15, "pieces": ["cat", "##s"]}]
    assert result["added"]["known"] == ["the"]
    assert result["added"]["unreachable"] == ["the-cat"]
    assert (result["text"]["before"]["tokens"], result["text"]["after"]["tokens"]) == (8, 7)
    assert "1 words would never be looked up" in done.stderr
    assert transformers.AutoModelForMaskedLM.from_pretrained(out).config.vocab_size == 16
    assert transformers.AutoTokenizer.from_pretrained(out)("cats")["input_ids"] == [2, 15, 3]


def test_case_is_what_the_vocabulary_shows_or_what_is_said(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (source / name).unlink()
    assert load_any(source).tokenizer.lowercase
    text = (source / "vocab.txt").read_text()
    (source / "vocab.txt").write_text(text.replace("ran", "Rome"))
    assert not load_any(source).tokenizer.lowercase
    done = command(source, tmp_path / "out", "--uncased", "--json")
    assert json.loads(done.stdout)["cased"] is False
    assert load_any(tmp_path / "out").tokenizer.lowercase
    done = command(tmp_path / "out", tmp_path / "out2", "--cased")
    assert done.returncode == 2
    assert "say the opposite" in done.stderr


def test_a_model_that_was_there_before_does_not_speak_for_the_new_one(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    one = write(tmp_path / "one", theirs("BertForPreTraining"), tokenizer)
    two = write(tmp_path / "two", theirs("BertForSequenceClassification"), tokenizer)
    out = tmp_path / "out"
    convert(one, out)
    (out / "notes.txt").write_text("mine")
    (out / "task.json").write_text("{}")
    convert(two, out, "tensorflow")
    assert type(load_any(out).model).__name__ == "BertForTask"
    assert (out / "notes.txt").read_text() == "mine"
    assert not (out / "task.json").exists()
    assert not (out / "model.safetensors").exists()


def test_a_file_in_the_place_of_the_folder_stays(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "one", theirs("BertForPreTraining"), tokenizer)
    (tmp_path / "file").write_text("precious")
    with pytest.raises(ModelError, match="there is a file of that name"):
        convert(source, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"
    assert {one.name for one in tmp_path.iterdir()} == {"one", "file", "vocabulary"}


def test_half_precision_becomes_float32_and_is_called_so(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    """A stale dtype would have transformers round what training changes."""
    source = write(tmp_path / "half", theirs("BertForPreTraining").bfloat16(), tokenizer)
    assert json.loads((source / "config.json").read_text())["dtype"] == "bfloat16"
    convert(source, tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert not {"dtype", "torch_dtype"} & config.keys()
    opened = transformers.AutoModelForPreTraining.from_pretrained(tmp_path / "out")
    assert opened.dtype == torch.float32


def test_settings_of_the_tokenizer_survive_googles_layout(tmp_path: Path) -> None:
    model = theirs("BertForPreTraining")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{n}" for n in range(10))]
    odd = Tokenizer(words, True, False, False, 50)
    convert(write(tmp_path / "one", model, odd), tmp_path / "google", "tensorflow")
    assert load_any(tmp_path / "google").tokenizer.digest == odd.digest


def test_numbers_that_float32_has_not_are_not_rounded(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "one", theirs("BertForPreTraining"), tokenizer)
    state = {name: one.double() for name, one in theirs("BertForPreTraining").state_dict().items()}
    (source / "model.safetensors").unlink()
    torch.save(state, source / "pytorch_model.bin")
    convert(source, tmp_path / "exact")
    state["bert.pooler.dense.bias"][0] += 1e-12
    torch.save(state, source / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pooler\.dense\.bias is of float64"):
        convert(source, tmp_path / "rounded")


def test_a_small_file_does_not_ask_for_much_memory(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "one", theirs("BertForPreTraining"), tokenizer)
    state = dict(theirs("BertForPreTraining").state_dict())
    (source / "model.safetensors").unlink()
    for odd in (torch.zeros(1, 1).expand(10**9, 32), torch.zeros(15, 32).to_sparse()):
        state["bert.embeddings.word_embeddings.weight"] = odd
        torch.save(state, source / "pytorch_model.bin")
        with pytest.raises(ModelError, match="sparse, nested, without numbers or one number"):
            convert(source, tmp_path / "out")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_json_that_is_deep_or_has_no_numbers(
    name: str, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    source = write(tmp_path / "one", theirs("BertForPreTraining"), tokenizer)
    (source / name).write_text('{"a":' * 100_000)
    assert command(source, tmp_path / "out").returncode == 2


def test_names_that_are_too_long(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "one", theirs("BertForPreTraining"), tokenizer)
    for words in ((source, tmp_path / ("x" * 300)), (tmp_path / ("x" * 300), tmp_path / "out")):
        done = command(*words)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
