"""Every form in which Hugging Face's BERTs lie about is read, and says what it was."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.data import data

from bertsmith.checkpoints.checkpoint import open_checkpoint
from bertsmith.checkpoints.directory import (
    load_any,
    load_encoder,
    load_model,
    load_task_model,
)
from bertsmith.checkpoints.save import save_model
from bertsmith.common.errors import ModelError
from bertsmith.model.bare import BareBert
from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.task import BertForTask
from bertsmith.text.tokenizer import Tokenizer

IDS = [[2, 5, 6, 4, 8, 3, 7, 3], [2, 4, 3], [2, 3]]
SEGMENTS = [[0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0], [0, 0]]
Tensors = dict[str, torch.Tensor]


def packed() -> PackedBatch:
    return PackedBatch.from_sequences(list(zip(IDS, SEGMENTS, strict=True)))


def theirs(kind: str, **config: Any) -> transformers.PreTrainedModel:
    torch.manual_seed(3)
    made = transformers.BertConfig(
        vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=40, **config,
    )  # fmt: skip
    model = getattr(transformers, kind)(made).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return model


def write(folder: Path, model: transformers.PreTrainedModel, tokenizer: Tokenizer) -> Path:
    model.save_pretrained(folder)
    tokenizer.save(folder)
    return folder


def rewrite(folder: Path, change: Callable[[Tensors], Tensors]) -> None:
    file = folder / "model.safetensors"
    save_file({name: one.contiguous() for name, one in change(load_file(file)).items()}, file)


def hidden_of(model: transformers.PreTrainedModel) -> list[torch.Tensor]:
    return [
        model.base_model(torch.tensor([ids]), token_type_ids=torch.tensor([segments]))[0][0]
        for ids, segments in zip(IDS, SEGMENTS, strict=True)
    ]


def same_hidden(folder: Path, model: transformers.PreTrainedModel) -> None:
    encoder = load_encoder(folder).model
    with torch.inference_mode():
        ours = encoder(packed()).split([len(one) for one in IDS])
        for one, other in zip(ours, hidden_of(model), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


KINDS = [
    ("BertModel", {}, BareBert),
    ("BertForPreTraining", {}, BertForPreTraining),
    ("BertForMaskedLM", {}, BertForPreTraining),
    ("BertForMaskedLM", {"tie_word_embeddings": False}, BertForPreTraining),
    ("BertForSequenceClassification", {"num_labels": 3}, BertForTask),
    ("BertForTokenClassification", {"num_labels": 4}, BertForTask),
    ("BertForQuestionAnswering", {}, BertForTask),
    ("BertForMultipleChoice", {}, BertForTask),
]


@pytest.mark.parametrize(("kind", "config", "ours"), KINDS)
def test_every_class_opens_as_what_it_is_and_comes_back(
    kind: str, config: dict[str, Any], ours: type, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    model = theirs(kind, **config)
    folder = write(tmp_path / "theirs", model, tokenizer)
    loaded = load_any(folder)
    assert type(loaded.model) is ours
    assert loaded.report.missing == loaded.report.new == loaded.report.ignored == ()
    same_hidden(folder, model)
    save_model(tmp_path / "ours", loaded.model, tokenizer, "# card")
    back, info = getattr(transformers, kind).from_pretrained(
        tmp_path / "ours", output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert not info["mismatched_keys"]
    idle = {"cls.predictions.bias"} if config.get("tie_word_embeddings") is False else set()
    for name, tensor in model.state_dict().items():
        assert name in idle or torch.equal(back.state_dict()[name], tensor), name
    saved = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert saved["architectures"] == [kind]


def test_an_untied_decoder_gives_its_own_logits(tmp_path: Path, tokenizer: Tokenizer) -> None:
    model = theirs("BertForMaskedLM", tie_word_embeddings=False)
    decoder, words = model.cls.predictions.decoder.weight, model.get_input_embeddings().weight
    assert not torch.equal(decoder, words)
    folder = write(tmp_path / "theirs", model, tokenizer)
    ours = load_model(folder).model
    with torch.inference_mode():
        logits, pairs = ours(packed(), torch.arange(8))
        expected = model(torch.tensor(IDS[:1]), token_type_ids=torch.tensor(SEGMENTS[:1]))
    assert pairs is None
    torch.testing.assert_close(logits, expected.logits[0], rtol=1e-5, atol=1e-5)


def test_sharded_files(tmp_path: Path, tokenizer: Tokenizer) -> None:
    model = theirs("BertForPreTraining")
    model.save_pretrained(tmp_path, max_shard_size="10KB")
    tokenizer.save(tmp_path)
    shards = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 2
    loaded = load_model(tmp_path)
    assert loaded.report.layout == "sharded safetensors"
    assert not loaded.report.missing
    same_hidden(tmp_path, model)

    index = tmp_path / "model.safetensors.index.json"
    good = index.read_text()
    index.write_text(good.replace(shards[0].name, f"../{shards[0].name}"))
    with pytest.raises(ModelError, match="file outside its folder"):
        load_model(tmp_path)
    index.write_text(good[:-20])
    with pytest.raises(ModelError, match="index of the shards can not be read"):
        load_model(tmp_path)
    index.write_text(good)
    whole = shards[1].read_bytes()
    shards[1].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=rf"{shards[1].name}: the weight file is damaged"):
        load_model(tmp_path)
    shutil.copy(shards[0], shards[1])
    with pytest.raises(ModelError, match="stands in two shards"):
        load_model(tmp_path)
    shards[1].unlink()
    with pytest.raises(ModelError, match=rf"{shards[1].name}: there is no such weight file"):
        load_model(tmp_path)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("wrapper", ["", "state_dict"])
def test_pickles(tmp_path: Path, tokenizer: Tokenizer, zipped: bool, wrapper: str) -> None:
    model = theirs("BertForPreTraining")
    folder = write(tmp_path, model, tokenizer)
    (folder / "model.safetensors").unlink()
    state: Any = model.state_dict()
    state["bert.embeddings.position_ids"] = torch.arange(40)[None]
    torch.save(
        {wrapper: state, "epoch": 3} if wrapper else state,
        folder / "pytorch_model.bin",
        _use_new_zipfile_serialization=zipped,
    )
    loaded = load_model(folder)
    assert loaded.report.layout == "pytorch_model.bin"
    assert list(loaded.report.skipped) == ["bert.embeddings.position_ids"]
    assert "1 skipped (a table of counters, not a weight)" in loaded.report.as_text()
    same_hidden(folder, model)
    same_hidden(folder / "pytorch_model.bin", model)


def test_sharded_pickles(tmp_path: Path, tokenizer: Tokenizer) -> None:
    model = theirs("BertForPreTraining")
    folder = write(tmp_path, model, tokenizer)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places = {}
    for number in (0, 1):
        some = dict(list(tensors.items())[number::2])
        torch.save(some, folder / f"pytorch_model-{number}.bin")
        places |= dict.fromkeys(some, f"pytorch_model-{number}.bin")
    index = {"metadata": {}, "weight_map": places}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert load_model(folder).report.layout == "sharded pytorch_model.bin"
    same_hidden(folder, model)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("open('bombed', 'w').write('x')",))


def test_a_pickle_with_code_is_refused_and_not_run(
    tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "model", theirs("BertForPreTraining"), tokenizer)
    monkeypatch.chdir(tmp_path)
    (folder / "model.safetensors").unlink()
    torch.save({"a": torch.zeros(1), "b": Bomb()}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"would run its code: it is refused \(got '.*exec'"):
        load_model(folder)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"b": Bomb()}, protocol))
        with pytest.raises(ModelError, match=r"it is refused|was not written by torch"):
            load_model(folder)
    assert not (tmp_path / "bombed").exists()


@pytest.mark.parametrize("size", [0, 3, 500, 20_000])
def test_a_cut_pickle(tmp_path: Path, tokenizer: Tokenizer, size: int) -> None:
    model = theirs("BertForPreTraining")
    folder = write(tmp_path, model, tokenizer)
    (folder / "model.safetensors").unlink()
    for zipped in (True, False):
        file = folder / "pytorch_model.bin"
        torch.save(model.state_dict(), file, _use_new_zipfile_serialization=zipped)
        file.write_bytes(file.read_bytes()[:size])
        with pytest.raises(ModelError, match=r"pytorch_model\.bin: the weight file is damaged"):
            load_model(folder)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("data parallel", lambda s: {f"module.{k}": v for k, v in s.items()}),
        ("compiled", lambda s: {f"module._orig_mod.{k}": v for k, v in s.items()}),
        ("old LayerNorm", lambda s: {_old(k): v for k, v in s.items()}),
        ("encoder alone", lambda s: {
            k.removeprefix("bert."): v for k, v in s.items() if k.startswith("bert.")
        }),
        ("with counters", lambda s: s | {"bert.embeddings.position_ids": torch.arange(40)[None]}),
        ("with copies", lambda s: s | {
            "cls.predictions.decoder.weight": s["bert.embeddings.word_embeddings.weight"].clone(),
            "cls.predictions.decoder.bias": s["cls.predictions.bias"].clone(),
        }),
        ("decoder's bias alone", lambda s: {
            k.replace("predictions.bias", "predictions.decoder.bias"): v for k, v in s.items()
        }),
        ("half precision", lambda s: {k: v.half().float() for k, v in s.items()}),
    ],
)  # fmt: skip
def test_spellings(
    name: str, change: Callable[[Tensors], Tensors], tmp_path: Path, tokenizer: Tokenizer
) -> None:
    model = theirs("BertForPreTraining")
    folder = write(tmp_path, model, tokenizer)
    rewrite(folder, change)
    if name == "half precision":
        model.load_state_dict({k: v.half().float() for k, v in model.state_dict().items()})
    same_hidden(folder, model)
    report = load_any(folder).report
    assert not report.missing
    assert not report.ignored
    stored = load_file(folder / "model.safetensors")
    unchanged = [one for one in stored if one in model.state_dict()]
    assert len(report.renamed) + len(report.skipped) + len(unchanged) == len(stored)


def _old(name: str) -> str:
    for new, old in (("weight", "gamma"), ("bias", "beta")):
        name = name.replace(f"LayerNorm.{new}", f"LayerNorm.{old}")
    return name


def test_two_names_for_one_weight(tmp_path: Path, tokenizer: Tokenizer) -> None:
    folder = write(tmp_path, theirs("BertForPreTraining"), tokenizer)
    name = "bert.embeddings.LayerNorm"
    rewrite(folder, lambda s: s | {f"{name}.gamma": s[f"{name}.weight"] + 1})
    with pytest.raises(ModelError, match=rf"{name}\.(gamma|weight) and .* stand for one weight"):
        load_model(folder)


def test_a_layer_too_many_is_no_head(tmp_path: Path, tokenizer: Tokenizer) -> None:
    """An encoder of two layers in a configuration of one would give plausible wrong vectors."""
    folder = write(tmp_path, theirs("BertForPreTraining"), tokenizer)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 1}))
    with pytest.raises(ModelError, match=r"has the unknown tensor bert\.encoder\.layer\.1"):
        load_encoder(folder)
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with pytest.raises(ModelError, match=r"lacks tensor bert\.encoder\.layer\.2"):
        load_encoder(folder)


def test_heads_of_other_tasks_are_ignored_with_a_word(tmp_path: Path, tokenizer: Tokenizer) -> None:
    folder = write(tmp_path, theirs("BertForPreTraining"), tokenizer)
    report = load_encoder(folder).report
    assert "7 ignored (cls.predictions, cls.seq_relationship)" in report.as_text()


def test_a_pooler_that_nothing_reads_is_ignored_with_a_word(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    folder = write(tmp_path, theirs("BertModel"), tokenizer)
    encoder = Encoder(BertConfig.from_json(folder / "config.json"), pooler=False)
    assert "2 ignored (bert.pooler)" in load_encoder(folder, encoder).report.as_text()


def test_a_tagger_may_carry_a_pooler(tmp_path: Path, tokenizer: Tokenizer) -> None:
    model = theirs("BertForTokenClassification", num_labels=4)
    folder = write(tmp_path, model, tokenizer)
    rewrite(folder, lambda s: s | {
        "bert.pooler.dense.weight": torch.ones(32, 32), "bert.pooler.dense.bias": torch.ones(32)
    })  # fmt: skip
    report = load_task_model(folder).report
    assert "2 ignored (bert.pooler)" in report.as_text()


def test_a_configuration_of_2018_gets_its_architecture_from_the_heads(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    for kind, head in (
        ("BertForSequenceClassification", "classes"),
        ("BertForTokenClassification", "tokens"),
        ("BertForQuestionAnswering", "span"),
    ):
        labels = {} if head == "span" else {"num_labels": 5}
        folder = write(tmp_path / kind, theirs(kind, **labels), tokenizer)
        config = json.loads((folder / "config.json").read_text())
        for key in ("architectures", "id2label", "label2id", "num_labels", "model_type"):
            config.pop(key, None)
        (folder / "config.json").write_text(json.dumps(config))
        spec = load_task_model(folder).model.spec
        assert spec.kind == head
        assert len(spec.labels) == (0 if head == "span" else 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_act": "geluu"}, "unknown activation"),
        ({"vocab_size": 16}, r"has shape \[15, 32\], but the configuration says \[16, 32\]"),
        ({"is_decoder": True}, "is_decoder makes it a decoder"),
        ({"position_embedding_type": "relative_key"}, "relative positions"),
        ({"model_type": "roberta"}, "not a BERT"),
        ({"num_hidden_layers": 0}, "num_hidden_layers takes a whole number"),
        ({"hidden_size": "32"}, "hidden_size takes a whole number"),
        ({"num_hidden_layers": 10**9}, "beyond those of any BERT"),
        ({"vocab_size": 10**12}, "beyond those of any BERT"),
        ({"vocab_size": 10**8}, r"is of 3,\d+,\d+,\d+ parameters, but the weights are 19,\d+ num"),
        ({"hidden_act": ["gelu"]}, "hidden_act takes the name of an activation"),
        ({"layer_norm_eps": "1e-12"}, "layer_norm_eps takes a number between 0 and 1"),
        ({"initializer_range": 0}, "initializer_range takes a number between 0 and 1"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings is true or false"),
    ],
)
def test_configurations_that_can_not_be(
    change: dict[str, Any], message: str, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    folder = write(tmp_path, theirs("BertForPreTraining"), tokenizer)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ModelError, match=message):
        load_model(folder)


def test_folders_that_are_no_model(tmp_path: Path, tokenizer: Tokenizer) -> None:
    run = tmp_path / "run"
    write(run / "model", theirs("BertForPreTraining"), tokenizer)
    with pytest.raises(ModelError, match=r"did you mean .*run/model\?"):
        load_model(run)
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "tf_model.h5").write_bytes(b"")
    with pytest.raises(ModelError, match="holds Keras weights"):
        load_model(tmp_path / "keras")
    with pytest.raises(ModelError, match="this file is no model"):
        load_model(run / "model" / "vocab.txt")


def test_integers_are_no_weights(tmp_path: Path, tokenizer: Tokenizer) -> None:
    folder = write(tmp_path, theirs("BertForPreTraining"), tokenizer)
    name = "bert.encoder.layer.0.output.dense.weight"
    rewrite(folder, lambda s: s | {name: torch.zeros(32, 48, dtype=torch.int8)})
    with pytest.raises(ModelError, match=f"{name} holds numbers of type int8"):
        load_model(folder)


def test_a_real_pickle_of_old() -> None:
    folder = data("checkpoints", "hf-bin-tiny")
    loaded = load_any(folder)
    assert isinstance(loaded.model, BareBert)
    assert loaded.report.layout == "pytorch_model.bin"
    assert not loaded.report.missing
    assert len(loaded.report.found) == len(open_checkpoint(folder).tensors) == 23
    model = transformers.BertModel.from_pretrained(folder).eval()
    ids = [[2, 9, 100, 3], [2, 3]]
    with torch.inference_mode():
        batch = PackedBatch.from_sequences([(one, [0] * len(one)) for one in ids])
        found = loaded.model.encoder(batch).split([4, 2])
        for one, other in zip(ids, found, strict=True):
            expected = model(torch.tensor([one])).last_hidden_state[0]
            torch.testing.assert_close(other, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [10**12, 0, "3"])
def test_a_number_of_labels_that_can_not_be(
    count: object, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    folder = write(tmp_path, theirs("BertForSequenceClassification", num_labels=3), tokenizer)
    config = json.loads((folder / "config.json").read_text())
    del config["id2label"], config["label2id"]
    (folder / "config.json").write_text(json.dumps(config | {"num_labels": count}))
    with pytest.raises(ModelError, match="num_labels takes a whole number from 1 to 100,000"):
        load_task_model(folder)
