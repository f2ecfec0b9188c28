"""Ids equal to those of the BERT pipeline of the ``tokenizers`` library, on real text."""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers

from bertsmith.text.tokenizer import Tokenizer
from tests.data import data

FILES = {".txt", ".tsv", ".csv", ".json", ".jsonl", ".train", ".testa", ".testb", ".dev", ".test"}
# A slice of every file takes seconds; the slow test reads all of every file.
SLICE = 15_000  # bytes


def texts(most: int | None) -> list[str]:
    found = []
    for path in sorted(data().rglob("*")):
        if path.is_file() and path.suffix in FILES and "vocab" not in path.parts:
            found += _lines(path, most)
    return found


def _lines(path: Path, most: int | None) -> list[str]:
    with path.open("rb") as stream:
        return stream.read(most).decode("utf-8", errors="replace").split("\n")


def compare(name: str, most: int | None) -> None:
    path = data("vocab", name, "vocab.txt")
    lowercase = name == "bert-base-uncased"
    theirs = tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)
    ours = Tokenizer.from_vocab_file(path, lowercase)
    lines = texts(most)
    assert len(lines) > 5000
    for start in range(0, len(lines), 5000):
        batch = lines[start : start + 5000]
        expected = theirs.encode_batch(batch, add_special_tokens=False)
        for line, mine, other in zip(batch, ours.encode_ids(batch), expected, strict=True):
            # Theirs takes control tokens in data for control tokens, which ours must not.
            if not any(
                special in line for special in ("[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]")
            ):
                assert mine == other.ids, line
        assert ours.encode(batch[-1]).ids == ours.encode_ids(batch[-1:])[0]


NAMES = ["uncased", "cased", "chinese", "multilingual-cased"]


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_every_file(name: str) -> None:
    compare(f"bert-base-{name}", SLICE)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_file(name: str) -> None:
    compare(f"bert-base-{name}", None)
