from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from bertsmith.common.errors import CorpusError, nearest
from bertsmith.common.files import atomic_path, sha256, write_json, write_text


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
