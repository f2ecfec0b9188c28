"""Settings and inputs that commands refuse, and what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertsmith.checkpoints.save import save_model
from bertsmith.cli.main import main
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer
from tests.finetune.conftest import model  # noqa: F401 - a fixture


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(one) for one in arguments]) == 2
    return " ".join(capsys.readouterr().err.split())


def test_a_line_without_a_blank_is_named(tmp_path: Path, model: Path, capsys) -> None:  # noqa: F811
    lines = tmp_path / "lines.txt"
    lines.write_text("the [MASK] is fine .\n\nthe film\nthe end\n")
    said = refused(capsys, "fill", model, "--file", lines)
    assert f"{lines}:3: there is no blank to fill in (got 'the film')" in said
    assert "2 lines have none" in said
    lines.write_text("the film\nthe end\n")
    assert f"{lines}: none of its 2 lines has a blank" in refused(
        capsys, "fill", model, "--file", lines
    )


def test_embed_takes_the_flags_that_its_errors_advise(
    tmp_path: Path,
    model: Path,  # noqa: F811
    capsys,
) -> None:
    table, out = tmp_path / "texts.csv", tmp_path / "out.parquet"
    table.write_text("the film\nthe end\n")
    said = refused(capsys, "embed", model, table, "--out", out)
    assert "--no-header if the first row is data" in said
    flags = ["--no-header", "--text-column", "1", "--max-length", "8"]
    assert main(["embed", str(model), str(table), "--out", str(out), *flags]) == 0
    assert pq.read_table(out)["text"].to_pylist() == ["the film", "the end"]


@pytest.mark.parametrize(
    ("task", "flags", "message"),
    [
        ("classify", ["--freeze-layers", 3], "the model has 2 layers to freeze"),
        ("ner", ["--feature-layers", "sum-last-four"], "no such layers in a model of 2"),
        ("classify", ["--max-length", 65], "max_length is above the model's 64 positions"),
        ("squad", ["--max-length", 0], "leaves no room for the text beside a question"),
        ("classify", ["--doc-stride", 64], "doc_stride is not for classify, but for squad"),
    ],
)
def test_what_the_configuration_tells_is_checked_before_data_are_read(
    tmp_path: Path,
    model: Path,  # noqa: F811
    capsys,
    task: str,
    flags: list[object],
    message: str,
) -> None:
    """The data are not there: an error about them would come first where they are read first."""
    said = refused(
        capsys, "finetune", task, "--model", model, "--data", tmp_path / "none",
        "--out", tmp_path / "out", *flags,
    )  # fmt: skip
    assert message in said


def test_a_run_in_place_of_its_model(tmp_path: Path, model: Path, capsys) -> None:  # noqa: F811
    run = tmp_path / "run"
    run.mkdir()
    (run / "model").symlink_to(model)
    data = tmp_path / "lines.txt"
    data.write_text("the [MASK]\n")
    out = ["--out", tmp_path / "out"]
    for arguments in (
        ["fill", run, "the [MASK]"],
        ["embed", run, data, *out],
        ["predict", run, data],
        ["evaluate", run, "--data", data],
        ["finetune", "classify", "--model", run, "--data", data, *out],
    ):
        assert f"did you mean {run / 'model'}?" in refused(capsys, *arguments), arguments


@pytest.mark.parametrize(
    "words",
    [
        ["--top", "3", "MODEL", "the [MASK] ."],
        ["MODEL", "--top", "3", "the [MASK] ."],
        ["MODEL", "the [MASK] .", "--top", "3"],
        ["MODEL", "the [MASK] .", "--top", "3", "a [MASK] ."],
    ],
)
def test_options_stand_anywhere(tmp_path: Path, words: list[str], capsys) -> None:
    """``fill MODEL --top 3 TEXT`` was refused: a list of texts ended at the first option."""
    folder = tmp_path / "model"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "."]
    config = BertConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=16,
    )  # fmt: skip
    save_model(folder, BertForPreTraining(config), Tokenizer(pieces), "")
    arguments = [str(folder) if word == "MODEL" else word for word in words]
    assert main(["fill", *arguments, "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["text"] for one in answers] == [word for word in words if "[MASK]" in word]
    assert all(len(one["blanks"][0]) == 3 for one in answers)


@pytest.mark.parametrize(
    "words",
    [
        ["corpus", "", "--out", "gone"],
        ["corpus", "gone", "--out", ""],
        ["pretrain", "gone", "--out", ""],
        ["pretrain", "", "--out", "gone"],
        ["embed", "gone", "gone", "--out", ""],
        ["report", ""],
        ["fill", "gone", "--file", ""],
    ],
)
def test_an_empty_name_is_not_the_folder_one_stands_in(words: list[str], capsys) -> None:
    """As ``--out "$OUT"`` gives it where OUT is not set."""
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "the name is empty" in capsys.readouterr().err


def test_odd_words_are_named_and_shown_in_short(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["quickstart", "--steps", "x" * 100_000 + "\x1b[31m"])
    said = capsys.readouterr().err
    assert "--steps" in said
    assert len(said) < 3000
    with pytest.raises(SystemExit):
        main(["convert", "gone", "gone", "="])
    assert "unknown argument '='" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["quickstart", "--out=--"])
    assert "argument --out: '--' is no value" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["pretrain", "gone"], ["finetune", "classify", "--model", "gone", "--data", "gone"]],
)
def test_nothing_to_resume(tmp_path: Path, words: list[str], capsys) -> None:
    assert "there is no run to resume" in refused(capsys, *words, "--out", tmp_path, "--resume")
