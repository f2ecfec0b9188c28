"""Checkpoints that say too little, too much, or what is not read: every verb says the same."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.checkpoints.test_layouts import packed, rewrite, theirs, write

from bertsmith.checkpoints.convert import convert
from bertsmith.checkpoints.directory import load_any, load_encoder, load_model
from bertsmith.checkpoints.tensorflow import TensorBundle, write_bundle
from bertsmith.common.errors import ModelError
from bertsmith.doctor.chart import Finding, Grade
from bertsmith.doctor.examine import examine
from bertsmith.text.tokenizer import Tokenizer

QUERY = "bert.encoder.layer.0.attention.self.query.weight"
BIAS, OWN_BIAS = "cls.predictions.bias", "cls.predictions.decoder.bias"


def change_config(folder: Path, *gone: str, **values: Any) -> None:
    config = json.loads((folder / "config.json").read_text()) | values
    kept = {key: value for key, value in config.items() if key not in gone}
    (folder / "config.json").write_text(json.dumps(kept))


def findings(folder: Path, grade: Grade) -> list[Finding]:
    return [one for one in examine(folder).findings if one.grade is grade]


def test_a_next_sentence_head_alone_is_kept(tmp_path: Path, tokenizer: Tokenizer) -> None:
    kind = "BertForNextSentencePrediction"
    model = theirs(kind)
    source = write(tmp_path / "theirs", model, tokenizer)
    assert not findings(source, Grade.BROKEN)
    ours = load_any(source)
    assert ours.report.ignored == ours.report.missing == ours.report.new == ()
    with torch.inference_mode():
        pooled = ours.model.encoder.pool(ours.model.encoder(packed()), packed())
        logits = ours.model.next_sentence.dense(pooled)  # type: ignore[union-attr, operator]
        expected = model(torch.tensor([[2, 4, 3]])).logits
    torch.testing.assert_close(logits[1:2], expected, rtol=1e-5, atol=1e-5)
    for layout, name in (("huggingface", "ours"), ("tensorflow", "google")):
        convert(source, tmp_path / name, layout)
    convert(tmp_path / "google", tmp_path / "back")
    for name in ("ours", "back"):
        opened, info = getattr(transformers, kind).from_pretrained(
            tmp_path / name, output_loading_info=True
        )
        assert not info["missing_keys"]
        assert not info["unexpected_keys"]
        assert opened.config.architectures == [kind]
        for key, tensor in model.state_dict().items():
            assert torch.equal(opened.state_dict()[key], tensor), key
    with pytest.raises(ModelError, match="no masked-LM head"):
        load_model(source)


def google(folder: Path, source: Path, **more: np.ndarray) -> Path:
    """A TensorFlow checkpoint with more variables; ``__`` stands for a slash."""
    convert(source, folder, "tensorflow")
    bundle = TensorBundle(folder / "bert_model.ckpt")
    variables = {name: bundle.read(name) for name in bundle.entries}
    added = {name.replace("__", "/"): one for name, one in more.items()}
    write_bundle(folder / "bert_model.ckpt", variables | added)
    return folder


def test_unknown_tensors_beside_the_encoder_are_left_out_with_a_word(
    tmp_path: Path, tokenizer: Tokenizer, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    odd = np.array([[np.nan, 1.0]], np.float32)
    in_google = google(tmp_path / "google", source, mine__weight=odd)
    rewrite(source, lambda s: s | {
        "mine.weight": torch.from_numpy(odd), "mine.count": torch.arange(3)
    })  # fmt: skip
    for folder, name in ((source, "mine.weight"), (in_google, "mine/weight")):
        assert not findings(folder, Grade.BROKEN)
        warned = [one.what for one in findings(folder, Grade.WARNING)]
        assert any("a BertForPreTraining has no place for" in one and name in one for one in warned)
        capsys.readouterr()
        done = convert(folder, tmp_path / "out")
        assert name in done.report.ignored
        text = done.report.as_text()
        assert name in text.partition(" ignored (")[2]
        error = capsys.readouterr().err
        assert "no place in a BertForPreTraining, left out: " in error
        assert name in error
        assert not [
            one for one in load_file(tmp_path / "out" / "model.safetensors") if "mine" in one
        ]


def test_unknown_tensors_of_the_encoder_are_refused(tmp_path: Path, tokenizer: Tokenizer) -> None:
    """Vectors without an adapter that the model was trained with would be wrong in silence."""
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    odd = np.random.default_rng(0).random((2, 3), np.float32)
    in_google = google(tmp_path / "google", source, bert__encoder__layer_0__adapter__kernel=odd)
    rewrite(source, lambda s: s | {"bert.encoder.layer.0.adapter": torch.from_numpy(odd)})
    for folder in (source, in_google):
        for read in (load_any, load_encoder, lambda one: convert(one, tmp_path / "out")):
            with pytest.raises(ModelError, match=r"has the unknown tensor bert.*adapter"):
                read(folder)
        found = findings(folder, Grade.BROKEN)
        assert "an encoder that config.json does not describe" in found[0].what


def _pooler(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    weight, bias = torch.randn(32, 32), torch.randn(32)
    return tensors | {"bert.pooler.dense.weight": weight, "bert.pooler.dense.bias": bias}


@pytest.mark.parametrize(
    ("kind", "config", "change", "taken", "others"),
    [
        ("BertForMultipleChoice", {}, None, "BertForSequenceClassification",
         "BertForMultipleChoice or BertForTokenClassification"),
        ("BertForTokenClassification", {"num_labels": 4}, _pooler, "BertForSequenceClassification",
         "BertForTokenClassification"),
        ("BertForSequenceClassification", {"num_labels": 3}, None, "BertForSequenceClassification",
         "BertForTokenClassification"),
        ("BertForTokenClassification", {"num_labels": 4}, None, "BertForTokenClassification", ""),
        ("BertForQuestionAnswering", {}, None, "BertForQuestionAnswering", ""),
    ],
)  # fmt: skip
def test_what_a_head_without_a_class_was_taken_for_is_said(
    kind: str,
    config: dict[str, Any],
    change: Callable[..., Any] | None,
    taken: str,
    others: str,
    tmp_path: Path,
    tokenizer: Tokenizer,
) -> None:
    source = write(tmp_path / "theirs", theirs(kind, **config), tokenizer)
    if change:
        rewrite(source, change)
    assert load_any(source).report.assumed is None
    change_config(source, "architectures")
    text = load_any(source).report.as_text()
    assert f"is taken for {taken}" in text
    assert (f"if it is {others}, say so" in text) == bool(others)
    assert "if it is ;" not in text
    grade = Grade.WARNING if others else Grade.NOTE
    found = [one for one in findings(source, grade) if "no class is named" in one.what]
    assert len(found) == 1
    # What it says to do is enough.
    change_config(source, architectures=[kind])
    again = load_any(source)
    assert again.report.assumed is None
    convert(source, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["architectures"] == [kind]


def test_a_class_that_the_heads_do_not_bear_out_is_said(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    source = write(tmp_path / "theirs", theirs("BertForMaskedLM"), tokenizer)
    change_config(source, architectures=["BertForPoetry"])
    text = "config.json says BertForPoetry, but by its heads the model is a BertForMaskedLM"
    assert text in load_any(source).report.as_text()
    warned = [one.what for one in findings(source, Grade.WARNING)]
    assert any("it reads the model as a BertForMaskedLM" in one for one in warned)
    # Whoever asks for the encoder alone does not ask about the class.
    assert load_encoder(source).report.assumed is None


def test_a_regression_of_several_numbers_gets_one_message(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    made = theirs("BertForSequenceClassification", num_labels=3, problem_type="regression")
    source = write(tmp_path / "theirs", made, tokenizer)
    text = "a regression with 3 outputs is not read"
    with pytest.raises(ModelError, match=text):
        convert(source, tmp_path / "out")
    broken = findings(source, Grade.BROKEN)
    assert len(broken) == 1
    assert text in broken[0].what
    load_encoder(source)
    change_config(source, problem_type="multi_label_classification")  # the mend
    convert(source, tmp_path / "out")


def test_the_bias_of_an_own_decoder_under_either_name(tmp_path: Path, tokenizer: Tokenizer) -> None:
    model = theirs("BertForMaskedLM", tie_word_embeddings=False)
    with torch.no_grad():
        model.cls.predictions.decoder.bias.copy_(torch.arange(15.0))
        model.cls.predictions.bias.copy_(torch.arange(15.0) + 1)
    source = write(tmp_path / "theirs", model, tokenizer)
    loaded = load_any(source)
    assert f"idle and not kept: {BIAS}" in loaded.report.as_text()
    assert torch.equal(loaded.model.state_dict()["masked_lm.bias"], torch.arange(15.0))
    assert any(f"{BIAS} is idle" in one.what for one in findings(source, Grade.NOTE))
    rewrite(source, lambda s: {name: one for name, one in s.items() if name != OWN_BIAS})
    loaded = load_any(source)
    assert f"no {OWN_BIAS}: {BIAS} stands in" in loaded.report.as_text()
    assert loaded.report.missing == ()
    assert torch.equal(loaded.model.state_dict()["masked_lm.bias"], torch.arange(15.0) + 1)
    assert any(f"{BIAS} stands in" in one.what for one in findings(source, Grade.NOTE))
    convert(source, tmp_path / "out")
    text = load_any(tmp_path / "out").report.as_text()
    assert "stands in" not in text
    assert "idle" not in text


def add_raw(file: Path, name: str, kind: str, size: int) -> None:
    """Put a tensor of any type into a safetensors file, by its format's description."""
    whole = file.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    header, body = json.loads(whole[8 : 8 + length]), whole[8 + length :]
    places = {"dtype": kind, "shape": [8], "data_offsets": [len(body), len(body) + size]}
    text = json.dumps(header | {name: places}).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(struct.pack("<Q", len(text)) + text + body + bytes(size))


