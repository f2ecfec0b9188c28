from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertsmith.common.errors import InputError
from bertsmith.model.config import BertConfig
from bertsmith.model.task import BertForTask
from bertsmith.tasks.outputs import model_outputs
from bertsmith.tasks.own.answer import UNANSWERABLE, AnswerTask
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.examples import SquadExample
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

HEADER = "question,context,answer\n"
WORDS = Tokenizer([*SPECIAL, "who", "?", "ana", "ben", "runs", "and", "."])


def task(**options: Any) -> AnswerTask:
    return AnswerTask(TaskSettings(**options))


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    return folder


def test_rows_and_targets(tmp_path: Path) -> None:
    write(
        tmp_path,
        train_csv=HEADER
        + "who?,ana runs and ben runs.,ben\nwho runs?,ana runs and ben runs.,runs\n",
        dev_jsonl='{"question": "who?", "context": "ana.", "answer": ["ben", "ana"]}\n',
    )
    mine = task()
    data = mine.read(tmp_path)
    assert data.train is not None
    text = "ana runs and ben runs."
    assert data.train.examples == [
        SquadExample("0", "who?", text, (("ben", 13),), None, text),
        SquadExample("1", "who runs?", text, (("runs", 4),), None, text),
    ]
    assert data.dev[0].examples[0].answers == (("ana", 0), ("ben", -1))
    assert data.notes == [
        "1 answers that stand in the text more than once, the first place taken",
        "1 answers that do not stand in the text",
    ]
    encoded = mine.encode(data.train, WORDS, 80, mine.head(data), training=True)
    assert [one.target for one in encoded.features] == [(7, 7), (6, 6)]


def test_an_answer_that_is_not_in_the_text_is_not_trained_on(tmp_path: Path) -> None:
    """Case Q01: a wrong place is reported with the question, never used as it is."""
    rows = [
        {"question": "who?", "context": "ana and ben.", "answer": "ben", "answer_start": 7},
        {"question": "who?", "context": "ana and ben.", "answer": "carl"},
        {"question": "who?", "context": "ana and ben.", "answer": "ben", "answer_start": 8},
    ]
    write(tmp_path, train_jsonl="".join(json.dumps(one) + "\n" for one in rows))
    mine = task()
    data = mine.read(tmp_path)
    assert data.train is not None
    part = data.train
    part.examples = sorted(
        [*part.examples, *(data.dev[0].examples if data.dev else [])], key=lambda one: one.id
    )
    encoded = mine.encode(part, WORDS, 80, mine.head(data), training=True)
    assert [one.example for one in encoded.features] == [2]
    assert [line.split(": ")[1] for line in part.skipped] == ["question 0", "question 1"]


def test_rows_without_an_answer(tmp_path: Path) -> None:
    write(
        tmp_path,
        train_csv=HEADER + "who?,ana.,ana\nwho?,ana runs.,\n",
        dev_csv=HEADER + "who?,ben.,ben\n",
        test_csv="question,context\nwho?,ben.\n",
    )
    data = task().read(tmp_path)
    assert data.train is not None
    assert [one.impossible for one in data.train.examples] == [False, True]
    assert [data.dev[0].examples[0].impossible, data.test[0].examples[0].impossible] == [
        False,
        False,
    ]
    assert data.train.counts == {UNANSWERABLE: 1}
    assert [data.dev[0].labelled, data.test[0].labelled] == [True, False]


def test_a_column_that_is_empty_throughout_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, test_csv=HEADER + "who?,ana.,\nwho?,ben.,\n")
    [part] = task().read(tmp_path, training=False).test
    assert not part.labelled
    assert [one.impossible for one in part.examples] == [None, None]
    write(tmp_path, test_csv=HEADER + "who?,ana.,\nwho?,ben.,ben\n")
    [part] = task().read(tmp_path, training=False).test
    assert part.labelled
    assert [one.impossible for one in part.examples] == [True, False]


def test_dev_has_texts_of_its_own(tmp_path: Path) -> None:
    rows = "".join(f"who {at}?,ana {at // 4}.,ana\n" for at in range(80))
    data = task(dev_percent=20).read(write(tmp_path, train_csv=HEADER + rows))
    assert data.train is not None
    train, dev = ({one.context for one in part.examples} for part in (data.train, data.dev[0]))
    assert not train & dev
    assert len(data.dev[0].examples) == 16
    assert "whole groups" in data.notes[0]


@pytest.mark.parametrize("column", ["question", "context", "answer"])
def test_missing_columns(tmp_path: Path, column: str) -> None:
    write(tmp_path, train_csv=HEADER.replace(column, "other") + "a,b,b\n")
    with pytest.raises(InputError, match=rf"no column '{column}'[\s\S]*--{column}-column"):
        task().read(tmp_path)


def test_one_id_for_two_questions(tmp_path: Path) -> None:
    write(tmp_path, test_csv="id," + HEADER + "x,who?,ana.,ana\nx,who?,ben.,ben\n")
    with pytest.raises(InputError, match="2 questions have the same id"):
        task(id_column="id").read(tmp_path, training=False)


def test_from_table_to_files(tmp_path: Path) -> None:
    mine = task()
    data = mine.read(write(tmp_path, test_csv=HEADER + "who?,ana and ben.,ben\n"), training=False)
    [part] = data.test
    config = BertConfig(
        vocab_size=WORDS.size, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=80,
    )  # fmt: skip
    head = mine.head(data)
    encoded = mine.encode(part, WORDS, 80, head, training=False)
    outputs = model_outputs(BertForTask(config, head), encoded.features, head, 1000)
    predictions = mine.decide(part, encoded, outputs, head, {})
    assert predictions[0].text in "ana and ben."
    assert list(mine.score(part, predictions)) == ["f1", "exact_match"]
    paths = mine.write(tmp_path / "out", part, predictions)
    assert json.loads(paths[0].read_text()) == {"0": predictions[0].text}
