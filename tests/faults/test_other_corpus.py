"""A corpus that changed under a run that goes on: refused, and what changed is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.conftest import sentences
from tests.faults.command import Warm, files
from tests.faults.conftest import CORPUS, Unfinished, pretraining

pytestmark = pytest.mark.processes

CHANGES = {
    "other text": (sentences(120, seed=9), (), "train: "),
    "fewer documents": (sentences(120).rpartition("\n\n")[0], (), "documents of"),
    "another vocabulary": (sentences(120), ("--vocab-size", 104), "vocabulary: "),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_refused(
    change: str, made: Path, unfinished: Unfinished, bertsmith: Warm, tmp_path: Path
) -> None:
    out, corpus = unfinished("run"), tmp_path / "corpus"
    text, flags, named = CHANGES[change]
    (tmp_path / "text.txt").write_text(text)
    bertsmith("corpus", tmp_path / "text.txt", "--out", corpus, *CORPUS, *flags).done()
    before = files(out)
    words = list(pretraining(made, out))
    words[1] = corpus
    bertsmith(*words).refused(str(out), "the corpus is not the one that this run began with", named)
    assert files(out) == before


def test_the_same_corpus_elsewhere_is_the_same(
    made: Path, unfinished: Unfinished, bertsmith: Warm, tmp_path: Path
) -> None:
    out, corpus = unfinished("run"), tmp_path / "moved"
    shutil.copytree(made / "corpus", corpus)
    words = list(pretraining(made, out))
    words[1] = corpus
    bertsmith(*words).done()


def test_a_held_out_part_of_its_own(
    made: Path, unfinished: Unfinished, bertsmith: Warm, tmp_path: Path
) -> None:
    """Another held-out part alone would make figures of one curve that do not belong together."""
    out, corpus = unfinished("run"), tmp_path / "corpus"
    shutil.copytree(made / "corpus", corpus)
    flags = ("--held-out-percent", 30)
    shutil.rmtree(corpus)
    bertsmith("corpus", made / "text.txt", "--out", corpus, *CORPUS, *flags).done()
    words = list(pretraining(made, out))
    words[1] = corpus
    bertsmith(*words).refused(str(out), "the corpus is not the one", "held_out: ")
