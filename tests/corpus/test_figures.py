from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertsmith.common.errors import CorpusError, SettingsError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.text.vocabulary import SPECIAL

TEXT = "red fox\nred dog\n\nblue fox\n\nred cow red fox\n"


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIAL, "red", "fox", "blue", "dog"]) + "\n")
    (tmp_path / "a.txt").write_text(TEXT)
    return [str(tmp_path / "a.txt")]


def settings(tmp_path: Path, **others: object) -> CorpusSettings:
    vocab = str(tmp_path / "vocab.txt")
    return CorpusSettings(vocab=vocab, workers=1, **{"held_out_percent": 0.0, **others})


def test_figures_of_a_known_text(tmp_path: Path, inputs: list[str]) -> None:
    manifest = build_corpus(inputs, tmp_path / "out", settings(tmp_path))
    train = manifest.totals("train")
    assert (train["documents"], train["sentences"], train["words"]) == (3, 4, 10)
    assert (train["tokens"], train["unknown"]) == (10, 1)
    assert train["single_sentence_documents"] == 2
    assert (train["tokens_per_word"], train["unknown_share"]) == (1.0, 0.1)
    shares = [0.4, 0.3, 0.1, 0.1, 0.1]
    assert train["unigram_entropy"] == pytest.approx(-sum(p * math.log(p) for p in shares))
    assert (train["most_frequent_token"], train["most_frequent_token_share"]) == ("red", 0.4)
    counts = np.load(tmp_path / "out" / "token_counts.npy")
    assert counts.tolist() == [[0, 1, 0, 0, 0, 4, 3, 1, 1], [0] * 9]
    assert "workers" not in manifest.settings
    assert manifest.inputs[0]["bytes"] == len(TEXT)
    assert Manifest.read(tmp_path / "out") == manifest
    assert any("2 of 3 documents" in warning for warning in manifest.warnings)
    assert any("[UNK]" in warning for warning in manifest.warnings)


def test_a_shard_has_the_hash_of_each_text(tmp_path: Path, inputs: list[str]) -> None:
    build_corpus(inputs, tmp_path / "out", settings(tmp_path))
    table = pa.ipc.open_file(next((tmp_path / "out" / "shards").glob("*.arrow"))).read_all()
    assert table["sentences"].to_pylist() == [
        [[5, 6], [5, 8]], [[7, 6]], [[5, 1, 5, 6]],
    ]  # fmt: skip
    assert len({len(h) for h in table["text_hash"].to_pylist()}) == 1
    assert len(set(table["text_hash"].to_pylist())) == 3


def test_the_held_out_part_is_not_empty(tmp_path: Path, inputs: list[str]) -> None:
    """The document with the smallest hash is held out where the share comes to none."""
    build_corpus(inputs, tmp_path / "out", settings(tmp_path, held_out_percent=1e-9))
    out = tmp_path / "out"
    assert (Corpus.open(out).documents, Corpus.open(out, "held_out").documents) == (2, 1)


def test_what_a_bare_vocabulary_does_not_say(tmp_path: Path, inputs: list[str]) -> None:
    build_corpus(inputs, tmp_path / "cased", settings(tmp_path, cased=True))
    assert not Corpus.open(tmp_path / "cased").tokenizer().lowercase
    build_corpus(inputs, tmp_path / "uncased", settings(tmp_path))
    other = str(tmp_path / "uncased" / "tokenizer")
    with pytest.raises(SettingsError, match="cased"):
        build_corpus(inputs, tmp_path / "x", CorpusSettings(vocab=other, cased=True))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "values",
    [
        {"vocab_size": 10}, {"workers": -1}, {"shard_mb": 0}, {"held_out_percent": 100},
        {"encoding": "klingon"}, {"vocab_sample_mb": 0}, {"min_frequency": -1},
    ],
)  # fmt: skip
def test_settings_are_checked(values: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(values))):
        CorpusSettings(**values)


def test_an_index_out_of_range(tmp_path: Path, inputs: list[str]) -> None:
    build_corpus(inputs, tmp_path / "out", settings(tmp_path))
    corpus = Corpus.open(tmp_path / "out")
    for number in (-1, 3):
        with pytest.raises(IndexError):
            corpus.document(number)
    with pytest.raises(CorpusError, match="train, held_out"):
        Corpus.open(tmp_path / "out", "test")
