from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertsmith.common.errors import CorpusError, InputError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.text.vocabulary import SPECIAL

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "r", "st", "")]


def text(documents: int, seed: int = 0) -> str:
    rng = random.Random(seed)
    return "\n\n".join(
        "\n".join(
            " ".join(rng.choices(WORDS, k=rng.randint(4, 12))) + "."
            for _ in range(rng.randint(2, 8))
        )
        for _ in range(documents)
    )


def build(tmp_path: Path, content: str | bytes, name: str = "out", **settings):
    source = tmp_path / f"{name}.txt"
    source.write_bytes(content.encode() if isinstance(content, str) else content)
    made = CorpusSettings(**{"vocab_size": 300, "workers": 1, "format": "sentences", **settings})
    return build_corpus([str(source)], tmp_path / name, made)


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (".lock", "manifest.json")
    }


def test_a_corpus_holds_the_text(tmp_path) -> None:
    manifest = build(tmp_path, text(60), held_out_percent=10)
    train, held_out = (Corpus.open(tmp_path / "out", part, True) for part in ("train", "held_out"))
    assert train.documents + held_out.documents == 60
    assert held_out.documents >= 2
    tokenizer = train.tokenizer()
    assert tokenizer.tokens[:5] == list(SPECIAL)
    blocks = [block.split("\n") for block in text(60).split("\n\n")]
    found = []
    for corpus in (train, held_out):
        for number in range(corpus.documents):
            document = corpus.document(number)
            starts = document.sentence_starts
            assert len(document.tokens) == corpus.document_tokens[number]
            assert len(starts) - 1 == corpus.document_sentences[number]
            found.append([document.tokens[a:b].tolist() for a, b in pairwise(starts)])
    assert sorted(found) == sorted(tokenizer.encode_ids(block) for block in blocks)
    assert manifest.parts["train"]["tokens"] == train.tokens == train.document_tokens.sum()
    assert manifest.totals("train")["unknown_share"] == 0


def test_empty_and_one_sentence_documents(tmp_path) -> None:
    """Case C02: two documents of one sentence, none empty among them, with a warning."""
    content = "\u200b\n\nred fox\n\n \nblue bird\n\n\n"
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join([*SPECIAL, "red", "fox", "blue", "bird"]) + "\n")
    manifest = build(tmp_path, content, vocab=str(vocabulary), held_out_percent=0)
    train = manifest.parts["train"]
    assert (train["documents"], train["sentences"]) == (2, 2)
    assert train["single_sentence_documents"] == 2
    assert train["empty_documents"] == 1
    assert any("no positive pairs" in warning for warning in manifest.warnings)


def test_processes_do_not_matter(tmp_path) -> None:
    content = text(300)
    build(tmp_path, content, "one", workers=1, shard_mb=0.02)
    build(tmp_path, content, "two", workers=2, shard_mb=0.02)
    assert len(list((tmp_path / "one" / "shards").glob("*.arrow"))) > 4
    assert digest(tmp_path / "one") == digest(tmp_path / "two")


def test_any_arrow_reader_opens_a_shard(tmp_path) -> None:
    build(tmp_path, text(20))
    path = next((tmp_path / "out" / "shards").glob("*.train.arrow"))
    table = pa.ipc.open_file(path).read_all()
    corpus = Corpus.open(tmp_path / "out")
    first = np.concatenate([np.array(s) for s in table["sentences"][0].as_py()])
    assert first.tolist() == corpus.document(0).tokens.tolist()
    assert corpus.document(0).tokens.dtype == np.uint16


def test_held_out_documents_stay_when_others_come(tmp_path) -> None:
    def held_out(name: str, content: str) -> set[str]:
        build(tmp_path, content, name, held_out_percent=10)
        corpus = Corpus.open(tmp_path / name, "held_out")
        tokenizer = corpus.tokenizer()
        documents = (corpus.document(d).tokens.tolist() for d in range(corpus.documents))
        return {tokenizer.decode(ids) for ids in documents}

    before, more = text(200), text(200, seed=1)
    first = held_out("first", before)
    second = held_out("second", before + "\n\n" + more)
    assert len(first) > 5
    assert first <= second


