"""What other programs say of a tokenizer outlives a conversion, ids included."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from tests.checkpoints.test_layouts import theirs, write

from bertsmith.checkpoints.beside import read_beside
from bertsmith.checkpoints.convert import convert
from bertsmith.text.tokenizer import Tokenizer

TEXT = "the dog <e2> sat ran <e1>"


@pytest.fixture
def source(tmp_path: Path, tokenizer: Tokenizer) -> Path:
    """A model whose tokenizer transformers has changed and saved."""
    folder = write(tmp_path / "source", theirs("BertForPreTraining"), tokenizer)
    other = transformers.AutoTokenizer.from_pretrained(
        folder, padding_side="left", truncation_side="left", model_max_length=33
    )
    other.add_tokens(["<plain>"])
    other.add_special_tokens({"additional_special_tokens": ["cat", "<e1>", "<e2>"]})
    other.save_pretrained(folder)
    return folder


def opened(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


def test_settings_and_added_tokens_of_others_are_kept(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "one")
    convert(tmp_path / "one", tmp_path / "two")
    before = opened(source)
    assert before(TEXT)["input_ids"] == [2, 5, 11, 17, 7, 14, 16, 3]  # <plain> is 15
    for name in ("one", "two"):
        after = opened(tmp_path / name)
        assert after(TEXT)["input_ids"] == before(TEXT)["input_ids"]
        assert (after.padding_side, after.truncation_side) == ("left", "left")
        assert after.model_max_length == 33
        assert set(after.all_special_tokens) == set(before.all_special_tokens)
        assert after.decode([16, 5, 17], skip_special_tokens=True).strip() == "the"
    for file in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "one" / file).read_text() == (tmp_path / "two" / file).read_text()


def test_googles_layout_keeps_the_settings(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "google", "tensorflow")
    convert(tmp_path / "google", tmp_path / "back")
    after = opened(tmp_path / "back")
    assert (after.padding_side, after.model_max_length) == ("left", 33)


def test_the_form_of_transformers_4(tmp_path: Path, tokenizer: Tokenizer) -> None:
    source = write(tmp_path / "source", theirs("BertForPreTraining"), tokenizer)
    (source / "tokenizer.json").unlink()
    entry = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
             "special": True}  # fmt: skip
    settings = json.loads((source / "tokenizer_config.json").read_text()) | {
        "added_tokens_decoder": {"16": entry | {"content": "<e2>"}, "15": entry | {"content": "<e1>"},
                                 "3": entry | {"content": "[SEP]"}},
        "model_max_length": int(1e30), "padding_side": "middle",
    }  # fmt: skip
    (source / "tokenizer_config.json").write_text(json.dumps(settings))
    (source / "special_tokens_map.json").write_text(
        json.dumps({"additional_special_tokens": ["<e2>", "<e1>"], "cls_token": "[CLS]"})
    )
    convert(source, tmp_path / "out")
    after = opened(tmp_path / "out")
    assert after.convert_tokens_to_ids(["<e1>", "<e2>", "[SEP]"]) == [15, 16, 3]
    assert after(TEXT)["input_ids"][3] == 16
    # A length that stands for "none" and a side that is none are not carried over.
    assert after.model_max_length == 40
    assert after.padding_side == "right"


def test_settings_come_with_the_vocabulary_that_is_given(
    source: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    tokenizer.save(tmp_path / "plain", 40)
    given = Tokenizer.load(tmp_path / "plain")
    convert(source, tmp_path / "out", tokenizer=given, tokenizer_folder=tmp_path / "plain")
    assert opened(tmp_path / "out").padding_side == "right"


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"padding_side": NaN}', '{"padding_side": "\\ud800"}']
)
def test_files_that_say_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(text)
    found = read_beside(tmp_path)
    assert (dict(found.settings), found.added) == ({}, ())
