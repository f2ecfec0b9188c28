"""Corpora: a healthy one, and each disease made by building it or by damaging it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.doctor import repeats
from bertsmith.doctor.chart import Chart, Grade
from bertsmith.doctor.examine import examine
from bertsmith.text.vocabulary import SPECIAL
from tests.data import data
from tests.doctor.conftest import broken, fact, only

WORDS = ["fox", "dog", "cow", "bird", "cat", "runs", "sees", "likes", "over", "under", "house",
         "river", "hill", "tree", "field", "quick", "old", "brown", "small", "green"]  # fmt: skip
LINE = "all rights in this book are with its two authors ."


def document(rng: random.Random, sentences: int = 6) -> str:
    return "\n".join(" ".join(rng.choices(WORDS, k=10)) + " ." for _ in range(sentences))


def text(documents: int = 60, sentences: int = 6) -> str:
    rng = random.Random(0)
    return "\n\n".join(document(rng, sentences) for _ in range(documents)) + "\n"


def build(folder: Path, content: str, **settings: object) -> Path:
    (folder / "text.txt").write_text(content)
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS, *LINE.split()]) + "\n")
    chosen = {"vocab": str(folder / "vocab.txt"), "workers": 1, "format": "sentences",
              "held_out_percent": 10.0}  # fmt: skip
    build_corpus([str(folder / "text.txt")], folder / "out", CorpusSettings(**(chosen | settings)))
    return folder / "out"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return build(tmp_path, text())


def warnings(chart: Chart) -> list[str]:
    return [one.what for one in chart.findings if one.grade is Grade.WARNING]


def test_a_healthy_corpus(corpus: Path) -> None:
    chart = examine(corpus)
    assert chart.findings == []
    assert chart.kind == "corpus"
    train, held_out = fact(chart, "train"), fact(chart, "held-out")
    assert train["documents"] + held_out["documents"] == 60
    assert train["sentences"] + held_out["sentences"] == 360
    assert fact(chart, "sentence length") == {"median": 11, "longest": 11}
    assert fact(chart, "repeated sentences") == {"share": 0.0, "exact": True}
    assert fact(chart, "shards") == {"shards": 2, "whole": 2}
    assert fact(chart, "case") == "uncased"


def test_one_document(tmp_path: Path) -> None:
    found = warnings(examine(build(tmp_path, text(1, 40))))
    assert any("one document: next-sentence prediction is not possible" in what for what in found)
    assert any("no held-out part" in what for what in found)


def test_one_held_out_document(tmp_path: Path) -> None:
    what = only(examine(build(tmp_path, text(6), held_out_percent=0.1)), Grade.WARNING).what
    assert "the held-out part is one document" in what


def test_documents_of_one_sentence(tmp_path: Path) -> None:
    what = only(examine(build(tmp_path, text(60, 1))), Grade.WARNING).what
    assert "documents have one sentence only" in what


def test_documents_without_a_token(tmp_path: Path) -> None:
    # Characters that are removed from a document of more than 1,000 bytes are seen when it is read.
    content = text() + "\n" + "\u00ad" * 1200 + "\n"
    assert "was left out" in only(examine(build(tmp_path, content)), Grade.NOTE).what


def test_sentences_that_repeat(tmp_path: Path) -> None:
    content = text().replace("\n\n", f"\n{LINE}\n{LINE}\n\n")
    chart = examine(build(tmp_path, content))
    found = warnings(chart)
    assert len(found) == 2
    assert "24% of the sentences" in found[0]
    assert "108 times" in found[0]
    assert LINE.removesuffix(" .") in found[0]
    assert "held-out sentences are in the training part" in found[1]


def test_copies_of_documents(tmp_path: Path) -> None:
    rng = random.Random(0)
    documents = [document(rng) for _ in range(300)]
    chart = examine(build(tmp_path, "\n\n".join([*documents, documents[5]])))
    assert "1 document is a copy" in only(chart, Grade.NOTE).what
    chart = examine(build(tmp_path / "out", "\n\n".join([*documents, *documents[:30]])))
    assert any("30 documents are copies" in what or "copies of another" in what
               for what in warnings(chart))  # fmt: skip


def test_a_sample_says_that_it_is_one(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = repeats.Hashes
    monkeypatch.setattr(repeats, "Hashes", lambda: real(50))
    chart = examine(corpus)
    assert fact(chart, "repeated sentences") == {"share": 0.0, "exact": False}
    assert (
        "by a sample of 12.5%" in {one.name: one.text for one in chart.facts}["repeated sentences"]
    )


def test_sentences_that_no_model_holds(tmp_path: Path) -> None:
    rng = random.Random(1)
    long = " ".join(rng.choices(WORDS, k=600))
    chart = examine(build(tmp_path, f"{text()}\n{long}\n{long} .\n"))
    assert "2 sentences are longer than 510 tokens" in only(chart, Grade.NOTE).what
    many = "\n\n".join(f"{long} .\n{document(rng)}" for _ in range(30))
    (tmp_path / "many").mkdir()
    found = warnings(examine(build(tmp_path / "many", many)))
    assert any("longer than 510 tokens" in what for what in found)


@pytest.mark.parametrize(
    ("vocabulary", "sample", "grade", "part"),
    [
        ("bert-base-uncased", ("pretrain", "zh", "CLUECorpusSmall_sampled.txt"), Grade.BROKEN,
         "% of the tokens are [UNK]"),
        ("bert-base-uncased", ("pretrain", "udhr", "rus.txt"), Grade.WARNING,
         "words fall to pieces"),
        ("bert-base-multilingual-cased", ("pretrain", "udhr", "spa.txt"), None, ""),
        ("bert-base-chinese", ("pretrain", "zh", "CLUECorpusSmall_sampled.txt"), Grade.WARNING,
         "1.2% of the tokens are [UNK]: the vocabulary lacks"),
    ],
)  # fmt: skip
def test_the_vocabulary_of_another_language(
    tmp_path: Path, vocabulary: str, sample: tuple[str, ...], grade: Grade | None, part: str
) -> None:
    vocab = data("vocab", vocabulary, "vocab.txt")
    lines = data(*sample).read_text("utf-8").splitlines()[:300]
    documents = "\n\n".join("\n".join(lines[n : n + 10]) for n in range(0, len(lines), 10))
    cased = {} if vocabulary.endswith("uncased") else {"cased": True}
    chart = examine(build(tmp_path, documents, vocab=str(vocab), **cased))
    of_fit = [
        one for one in chart.findings
        if one.grade is not Grade.NOTE and ("[UNK]" in one.what or "pieces" in one.what)
    ]  # fmt: skip
    if grade is None:
        assert not of_fit
    else:
        assert [one.grade for one in of_fit] == [grade]
        assert part in of_fit[0].what
    assert any("never occur in the text" in one.what for one in chart.findings)


def test_a_cased_corpus_with_an_uncased_vocabulary(tmp_path: Path) -> None:
    chart = examine(build(tmp_path, text(), cased=True))
    finding = only(chart, Grade.WARNING)
    assert "hardly a capital" in finding.what
    assert "without --cased" in finding.mend
    assert fact(chart, "case") == "cased"


def test_damaged_and_missing_shards(corpus: Path) -> None:
    files = sorted((corpus / "shards").glob("*.arrow"))
    content = bytearray(files[0].read_bytes())
    content[len(content) // 2] ^= 1
    files[0].write_bytes(bytes(content))
    files[1].unlink()
    chart = examine(corpus)
    assert len(broken(chart)) == 2
    assert {one.where for one in chart.findings if one.grade is Grade.BROKEN} == {
        f"shards/{file.name}" for file in files
    }
    assert fact(chart, "shards") == {"shards": 2, "whole": 0}


def test_another_tokenizer(corpus: Path) -> None:
    file = corpus / "tokenizer" / "tokenizer.json"
    raw = json.loads(file.read_text())
    vocab = raw["model"]["vocab"]
    vocab["fox"], vocab["dog"] = vocab["dog"], vocab["fox"]
    file.write_text(json.dumps(raw))
    found = broken(examine(corpus))
    assert any("not the one that the text was encoded with" in what for what in found)
    assert any("two vocabularies" in what for what in found)


@pytest.mark.parametrize("way", ["gone", "cut", "other"])
def test_the_counts(corpus: Path, way: str) -> None:
    file = corpus / "token_counts.npy"
    if way == "gone":
        file.unlink()
    elif way == "cut":
        file.write_bytes(file.read_bytes()[:200])
    else:
        np.save(file, np.load(file) + 1)
    finding = only(examine(corpus), Grade.BROKEN)
    assert "token counts" in finding.what
    assert finding.where == "token_counts.npy"


@pytest.mark.parametrize(
    ("content", "text"),
    [("{", "damaged"), (None, "no finished corpus"), ("parts", "its own checksum is wrong")],
)
def test_the_manifest(corpus: Path, content: str | None, text: str) -> None:
    file = corpus / "manifest.json"
    if content is None:
        file.unlink()
    elif content == "parts":
        file.write_text(json.dumps(json.loads(file.read_text()) | {"parts": {}}))
    else:
        file.write_text(content)
    chart = examine(corpus)
    assert text in only(chart, Grade.BROKEN).what
    assert fact(chart, "case") == "uncased"


def test_everything_at_once(corpus: Path) -> None:
    (corpus / "token_counts.npy").unlink()
    (corpus / "tokenizer" / "tokenizer.json").unlink()
    with (corpus / "tokenizer" / "vocab.txt").open("a") as stream:
        stream.write("fox\n")
    next((corpus / "shards").glob("*.train.arrow")).unlink()
    found = broken(examine(corpus))
    assert any("stands twice" in what for what in found)
    assert any("the shard is missing" in what for what in found)