def test_exact_copies_are_dropped_when_asked(tmp_path) -> None:
    content = text(30) + "\n\n" + text(30) + "\n\n" + text(10, seed=5)
    assert build(tmp_path, content, "all").duplicates_dropped == 0
    manifest = build(tmp_path, content, "once", deduplicate=True)
    assert manifest.duplicates_dropped == 30
    assert sum(part["documents"] for part in manifest.parts.values()) == 40


def test_finished_corpora_are_left_alone(tmp_path) -> None:
    content = text(50)
    build(tmp_path, content)
    shard = next((tmp_path / "out" / "shards").glob("*.arrow"))
    before = shard.stat().st_mtime_ns
    build(tmp_path, content)
    assert shard.stat().st_mtime_ns == before
    with pytest.raises(CorpusError, match="other inputs or settings"):
        build(tmp_path, content, vocab_size=310)
    with pytest.raises(CorpusError, match="other inputs or settings"):
        build(tmp_path, text(51))


def test_a_folder_with_something_else_is_refused(tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("mine")
    with pytest.raises(CorpusError, match="not a corpus"):
        build(tmp_path, text(5))


@pytest.mark.parametrize("content", [b"", b"\n \n\n", "\u200b\n\n\u200b\n".encode()])
def test_no_text(tmp_path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"no text|no document|no room"):
        build(tmp_path, content)


def test_one_document_is_said(tmp_path) -> None:
    """Case C01: the corpus says that next-sentence prediction is not possible."""
    manifest = build(tmp_path, "red fox runs\nblue bird sings\ngreen frog jumps\n")
    assert manifest.parts["train"]["documents"] == 1
    assert any("one document" in warning for warning in manifest.warnings)


def test_damaged_shards_are_named(tmp_path) -> None:
    content = text(50)
    build(tmp_path, content)
    shard = next((tmp_path / "out" / "shards").glob("*.train.arrow"))
    whole = shard.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    shard.write_bytes(flipped)
    with pytest.raises(CorpusError, match=shard.name):
        Corpus.open(tmp_path / "out", verify=True)
    shard.write_bytes(whole[:-100])
    with pytest.raises(CorpusError, match=rf"{shard.name}.*bytes instead of"):
        Corpus.open(tmp_path / "out")
    shard.unlink()
    with pytest.raises(CorpusError, match="missing"):
        Corpus.open(tmp_path / "out")
    build(tmp_path, content)
    assert shard.read_bytes() == whole
    with pytest.raises(CorpusError, match="no such corpus"):
        Corpus.open(tmp_path / "nowhere")


def test_a_killed_build_goes_on(tmp_path) -> None:
    """Killed with SIGKILL, run again: finished units are kept, the result is that of one build."""
    content = text(3000)
    source = tmp_path / "text.txt"
    source.write_text(content)
    flags = ["--vocab-size", "300", "--workers", "1", "--shard-mb", "0.02", "--format", "sentences"]

    def command(out: Path) -> list[str]:
        return [sys.executable, "-m", "bertsmith", "corpus", str(source), "--out", str(out), *flags]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), check=True, capture_output=True)
    process = subprocess.Popen(command(killed), stderr=subprocess.DEVNULL)
    while not list((killed / "shards").glob("000002.json")) and process.poll() is None:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (killed / "manifest.json").exists()
    with pytest.raises(CorpusError, match="no finished corpus"):
        Corpus.open(killed)
    first = killed / "shards" / "000000.train.arrow"
    before = first.stat().st_mtime_ns
    subprocess.run(command(killed), check=True, capture_output=True)
    assert first.stat().st_mtime_ns == before
    assert digest(killed) == digest(whole)
