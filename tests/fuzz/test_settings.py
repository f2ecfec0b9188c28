"""Recipes and flags: a setting is what was written, or refused."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bertsmith.cli import main as command
from bertsmith.common.settings import from_flags, to_toml
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.tasks.settings import TaskSettings
from tests.fuzz.inputs import answer, damaged, fuzzed

VALID = [to_toml(kind(), "A recipe").encode() for kind in (CorpusSettings, TaskSettings)]
WORDS = ["--out", "/nonexistent/x", "--vocab-size", "1e999", "-1", "nan", "--json", "--cased", "",
         "--no-cased", "--format", "auto", "jsonl", "--recipe", "--errors=", "--", "-h", "\ud800",
         "--shard-mb", "0.5", "/nonexistent/y", "--workers", "9" * 400, "--encoding", "zlib"]  # fmt: skip


@fuzzed(150)
@given(st.sampled_from([CorpusSettings, TaskSettings]), damaged(*VALID))
def test_recipes(place: Path, kind: type, data: bytes) -> None:
    file = place / "a.toml"
    file.write_bytes(data)
    answer(lambda: from_flags(kind, {}, file))


@fuzzed(100)
@given(st.integers(-(10**30), 10**30))
@example(2**53 + 1)
def test_whole_numbers_keep_every_digit(place: Path, number: int) -> None:
    file = place / "b.toml"
    file.write_text(f"split_seed = {number}\n")
    for found in (
        answer(lambda: from_flags(TaskSettings, {}, file)),
        answer(lambda: from_flags(TaskSettings, {"split_seed": str(number)})),
    ):
        assert found is None or found.split_seed == number


@fuzzed(60)
@given(st.sampled_from(["corpus", "pretrain", "finetune", "predict", "convert", "nothing"]),
       st.lists(st.sampled_from(WORDS), max_size=6))  # fmt: skip
def test_flags(verb: str, words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "settle", lambda verb: None)
        try:
            status = command.main([verb, "/nonexistent/in", *words])
        except SystemExit as end:
            status = end.code
    assert status in (0, 2)
