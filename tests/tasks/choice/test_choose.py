from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from bertsmith.common.errors import InputError, SettingsError
from bertsmith.model.config import BertConfig
from bertsmith.model.task import BertForTask, Head
from bertsmith.tasks.choice.examples import Choice, ChoiceExample
from bertsmith.tasks.choice.task import ChooseTask
from bertsmith.tasks.outputs import model_outputs
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Data, Part
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

COLUMNS = ("red", "green", "blue")


def task(**options: object) -> ChooseTask:
    given = {"choice_columns": COLUMNS, **options}
    return ChooseTask(TaskSettings(**given))  # type: ignore[arg-type]


def table(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["text", *COLUMNS, "label"], *rows])
    return path


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["0", "2", "1"], [0, 2, 1]),
        (["A", "c", "B"], [0, 2, 1]),
        (["red", "blue", "green"], [0, 2, 1]),
        (["x0", "z1", "y2"], [0, 2, 1]),
        (["0", "2", ""], [0, 2, None]),
    ],
)
def test_what_a_label_may_be(tmp_path: Path, labels: list[str], expected: list[int | None]) -> None:
    rows = [[f"q{at}", f"x{at}", f"y{at}", f"z{at}", label] for at, label in enumerate(labels)]
    [part] = task().read(table(tmp_path / "test.csv", rows), training=False).test
    assert [one.label for one in part.examples] == expected
    assert part.labelled == (None not in expected)
    assert part.examples[1] == ChoiceExample("1", "q1", ("x1", "y1", "z1"), "", expected[1], 3)
    assert dict(part.counts) == (
        {} if part.labelled else {"labels not used, since other rows have none": 2}
    )


def test_labels_that_are_texts_of_numbers(tmp_path: Path) -> None:
    rows = [
        ["1+1", "1", "2", "3", "2"],
        ["2+2", "2", "3", "4", "4"],
        ["9+3", "10", "11", "12", "12"],
    ]
    [part] = task().read(table(tmp_path / "test.csv", rows), training=False).test
    assert [one.label for one in part.examples] == [1, 2, 2]


def test_labels_that_count_from_one(tmp_path: Path) -> None:
    rows = [["q", "x", "y", "z", label] for label in ("1", "3", "2", "2")]
    with pytest.raises(InputError, match="numbers from 1"):
        task().read(table(tmp_path / "train.csv", rows))


def test_labels_that_say_nothing(tmp_path: Path) -> None:
    rows = [["q", "x", "y", "z", label] for label in ("true", "false", "0")]
    with pytest.raises(InputError, match="at most 1 of 3 labels name a choice"):
        task().read(table(tmp_path / "train.csv", rows))


def test_one_wrong_label_is_a_malformed_row(tmp_path: Path) -> None:
    rows = [["q", "x", "y", "z", label] for label in ("0", "1", "D", "2", "0")]
    path = table(tmp_path / "train.csv", rows)
    read = task().read(path)
    assert read.train is not None
    assert read.train.skipped == [f"{path}:4: the label names none of the 3 choices: 'D'"]
    assert len(read.train.examples) + len(read.dev[0].examples) == 4
    # A number of its own row is left when ids are row numbers: nothing shifts.
    assert {one.id for one in (*read.train.examples, *read.dev[0].examples)} == {"0", "1", "3", "4"}


def test_empty_cells_are_no_choices(tmp_path: Path) -> None:
    rows = [["a", "x", "", "z", "1"], ["b", "x", "y", "z", "0"], ["c", "", "y", " ", "0"]]
    path = table(tmp_path / "train.csv", rows)
    read = task().read(path)
    assert read.train is not None
    examples = [*read.train.examples, *read.dev[0].examples]
    assert {one.choices: one.label for one in examples} == {("x", "z"): 1, ("x", "y", "z"): 0}
    assert read.train.skipped == [f"{path}:4: 1 choices instead of two or more"]