@pytest.mark.parametrize("kind", ["F6_E2M3", "F6_E3M2", "F9"])
def test_types_that_torch_has_not(kind: str, tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    add_raw(source / "model.safetensors", "extra", kind, 6 if kind != "F9" else 9)
    text = f"tensor extra is of a type that is not read (got '{kind}')"
    with pytest.raises(ModelError) as caught:
        convert(source, tmp_path / "out")
    assert text in str(caught.value)
    assert text in [one.what for one in findings(source, Grade.BROKEN)]


@pytest.mark.parametrize("kind", ["F4", "F8_E5M2", "F8_E4M3", "F8_E8M0", "C64", "U16", "BOOL"])
def test_types_that_hold_no_weights(kind: str, tmp_path: Path, tokenizer: Tokenizer) -> None:
    """They are no harm beside the encoder, and none of any command's weights."""
    bits = {"F4": 4, "C64": 64, "U16": 16}.get(kind, 8)
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    add_raw(source / "model.safetensors", "extra", kind, bits)
    assert not findings(source, Grade.BROKEN)
    convert(source, tmp_path / "out")
    file, name = source / "model.safetensors", "bert.embeddings.LayerNorm.bias"
    rewrite(source, lambda s: {one: s[one] for one in s if one not in ("extra", name)})
    add_raw(file, name, kind, bits)
    with pytest.raises(ModelError, match=rf"tensor {name} holds numbers of type \w+, not weights"):
        convert(source, tmp_path / "out")
    broken = [one.what for one in findings(source, Grade.BROKEN)]
    assert any(f"not hold plain floating point numbers: {name}" in one for one in broken)


def test_a_quantised_matrix_beside_its_copy(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    file = source / "model.safetensors"
    tensors = load_file(file)
    words = tensors["bert.embeddings.word_embeddings.weight"].to(torch.float8_e4m3fn)
    tensors["bert.embeddings.word_embeddings.weight"] = words
    save_file(tensors | {"cls.predictions.decoder.weight": words.clone()}, file)
    with pytest.raises(ModelError, match="type float8_e4m3fn, not weights"):
        convert(source, tmp_path / "out")
    assert findings(source, Grade.BROKEN)


def test_a_checkpoint_that_is_not_there_is_no_name_of_the_hub(
    tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "theirs", theirs("BertForPreTraining"), tokenizer)
    convert(source, tmp_path / "google", "tensorflow")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError) as caught:
        load_any(Path("google/model.ckpt-31"))
    assert "there is no such checkpoint" in str(caught.value)
    assert "google has bert_model.ckpt" in str(caught.value)
    (tmp_path / "google" / "bert_config.json").unlink()
    found = [one.what for one in findings(Path("google"), Grade.BROKEN)]
    assert found == ["the checkpoint has no bert_config.json beside it"]
