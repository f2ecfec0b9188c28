"""ONNX graphs say what the models say, on any rectangle, and a wrong graph is never written."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
import torch
import transformers

from bertsmith.cli.main import main
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.export import graph as graphs
from bertsmith.export import run as export_run
from bertsmith.export.graph import INPUTS, build_graph
from bertsmith.export.int8 import Speed
from bertsmith.export.run import Int8, export
from bertsmith.export.session import OnnxSession, padded
from bertsmith.model.activations import ACTIVATIONS
from bertsmith.model.config import BertConfig
from bertsmith.model.tagger import FeatureTagger
from bertsmith.model.task import Head
from bertsmith.text.tokenizer import Tokenizer
from tests.finetune.conftest import cola, model  # noqa: F401 - fixtures

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "BertModel": ({}, ["last_hidden_state", "pooler_output"]),
    "BertForPreTraining": ({}, ["prediction_logits", "seq_relationship_logits"]),
    "BertForMaskedLM": ({}, ["logits"]),
    "BertForNextSentencePrediction": ({}, ["logits"]),
    "untied": ({"tie_word_embeddings": False}, ["logits"]),
    "BertForSequenceClassification": ({"num_labels": 3}, ["logits"]),
    "BertForTokenClassification": ({"num_labels": 4}, ["logits"]),
    "BertForQuestionAnswering": ({}, ["start_logits", "end_logits"]),
    "BertForMultipleChoice": ({}, ["logits"]),
}
# Case E01's inputs; the mask and the segments differ, so that swapping them shows.
IDS = [[2, 7, 9, 8, 3], [2, 11, 4, 12, 3], [2, 6, 3, 0, 0]]
MASK = [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
SEGMENTS = [[0, 0, 0, 1, 1], [0, 0, 0, 0, 1], [0, 0, 1, 0, 0]]


def save(folder: Path, kind: str = "BertModel", **config: Any) -> transformers.PreTrainedModel:
    torch.manual_seed(4)
    kind, more = ("BertForMaskedLM", KINDS["untied"][0]) if kind == "untied" else (kind, {})
    shape = {
        "vocab_size": 23, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 48, "max_position_embeddings": 40,
    }  # fmt: skip
    made = transformers.BertConfig(**(shape | more | config))
    other = getattr(transformers, kind)(made).eval()
    with torch.no_grad():
        for weight in other.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    other.save_pretrained(folder)
    Tokenizer(SPECIALS + [f"w{number}" for number in range(18)]).save(folder, 40)
    return other


def feed(ids: Any, mask: Any, segments: Any) -> dict[str, np.ndarray]:
    values = (np.array(one, np.int64) for one in (ids, mask, segments))
    return dict(zip(INPUTS, values, strict=True))


def theirs(other: transformers.PreTrainedModel, one: dict[str, np.ndarray]) -> dict[str, Any]:
    with torch.inference_mode():
        return dict(other(**{name: torch.from_numpy(value) for name, value in one.items()}))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_equals_transformers(kind: str, tmp_path: Path) -> None:
    """Case E01: no shape of a sample is baked in."""
    config, outputs = KINDS[kind]
    other = save(tmp_path / "model", kind, **config)
    done = export(tmp_path / "model", tmp_path / "onnx")
    assert done.outputs == outputs
    assert done.difference < 1e-4
    session = OnnxSession(tmp_path / "onnx" / "model.onnx")
    rng = np.random.default_rng(0)
    long = rng.integers(0, 23, (2, 40)), np.ones((2, 40)), rng.integers(0, 2, (2, 40))
    for one in (
        feed(rng.integers(0, 23, (1, 8)), np.ones((1, 8)), np.zeros((1, 8))),
        feed(IDS, MASK, SEGMENTS), feed([[5]], [[1]], [[0]]), feed(*long),
    ):  # fmt: skip
        given = one
        if kind == "BertForMultipleChoice":
            given = {name: np.stack([value, value[::-1]], 1) for name, value in one.items()}
        got, expected = session.run(given), theirs(other, given)
        mask = one["attention_mask"].astype(bool)
        for name in outputs:
            want = expected[name].numpy()
            assert got[name].shape == want.shape
            every_token = want.shape[:2] == mask.shape and name != "pooler_output"
            if every_token and kind != "BertForMultipleChoice":
                np.testing.assert_allclose(got[name][mask], want[mask], rtol=0, atol=1e-4)
            else:
                np.testing.assert_allclose(got[name], want, rtol=0, atol=1e-4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation(activation: str, tmp_path: Path) -> None:
    save(tmp_path / "model", hidden_act=activation)
    assert export(tmp_path / "model", tmp_path / "onnx").difference < 1e-4


def test_mask_and_segments_are_not_to_be_swapped(tmp_path: Path) -> None:
    """Case E01: the two are of one shape, and swapped they give plausible wrong numbers."""
    save(tmp_path / "model")
    export(tmp_path / "model", tmp_path / "onnx")
    session = OnnxSession(tmp_path / "onnx" / "model.onnx")
    right = session.run(feed(IDS, MASK, SEGMENTS))["last_hidden_state"]
    wrong = session.run(feed(IDS, SEGMENTS, MASK))["last_hidden_state"]
    assert np.abs(right - wrong).max() > 0.1


Change = Callable[[pytest.MonkeyPatch], None]


def _swap(patch: pytest.MonkeyPatch) -> None:
    real = graphs._encoder
    patch.setattr(graphs, "_encoder", lambda g, e, ids, mask, kinds: real(g, e, ids, kinds, mask))


def _no_mask(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(graphs, "_MASKED", 0.0)


def _wrong_scale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(graphs, "math", SimpleNamespace(sqrt=lambda _: 2.0))


@pytest.mark.parametrize("change", [_swap, _no_mask, _wrong_scale])
def test_a_wrong_graph_is_not_written(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """Case E01: the command compares with the source itself and fails on a mismatch."""
    save(tmp_path / "model", hidden_act="relu")
    change(monkeypatch)
    assert main(["export", str(tmp_path / "model"), "--out", str(tmp_path / "onnx")]) == 2
    assert "the graph differs from the model" in capsys.readouterr().err
    assert {one.name for one in tmp_path.iterdir()} == {"model"}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named(number: float, tmp_path: Path, capsys) -> None:
    other = save(tmp_path / "model", "BertForSequenceClassification", num_labels=3)
    with torch.no_grad():
        other.bert.encoder.layer[1].attention.self.key.weight[3, 4] = number
    other.save_pretrained(tmp_path / "model")
    assert main(["export", str(tmp_path / "model"), "--out", str(tmp_path / "onnx"), "--int8"]) == 2
    error = capsys.readouterr().err
    assert "tensor bert.encoder.layer.1.attention.self.key.weight has NaN or infinity" in error
    assert "fault of bertsmith" not in error
    assert not (tmp_path / "onnx").exists()


def test_a_model_that_overflows_is_not_the_graphs_fault(tmp_path: Path, capsys) -> None:
    other = save(tmp_path / "model", "BertForSequenceClassification", num_labels=3)
    with torch.no_grad():
        other.classifier.weight.fill_(3e38)
    other.save_pretrained(tmp_path / "model")
    assert main(["export", str(tmp_path / "model"), "--out", str(tmp_path / "onnx")]) == 2
    error = capsys.readouterr().err
    assert "the model's own logits has NaN or infinity" in error
    assert "fault of bertsmith" not in error


def test_the_tables_have_headings_and_the_tokenizer_its_settings(tmp_path: Path, capsys) -> None:
    save(tmp_path / "model")
    file = tmp_path / "model" / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"padding_side": "left"}))
    assert main(["export", str(tmp_path / "model"), "--out", str(tmp_path / "onnx")]) == 0
    shown = capsys.readouterr().err
    assert " kB " in shown  # a small graph has a size, too
    assert "fact" in shown
    assert "value" in shown
    opened = transformers.AutoTokenizer.from_pretrained(tmp_path / "onnx")
    assert opened.padding_side == "left"


def test_batch_mates_and_a_row_of_padding_change_nothing(tmp_path: Path) -> None:
    save(tmp_path / "model")
    export(tmp_path / "model", tmp_path / "onnx")
    session = OnnxSession(tmp_path / "onnx" / "model.onnx")
    texts = [([2, 7, 8, 3], [0] * 4), ([2, *range(5, 20), 3], [0] * 17)]
    alone = session.run(padded(texts[:1]))["last_hidden_state"][0]
    both = session.run(padded(texts))["last_hidden_state"][0, :4]
    np.testing.assert_allclose(alone, both, rtol=0, atol=1e-5)
    ids = np.array([[2, 7, 8, 3], [0, 0, 0, 0]])
    found = session.run(feed(ids, ids > 0, np.zeros((2, 4))))["last_hidden_state"]
    np.testing.assert_allclose(alone, found[0], rtol=0, atol=1e-5)
    assert np.isfinite(found).all()


def test_the_folder_is_whole_and_weights_stand_once(tmp_path: Path) -> None:
    other = save(tmp_path / "model", "BertForPreTraining")
    export(tmp_path / "model", tmp_path / "onnx")
    assert {one.name for one in (tmp_path / "onnx").iterdir()} == {
        "model.onnx", "config.json", "README.md", "tokenizer.json", "tokenizer_config.json",
        "vocab.txt",
    }  # fmt: skip
    config = transformers.AutoConfig.from_pretrained(tmp_path / "onnx")
    assert config.architectures == ["BertForPreTraining"]
    loaded = onnx.load(tmp_path / "onnx" / "model.onnx")
    floats = [one for one in loaded.graph.initializer if one.data_type == 1 and one.dims]
    assert sum(int(np.prod(one.dims)) for one in floats) == other.num_parameters()


def test_int8_is_judged_by_what_was_measured(tmp_path: Path) -> None:
    save(tmp_path / "model", hidden_size=64, intermediate_size=128)
    done = export(tmp_path / "model", tmp_path / "onnx", int8=True)
    assert done.int8 is not None
    assert done.int8.bytes == (tmp_path / "onnx" / "model_int8.onnx").stat().st_size < done.bytes
    assert 0 < done.int8.mean_change < done.int8.largest_change
    assert done.int8.speed.low <= done.int8.speed.median <= done.int8.speed.high
    fast, slow = Speed(1.5, 1.4, 1.6, 3.0, 2.0, 1), Speed(1.1, 0.9, 1.6, 3.0, 3.0, 1)
    for speed, scores, words in (
        (slow, (0.9, 0.95), "int8 is not faster here: keep model.onnx"),
        (fast, (0.9, 0.88), "int8 is faster here, but its f1 is lower by 0.0200"),
        (fast, (0.9, 0.9), "int8 is faster here, and its score is no lower"),
        (fast, (None, None), "int8 is faster here; give --data"),
    ):
        assert words in Int8(1, 0.1, 0.1, speed, "f1", *scores).verdict


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "model")
    with pytest.raises(SettingsError, match="give --int8, too"):
        export(tmp_path / "model", tmp_path / "onnx", data=tmp_path)
    with pytest.raises(SettingsError, match="has no task to score"):
        export(tmp_path / "model", tmp_path / "onnx", int8=True, data=tmp_path)
    with pytest.raises(SettingsError, match="would replace the model"):
        export(tmp_path / "model", tmp_path / "model")
    monkeypatch.setattr(export_run, "_MOST_BYTES", 1000)
    with pytest.raises(ModelError, match="above the 2 GiB"):
        export(tmp_path / "model", tmp_path / "onnx")
    config = BertConfig(
        vocab_size=23, hidden_size=8, num_hidden_layers=4, num_attention_heads=1,
        intermediate_size=8,
    )  # fmt: skip
    tagger = FeatureTagger(config, Head("tokens", ("O", "B-X"), "sum-last-four"))
    with pytest.raises(ModelError, match="feature-based taggers are not exported"):
        build_graph(tagger)


def test_the_command_scores_a_fine_tuned_model(
    tmp_path: Path,
    model: Path,  # noqa: F811
    cola: Path,  # noqa: F811
) -> None:
    run, words = tmp_path / "run", [sys.executable, "-m", "bertsmith"]

    def command(*arguments: object) -> Any:
        line = [*words, *map(str, arguments), "--json"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    tuned = ("--epochs", 6, "--learning-rate", 3e-3)
    command("finetune", "cola", "--model", model, "--data", cola, "--out", run, *tuned)
    onnx_out = ("--out", tmp_path / "onnx", "--int8", "--data", cola)
    int8 = command("export", run / "model", *onnx_out)["int8"]
    ours = command("evaluate", run / "model", "--data", cola)
    assert int8["metric"] == "matthews"
    assert int8["float_score"] == pytest.approx(ours["figures"]["dev"]["matthews"])
    assert int8["float_score"] > 0.3
    assert abs(int8["int8_score"] - int8["float_score"]) < 0.3


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    save(tmp_path / "model")
    code = (
        "import sys; sys.modules['onnxruntime'] = None; from bertsmith.cli.main import main; "
        f"sys.exit(main(['export', {str(tmp_path / 'model')!r}, '--out', 'onnx']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "the package onnxruntime is not installed" in done.stderr
    assert "pip install onnx onnxruntime" in done.stderr