def test_a_column_with_lists(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(
        '{"text": "q", "choices": ["x", "y"], "label": "y"}\n{"text": "p", "choices": ["y", "z", 7], "label": 7}\n'
    )
    [part] = task(choice_columns=("choices",)).read(path, training=False).test
    assert [(one.choices, one.label) for one in part.examples] == [
        (("x", "y"), 1),
        (("y", "z", "7"), 2),
    ]


def test_what_has_to_be_named(tmp_path: Path) -> None:
    path = table(tmp_path / "train.csv", [["q", "x", "y", "z", "0"]])
    with pytest.raises(SettingsError, match="--choice-columns"):
        task(choice_columns=()).read(path)
    with pytest.raises(InputError, match="no column 'grey'"):
        task(choice_columns=("red", "grey")).read(path)
    with pytest.raises(InputError, match=r"no column 'gold'[\s\S]*--label-column"):
        task(label_column="gold").read(path)


def part_of_two() -> Part[ChoiceExample]:
    return Part(
        "dev",
        [
            ChoiceExample("a", "w0 w1", ("w2", "w3 w4"), "", 1),
            ChoiceExample("b", "w1", ("w0", "w1", "w2"), "", 2),
        ],
    )


def test_from_features_to_files(tmp_path: Path) -> None:
    """Examples with two and with three choices in one batch of a real model."""
    words = Tokenizer([*SPECIAL, *(f"w{n}" for n in range(5))])
    config = BertConfig(
        vocab_size=words.size,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    chooser, part = task(), part_of_two()
    head = chooser.head(Data(train=part))
    assert head == Head("choice")
    encoded = chooser.encode(part, words, 16, head, training=True)
    assert [(len(one.sequences), one.target) for one in encoded.features] == [(2, 1), (3, 2)]
    outputs = model_outputs(BertForTask(config, head), encoded.features, head, 1000)
    predictions = chooser.decide(part, encoded, outputs, head, {})
    assert [one.index for one in predictions] == [int(np.argmax(one)) for one in outputs]
    paths = chooser.write(tmp_path, part, predictions)
    assert [path.name for path in paths] == ["dev.csv", "dev.jsonl"]
    assert (
        paths[0].read_text()
        == f"id,prediction\na,{predictions[0].index}\nb,{predictions[1].index}\n"
    )
    lines = [json.loads(line) for line in paths[1].read_text().splitlines()]
    assert [(one["id"], one["text"], len(one["probabilities"])) for one in lines] == [
        ("a", predictions[0].text, 2), ("b", predictions[1].text, 3),
    ]  # fmt: skip


def test_examples_without_a_label_are_not_trained_on() -> None:
    words, part = Tokenizer([*SPECIAL, "w0"]), part_of_two()
    part.examples.insert(0, ChoiceExample("c", "w0", ("w0", "w0 w0")))
    encoded = task().encode(part, words, 16, Head("choice"), training=True)
    assert [one.example for one in encoded.features] == [1, 2]
    assert encoded.counts["examples without a label"] == 1
    assert len(task().encode(part, words, 16, Head("choice"), training=False).features) == 3


def test_baseline_constant_and_mistakes() -> None:
    chooser, part = task(), part_of_two()
    train = Part("train", [ChoiceExample("a", "q", ("x", "y", "z"), "", one) for one in (2, 2, 1)])
    guess = chooser.most_frequent(train, part)
    assert guess is not None
    assert [one.index for one in guess] == [0, 2]
    assert chooser.score(part, guess) == {"accuracy": 0.5}
    assert not chooser.constant(guess)
    wrong = [Choice(0, "w2", (0.9, 0.1)), Choice(0, "w0", (0.5, 0.3, 0.2))]
    assert chooser.constant(wrong)
    found = chooser.mistakes(part, wrong, 5)
    assert [(one.expected, one.got) for one in found] == [("w3 w4", "w2"), ("w2", "w0")]
    assert found[0].loss == pytest.approx(-np.log(0.1))
    assert chooser.mistakes(part, wrong, 1) == found[:1]
    assert chooser.score(Part("dev", []), []) == {"accuracy": None}


def test_a_number_too_large_among_numbers_from_zero(tmp_path: Path) -> None:
    rows = [["q", "x", "y", "z", label] for label in ("0", "1", "3", "2", "0")]
    read = task().read(table(tmp_path / "train.csv", rows))
    assert read.train is not None
    assert [one.split(": ", 1)[1] for one in read.train.skipped] == [
        "the label names none of the 3 choices: '3'"
    ]


def test_a_text_that_two_choices_have_names_neither(tmp_path: Path) -> None:
    rows = [["q", "xx", "yy", "xx", label] for label in ("yy", "yy", "xx")]
    read = task().read(table(tmp_path / "train.csv", rows))
    assert read.train is not None
    assert [one.split(": ", 1)[1] for one in read.train.skipped] == [
        "the label names none of the 3 choices: 'xx'"
    ]


def test_labels_are_read_as_in_training(tmp_path: Path) -> None:
    """Alone, the file of the second line would be one of texts of choices."""
    trained = task()
    rows = [[f"q{at}", "2", "1", "0", str(at % 3)] for at in range(6)]
    rows[0][1:4] = ["a", "b", "c"]
    rows[3][1:4] = ["a", "b", "c"]
    trained.read(table(tmp_path / "train.csv", rows))
    assert trained.remembered() == {"choice_labels": "number"}
    later = task(**trained.remembered())
    numbers = table(tmp_path / "test.csv", [["q", "2", "1", "0", "2"], ["q", "0", "1", "2", "0"]])
    [part] = later.read(numbers, training=False).test
    assert [one.label for one in part.examples] == [2, 0]
    letters = table(tmp_path / "other.csv", [["q", "x", "y", "z", "B"], ["q", "x", "y", "z", "A"]])
    [part] = task().read(letters, training=False).test
    assert [one.label for one in part.examples] == [1, 0]
    with pytest.raises(InputError, match=r"look like letters .* read as numbers of choices"):
        later.read(letters, training=False)
