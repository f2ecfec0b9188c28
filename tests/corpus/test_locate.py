"""A corpus at a URL is copied to the cache, checked, and used again."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

from bertsmith.common.errors import CorpusError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.locate import local_folder
from bertsmith.corpus.settings import CorpusSettings


@pytest.fixture
def made(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("BERTSMITH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.txt").write_text(
        "\n\n".join(f"Text {n} says.\nAnd {n} again." for n in range(99))
    )
    settings = CorpusSettings(vocab_size=200, workers=1, shard_mb=0.001)
    build_corpus([str(tmp_path / "a.txt")], tmp_path / "corpus", settings)
    return tmp_path / "corpus"


@pytest.fixture(params=["memory", "file"])
def url(request, made: Path, tmp_path: Path) -> str:
    place = f"memory://{tmp_path.name}/c" if request.param == "memory" else f"file://{tmp_path}/c"
    system, root = fsspec.core.url_to_fs(place)
    for path in made.rglob("*"):
        if path.is_file():
            system.makedirs(f"{root}/{path.relative_to(made).parent}", exist_ok=True)
            system.pipe_file(f"{root}/{path.relative_to(made)}", path.read_bytes())
    return place


def test_a_path_stays_as_it_is() -> None:
    assert local_folder("some/corpus") == Path("some/corpus")


def test_a_copy_is_the_corpus_and_is_used_again(url: str, made: Path) -> None:
    there = local_folder(url)
    copy, original = Corpus.open(there, verify=True), Corpus.open(made)
    assert copy.manifest.contents() == original.manifest.contents()
    assert copy.tokenizer().digest == original.tokenizer().digest
    times = {path: path.stat().st_mtime_ns for path in there.rglob("*") if path.is_file()}
    assert local_folder(url) == there
    assert {path: path.stat().st_mtime_ns for path in times} == times
    shard = next((there / "shards").glob("*.train.arrow"))
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1] + b"?")
    assert local_folder(url) == there
    assert shard.read_bytes() == whole


def test_a_damaged_shard_at_the_url(url: str) -> None:
    system, root = fsspec.core.url_to_fs(url)
    shard = next(p for p in system.find(f"{root}/shards") if p.endswith(".arrow"))
    system.pipe_file(shard, system.cat_file(shard)[:-1] + b"?")
    with pytest.raises(CorpusError, match=r"not the one of the manifest"):
        local_folder(url)


@pytest.mark.parametrize("url", ["memory"], indirect=True)
def test_a_name_that_leads_out(url: str, tmp_path: Path) -> None:
    """A bucket's keys may have any name: nothing is written outside the copy."""
    system, root = fsspec.core.url_to_fs(url)
    system.pipe_file(f"{root}/tokenizer/../../../../evil", b"x")
    with pytest.raises(CorpusError, match="leads out of the corpus"):
        local_folder(url)
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.parametrize(
    ("place", "said"),
    [("nosuch://a/b", "can not be read.*nosuch"), ("memory://nowhere", "no finished corpus")],
)
def test_what_is_not_there(place: str, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        local_folder(place)
