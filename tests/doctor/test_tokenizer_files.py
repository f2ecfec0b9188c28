"""Vocabularies and their files: what stands twice, what is missing, what contradicts what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertsmith.doctor.casing import casing
from bertsmith.doctor.chart import Chart, Grade
from bertsmith.doctor.examine import examine
from bertsmith.doctor.files import read_files
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data
from tests.doctor.conftest import (
    SPECIALS,
    WORDS,
    bare_vocabulary,
    broken,
    change_json,
    fact,
    only,
)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([*SPECIALS, *WORDS[:-1], "cat"], "'cat' on lines 7 and 15"),  # Case I04
        ([*SPECIALS, *WORDS[:-1], ""], "1 line is blank: 15"),
        ([*SPECIALS, *WORDS[:-3], "", "", "ran"], "2 lines are blank: 13, 14"),
        ([*SPECIALS[:4], *WORDS, "x"], "lacks [MASK]"),
        (["\ufeff[PAD]", *SPECIALS[1:], *WORDS], "lacks [PAD]"),
    ],
)
def test_vocabulary_files(model: Path, lines: list[str], text: str) -> None:
    bare_vocabulary(model, lines)
    finding = only(examine(model), Grade.BROKEN)
    assert text in finding.what
    assert finding.where == "vocab.txt"


def test_bytes_that_are_not_utf_8(model: Path) -> None:
    bare_vocabulary(model, [])
    (model / "vocab.txt").write_bytes(b"[PAD]\n\xff\n")
    assert "byte 6 of the vocabulary is not UTF-8" in only(examine(model), Grade.BROKEN).what


def test_no_tokenizer_at_all(model: Path) -> None:
    bare_vocabulary(model, [])
    (model / "vocab.txt").unlink()
    assert "no tokenizer.json and no vocab.txt" in only(examine(model), Grade.BROKEN).what


def test_more_entries_than_rows(model: Path) -> None:
    bare_vocabulary(model, [*SPECIALS, *WORDS, "more"])
    chart = examine(model)
    assert "1 more entries than the embedding has rows" in only(chart, Grade.BROKEN).what
    assert fact(chart, "vocabulary") == {"entries": 16, "rows": 15}


def test_fewer_entries_than_rows(model: Path) -> None:
    bare_vocabulary(model, [*SPECIALS, *WORDS[:-2]])
    chart = examine(model)
    assert "2 rows of the embedding stand for no entry" in only(chart, Grade.NOTE).what
    assert not broken(chart)


def test_two_vocabularies(model: Path) -> None:
    lines = [*SPECIALS, *WORDS]
    lines[6], lines[7] = lines[7], lines[6]
    (model / "vocab.txt").write_text("\n".join(lines) + "\n")
    what = only(examine(model), Grade.BROKEN).what
    assert (
        "2 ids differ, id 6 first, which is 'sat' in vocab.txt and 'cat' in tokenizer.json" in what
    )


def test_tokens_that_were_added_to_the_tokenizer_alone(model: Path) -> None:
    raw = json.loads((model / "tokenizer.json").read_text())
    raw["added_tokens"].append({"id": 15, "content": "[NEW]", "special": False})
    (model / "tokenizer.json").write_text(json.dumps(raw))
    assert "'[NEW]'" in only(examine(model), Grade.WARNING).what


def test_gaps_in_the_ids(model: Path) -> None:
    raw = json.loads((model / "tokenizer.json").read_text())
    raw["model"]["vocab"]["ran"] = 20
    (model / "tokenizer.json").write_text(json.dumps(raw))
    assert any("ids of the vocabulary have gaps" in what for what in broken(examine(model)))


@pytest.mark.parametrize("text", ["{", "[]", '{"model": 3}'])
def test_a_damaged_tokenizer_file(model: Path, text: str) -> None:
    (model / "tokenizer.json").write_text(text)
    assert only(examine(model), Grade.BROKEN).where == "tokenizer.json"


@pytest.mark.parametrize(
    ("length", "grade"), [(600, Grade.WARNING), (128, Grade.NOTE), (10**30, None)]
)
def test_the_longest_text(model: Path, length: int, grade: Grade | None) -> None:
    change_json(model / "tokenizer_config.json", model_max_length=length)
    chart = examine(model)
    if grade is None:
        assert not chart.findings
    else:
        assert f"model_max_length is {length}" in only(chart, grade).what


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"do_lower_case": False}, "lower-cases and tokenizer_config.json keeps upper case"),
        ({"strip_accents": False}, "removes accents and tokenizer_config.json keeps them"),
    ],
)
def test_files_that_contradict_each_other(model: Path, values: dict, text: str) -> None:
    change_json(model / "tokenizer_config.json", **values)
    finding = only(examine(model), Grade.BROKEN)
    assert text in finding.what
    assert finding.where == "tokenizer_config.json"


def test_a_cased_vocabulary_that_is_lower_cased(model: Path) -> None:
    pieces = [word.capitalize() for word in WORDS]
    Tokenizer([*SPECIALS, *pieces], lowercase=True).save(model)
    what = only(examine(model), Grade.WARNING).what
    assert "never used" in what
    assert "The, Cat, Sat" in what


def test_accents_that_are_removed(model: Path) -> None:
    Tokenizer([*SPECIALS, *WORDS[:-1], "été"], lowercase=True).save(model)
    assert "accents are removed" in only(examine(model), Grade.WARNING).what


def test_a_lower_cased_vocabulary_that_keeps_upper_case(model: Path) -> None:
    Tokenizer([*SPECIALS, *WORDS], lowercase=False).save(model)
    assert "hardly a capital" in only(examine(model), Grade.WARNING).what


def test_nothing_says_that_upper_case_is_kept(model: Path) -> None:
    bare_vocabulary(model, [*SPECIALS, *WORDS[:-1], "Ran"])
    assert "transformers lower-cases" in only(examine(model), Grade.WARNING).what


@pytest.mark.parametrize(
    ("name", "lowercase", "findings"),
    [
        ("bert-base-uncased", True, 0),
        ("bert-base-uncased", False, 1),
        ("bert-base-cased", False, 0),
        ("bert-base-cased", True, 1),
        ("bert-base-multilingual-cased", False, 0),
        ("bert-base-multilingual-cased", True, 1),
        # Its only capitals are <S> and <T>, and most of it has no case.
        ("bert-base-chinese", False, 0),
        ("bert-base-chinese", True, 0),
    ],
)
def test_the_published_vocabularies(
    tmp_path: Path, name: str, lowercase: bool, findings: int
) -> None:
    lines = data("vocab", name, "vocab.txt")
    tokenizer = Tokenizer.from_vocab_file(lines, lowercase)
    tokenizer.save(tmp_path)
    chart = Chart(tmp_path, "model")
    chart.add(casing(read_files(tmp_path, chart), tokenizer))
    assert len(chart.findings) == findings, chart.findings
