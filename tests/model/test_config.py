import json
from pathlib import Path

import pytest
import transformers

from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.model.config import BertConfig, preset


def test_defaults_are_those_of_transformers() -> None:
    theirs = transformers.BertConfig().to_dict()
    ours = BertConfig().to_mapping()
    assert {key: theirs[key] for key in ours if key != "architectures"} == {
        key: value for key, value in ours.items() if key != "architectures"
    }


def test_unknown_keys_survive(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"vocab_size": 99, "torch_dtype": "float32", "model_type": "bert"}))
    config = BertConfig.from_json(file)
    config.to_json(file)
    written = json.loads(file.read_text())
    assert config.vocab_size == 99
    assert written["torch_dtype"] == "float32"
    assert written["architectures"] == ["BertForPreTraining"]
    assert BertConfig.from_json(file) == config


def test_unknown_activation_has_a_suggestion(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"hidden_act": "gelu_tanh"}')
    with pytest.raises(ModelError, match=r"config.json: unknown activation(.|\n)*'gelu"):
        BertConfig.from_json(file)


@pytest.mark.parametrize("text", ["", "[1]", '{"model_type": "gpt2"}', '{"vocab_size": "many"}'])
def test_bad_files(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(ModelError, match=r"config\.json"):
        BertConfig.from_json(file)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such"):
        BertConfig.from_json(tmp_path / "config.json")


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ModelError, match="num_attention_heads"):
        BertConfig(hidden_size=100, num_attention_heads=3)


def test_presets() -> None:
    mini = preset("mini", 8192, hidden_act="gelu_new")
    assert (mini.num_hidden_layers, mini.hidden_size, mini.num_attention_heads) == (4, 256, 4)
    assert (mini.intermediate_size, mini.hidden_act, mini.vocab_size) == (1024, "gelu_new", 8192)
    assert preset("tiny", 10, hidden_size=192).num_attention_heads == 3
    with pytest.raises(SettingsError, match="did you mean 'medium'"):
        preset("meduim", 10)
    with pytest.raises(SettingsError, match="did you mean 'hidden_size'"):
        preset("tiny", 10, hidden_sise=3)
