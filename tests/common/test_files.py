from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from bertsmith.common.errors import CorpusError, nearest
from bertsmith.common.files import SMALL, atomic_path, read_small, sha256, write_json, write_text


def test_a_file_is_whole_or_as_it_was(tmp_path) -> None:
    path = tmp_path / "file"
    write_text(path, "old")

    def fail(part: Path) -> None:
        part.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError), atomic_path(path) as part:
        fail(part)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


KILLED = """
import os, signal, sys
from pathlib import Path
from bertsmith.common.files import atomic_path
with atomic_path(Path(sys.argv[1])) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_write_takes_away_what_a_killed_one_left(tmp_path) -> None:
    path = tmp_path / "a[1].json"
    run = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert run.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    other = tmp_path / ".b.abcd1234.part"
    other.write_text("of another")
    write_text(path, "whole")
    assert set(tmp_path.iterdir()) == {path, other}
    assert path.read_text() == "whole"
    assert not left.exists()


def test_a_write_under_way_is_not_swept_by_another(tmp_path) -> None:
    path = tmp_path / "file"
    with atomic_path(path) as first:
        first.write_text("first")
        write_text(path, "second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_no_bare_nan_and_no_failing_surrogate(tmp_path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a", {"x": float("nan")})
    assert not (tmp_path / "a").exists()
    write_json(tmp_path / "b", {"x": "\ud83d"})
    assert (tmp_path / "b").read_text().strip()


def test_sums(tmp_path) -> None:
    write_text(tmp_path / "a", "abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(tmp_path / "a") == known


def test_errors_cross_process_borders() -> None:
    error = CorpusError("broken", file="a.txt", line=3, value="x", mend="mend it")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CorpusError
    assert str(again) == str(error) == "a.txt:3: broken (got 'x')\n  mend: mend it"
    assert nearest("stpes", ["steps", "rate"]) == "steps"
    assert nearest("zzz", ["steps"]) is None


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"12")
    with large.open("wb") as stream:
        stream.truncate(SMALL + 1)
    tracemalloc.start()
    try:
        assert read_small(small) == b"12"
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()
    with pytest.raises(OSError, match="more than 64 MiB"):
        read_small(large)
