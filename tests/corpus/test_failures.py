"""What goes wrong on the way: a full disk, killed workers, stale units, a second build."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from bertsmith.common.errors import CorpusError
from bertsmith.corpus import encode, folder
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.workers import in_order


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(f"Text {n} says so.\nAnd {n} times more." for n in range(500)))
    return [str(path)]


SETTINGS = CorpusSettings(vocab_size=200, workers=1, shard_mb=0.004)


def test_a_full_disk(tmp_path: Path, inputs: list[str], monkeypatch) -> None:
    write, count = encode.write_shard, iter(range(100))

    def full(*arguments: object) -> None:
        if next(count) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(*arguments)

    monkeypatch.setattr(encode, "write_shard", full)
    with pytest.raises(CorpusError, match="disk is full"):
        build_corpus(inputs, tmp_path / "out", SETTINGS)
    assert not (tmp_path / "out" / "manifest.json").exists()
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "shards").glob("*.json")}
    assert kept
    manifest = build_corpus(inputs, tmp_path / "out", SETTINGS)
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    monkeypatch.undo()
    assert build_corpus(inputs, tmp_path / "again", SETTINGS) == manifest


def test_units_of_other_settings_are_made_again(tmp_path: Path, inputs: list[str]) -> None:
    other = CorpusSettings(vocab_size=150, workers=1, shard_mb=0.002)
    build_corpus(inputs, tmp_path / "out", other)
    (tmp_path / "out" / "manifest.json").unlink()
    (tmp_path / "out" / ".manifest.json.x.part").write_text("half")
    manifest = build_corpus(inputs, tmp_path / "out", SETTINGS)
    assert build_corpus(inputs, tmp_path / "new", SETTINGS) == manifest
    names = [sorted(p.name for p in (tmp_path / n).rglob("*")) for n in ("out", "new")]
    assert names[0] == names[1]


def test_two_builds_of_one_folder(tmp_path: Path, inputs: list[str]) -> None:
    with (
        folder.locked(tmp_path / "out"),
        pytest.raises(CorpusError, match="another process"),
    ):
        build_corpus(inputs, tmp_path / "out", SETTINGS)


def _die(number: int) -> dict[str, int]:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"text_bytes": 0}


def test_a_killed_worker(tmp_path: Path, inputs: list[str], monkeypatch) -> None:
    monkeypatch.setattr("bertsmith.corpus.build.in_order", lambda *_: in_order(_die, range(9), 2))
    with pytest.raises(CorpusError, match="worker process was killed"):
        build_corpus(inputs, tmp_path / "out", SETTINGS)


def test_results_come_in_order() -> None:
    assert list(in_order(abs, range(0, -20, -1), 1)) == list(range(20))
