"""One line in, one JSON line out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bertsmith.checkpoints.save import save_model
from bertsmith.common.errors import InputError, ModelError
from bertsmith.model.config import BertConfig
from bertsmith.model.packed import PackedBatch
from bertsmith.model.task import BertForTask, Head
from bertsmith.predict.lines import Predictor
from bertsmith.tasks.record import RECORD, task_record
from bertsmith.tasks.settings import TaskSettings
from bertsmith.text.tokenizer import Tokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "fox", "runs", "far", "."]
HEADS = {
    "classify": Head("classes", ("no", "yes")),
    "regress": Head("value"),
    "ner": Head("tokens", ("O", "B-X", "I-X")),
    "squad": Head("span"),
    "choose": Head("choice"),
}


def made(folder: Path, task: str, **options: str) -> Path:
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=10, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=128, initializer_range=0.5,
    )  # fmt: skip
    settings = TaskSettings(label_separator="|" if task == "labels" else "", **options)
    head = HEADS.get(task, Head("labels", ("a", "b")))
    record = task_record("classify" if task == "labels" else task, settings, {})
    save_model(folder, BertForTask(config, head), Tokenizer(WORDS), "", {RECORD: record})
    return folder


def test_each_kind_of_task_answers(tmp_path: Path) -> None:
    predictors = {task: Predictor.load(made(tmp_path / task, task)) for task in (*HEADS, "labels")}
    (yes,) = predictors["classify"].predict(["red fox"])
    ids = [2, 5, 6, 3]
    batch = PackedBatch.from_sequences([(ids, [0] * 4)])
    with torch.inference_mode():
        chances = predictors["classify"].model(batch)[0].softmax(0)
    assert yes["label"] == ("no", "yes")[int(chances.argmax())]
    assert yes["probability"] == pytest.approx(float(chances.max()), abs=1e-6)
    assert set(predictors["labels"].predict(["red"])[0]) == {"labels"}
    assert isinstance(predictors["regress"].predict([""])[0]["value"], float)
    (tags,) = predictors["ner"].predict(["red \u200b fox"])
    assert len(tags["tags"]) == 3
    (answer,) = predictors["squad"].predict(['{"question": "red", "context": "fox runs far ."}'])
    assert "fox runs far ."[answer["start"] : answer["end"]] == answer["answer"]
    (choice,) = predictors["choose"].predict(['{"context": "red", "choices": ["fox", "far ."]}'])
    assert sum(choice["probabilities"]) == pytest.approx(1)
    assert all(json.dumps(one, allow_nan=False) for one in (yes, tags, answer, choice))


def test_v01_an_answer_does_not_depend_on_its_company(tmp_path: Path) -> None:
    """V01: a line alone and among others."""
    predictor = Predictor.load(made(tmp_path, "classify"))
    lines = ["red", "fox runs far . " * 6, '{"text": "fox", "pair": "runs"}', ""]
    together = predictor.predict(lines)
    for line, one in zip(lines, together, strict=True):
        (alone,) = predictor.predict([line])
        assert alone["label"] == one["label"]
        assert alone["probability"] == pytest.approx(one["probability"], abs=1e-6)


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("classify", '{"txt": "red"}'),
        ("classify", '{"text": 3}'),
        ("classify", '{"text": "red"'),
        ("squad", "red"),
        ("squad", '{"question": "red"}'),
        ("ner", "  "),
        ("ner", '{"words": 3}'),
        ("ner", '{"words": "red fox"}'),
        ("ner", '{"words": ["red", null]}'),
        ("ner", '{"words": ["", ""]}'),
        ("choose", '{"context": "red", "choices": "fox"}'),
        ("choose", '{"context": "red", "choices": [1, 2]}'),
        ("choose", '{"context": "red", "choices": {"a": 1, "b": 2}}'),
        ("classify", '{"text": ' + "[" * 100_000),
        ("classify", '{"text": NaN}'),
        ("choose", '{"context": "red", "choices": ["fox"]}'),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, task: str, line: str) -> None:
    predictor = Predictor.load(made(tmp_path, task))
    with pytest.raises(InputError, match=r"in\.txt:8: .*\n  mend: give ") as error:
        predictor.predict([line], "in.txt", 8)
    assert error.value.line == 8
    assert "Error(" not in str(error.value)


def test_the_command_answers_line_by_line(tmp_path: Path) -> None:
    folder = made(tmp_path, "classify")
    command = [sys.executable, "-m", "bertsmith", "predict", str(folder), "-"]
    text = "red fox\nfar\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == Predictor.load(folder).predict(["red fox", "far"])
    assert done.stderr == "weights: 25 tensors from safetensors\n"


def test_a_model_of_pairs_refuses_single_texts(tmp_path: Path) -> None:
    predictor = Predictor.load(made(tmp_path, "classify", pair_column="other"))
    pair = '{"text": "red", "pair": ""}'
    assert len(predictor.predict([pair, pair])) == 2
    with pytest.raises(InputError, match="2 of 3 lines have no second text") as caught:
        predictor.predict([pair, "red", '{"text": "fox"}'], "a.txt", 10)
    assert (caught.value.file, caught.value.line) == ("a.txt", 11)
    with pytest.raises(InputError, match="pair is not text"):
        predictor.predict(['{"text": "red", "pair": 3}'])


def test_an_empty_word_has_a_tag(tmp_path: Path) -> None:
    """A tag a word: the answers can be laid beside the words."""
    predictor = Predictor.load(made(tmp_path, "ner"))
    (all_three,) = predictor.predict(['{"words": ["red", "", "fox"]}'])
    (two,) = predictor.predict(['{"words": ["red", "fox"]}'])
    assert all_three["tags"] == [two["tags"][0], "O", two["tags"][1]]


@pytest.mark.parametrize("task", ["squad", "choose", "ner", "regress", "cola"])
def test_a_record_of_another_kind_of_task_is_refused(tmp_path: Path, task: str) -> None:
    folder = made(tmp_path, "classify")
    (folder / RECORD).write_text(json.dumps(task_record(task, TaskSettings(), {})))
    with pytest.raises(ModelError):
        Predictor.load(folder)


def test_standard_input_is_read_as_a_file_is(tmp_path: Path) -> None:
    """A byte order mark goes, a lone carriage return ends no line, bad bytes are named by line."""
    folder, file = made(tmp_path / "model", "classify"), tmp_path / "lines.txt"
    raw = b'\xef\xbb\xbf{"text": "red"}\r\nfox\rruns\n'
    file.write_bytes(raw)
    command = [sys.executable, "-m", "bertsmith", "predict", str(folder)]
    done = [
        subprocess.run([*command, name], input=raw, capture_output=True, check=True).stdout
        for name in ("-", str(file))
    ]
    answers = [[json.loads(line) for line in one.splitlines()] for one in done]
    assert answers[0] == answers[1] == Predictor.load(folder).predict(["red", "fox\rruns"])
    bad = subprocess.run([*command, "-"], input=b"red\nfo\xe9x\n", capture_output=True, check=False)
    assert bad.returncode == 2
    assert b"standard input:2: byte 2 of the line is not UTF-8" in bad.stderr
