"""Texts and made data of the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bertsmith.bench.made import made_corpus, made_tokenizer
from bertsmith.bench.shapes import full_batches
from bertsmith.bench.texts import examples, made_sentences, made_texts, mixed
from bertsmith.common.errors import InputError
from bertsmith.corpus.corpus import Corpus


@pytest.fixture
def glue(tmp_path: Path) -> Path:
    """Three sets of two examples; MRPC's file begins with a byte order mark, as the real one."""
    files = {
        "SST-2": 'sentence\tlabel\na good film\t1\n"bad\t0\n',
        "MRPC": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tA b\tC d\n0\t7\t8\tE\tF\n",
        "QNLI": "index\tquestion\tsentence\tlabel\n0\tWhat?\tThat.\tentailment\n1\tWho?\tHe.\tnot_entailment\n",
    }
    for name, text in files.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.tsv").write_text(text)
    return tmp_path


def test_examples_are_read_as_they_stand(glue: Path) -> None:
    found = [(one.texts, one.label) for task in ("sst2", "mrpc") for one in examples(glue, task, 2)]
    assert found == [
        (("a good film",), 1), (('"bad',), 0), (("A b", "C d"), 1), (("E", "F"), 0),
    ]  # fmt: skip
    assert [one.label for one in examples(glue, "qnli", 2)] == [0, 1]


def test_texts_of_the_sets_in_turn(glue: Path) -> None:
    assert mixed(str(glue), 5) == ["a good film", "A b C d", "What? That.", '"bad', "E F"]


def test_too_few_examples_are_refused(glue: Path) -> None:
    with pytest.raises(InputError, match="fewer than 3 examples"):
        examples(glue, "mrpc", 3)
    with pytest.raises(InputError, match="can not be read"):
        examples(glue / "none", "mrpc", 1)


def test_made_texts_are_of_known_words() -> None:
    tokenizer = made_tokenizer()
    for text, ids in zip(made_texts(5), tokenizer.encode_ids(made_texts(5)), strict=True):
        assert len(ids) == len(text.split())
        assert tokenizer.ids.unk not in ids


def test_made_sentences_have_documents_and_the_size_asked_for() -> None:
    text = made_sentences(["one", "two"], 0.02)
    assert 20_000 <= len(text) < 20_300
    documents = text.strip().split("\n\n")
    assert all(len(one.split("\n")) == 20 for one in documents[:-1])
    assert "oneone" in text
    assert text == made_sentences(["one", "two"], 0.02)


def test_a_made_corpus_is_a_corpus(tmp_path: Path) -> None:
    corpus = Corpus.open(made_corpus(tmp_path / "corpus", 5000), verify=True)
    assert (corpus.documents, corpus.sentences, corpus.tokens) == (10, 250, 5000)
    assert corpus.document(9).tokens.max() < corpus.tokenizer().size
    assert Corpus.open(tmp_path / "corpus", "held_out").documents == 0


def test_full_batches_are_the_same_for_every_side() -> None:
    first, second = full_batches(100, 4, 20), full_batches(100, 4, 20)
    assert np.array_equal(first[0].ids, second[0].ids)
    assert not np.array_equal(first[0].ids, first[1].ids)
    assert first[0].ids.shape == (4, 20)
    assert len(first[0].positions) == 12  # 15 % of 80
    assert first[0].segments.sum() == 40
