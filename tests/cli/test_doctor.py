"""``bertsmith doctor``: what is shown, what programs read, the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from bertsmith.checkpoints.save import save_model
from bertsmith.cli.main import main
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL


@pytest.fixture
def model(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8,
    )  # fmt: skip
    save_model(
        tmp_path / "m", BertForPreTraining(config), Tokenizer([*SPECIAL, "a", "b", "."]), "card"
    )
    return tmp_path / "m"


def test_facts_then_findings_then_a_verdict(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(model)]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = [line for line in shown.err.splitlines() if line.strip()]
    assert lines[0] == f"model: {model}"
    assert lines[1].split() == ["layout", "safetensors,", *lines[1].split()[2:]]
    assert any(line.startswith("warning  model.safetensors: the encoder was") for line in lines)
    assert any("mend: bertsmith pretrain" in line for line in lines)
    assert lines[-1] == "nothing is broken, 2 warnings"


def test_json_and_the_status_of_a_broken_model(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model / "config.json").write_text("{")
    (model / "tokenizer.json").unlink()
    with (model / "vocab.txt").open("a") as stream:
        stream.write("a\n")
    assert main(["doctor", str(model), "--json"]) == 2
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["kind"] == "model"
    assert found["path"] == str(model)
    assert found["broken"] == 3
    assert [one["grade"] for one in found["findings"]][:2] == ["broken", "broken"]
    assert set(found["findings"][0]) == {"grade", "what", "where", "mend"}
    assert found["facts"]["parameters"] > 0
    assert "3 broken" in shown.err.splitlines()[-1]


def test_every_fact_is_json(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(model), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert facts["size"] == {
        "layers": 1, "width": 16, "heads": 2, "feed_forward": 8, "preset": None,
    }  # fmt: skip
    assert facts["vocabulary"] == {"entries": 8, "rows": 8}
    assert facts["layernorm_epsilon"] == 1e-12


def test_markup_in_a_vocabulary_is_text(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (model / "tokenizer.json").unlink()
    (model / "vocab.txt").write_text("\n".join([*SPECIAL, "[red]x[/red]", "[red]x[/red]", "."]))
    assert main(["doctor", str(model)]) == 2
    assert "'[red]x[/red]' on lines 6 and 7" in " ".join(capsys.readouterr().err.split())


def test_nothing_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(tmp_path / "no")]) == 2
    assert "there is nothing at this path" in capsys.readouterr().err
