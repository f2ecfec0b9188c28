"""The commands in README and docs: every one is understood, and those of the README run."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bertsmith.cli.main import VERBS, Parser
from tests.end_to_end.conftest import sentences

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What makes a command of the README short enough for a test; the last flag counts.
SHORTER = {
    "corpus": ["--vocab-size", "200", "--workers", "1"],
    "pretrain": ["--preset", "tiny", "--steps", "3", "--lengths", "32", "--length-shares", "1"],
    "finetune": ["--epochs", "1"],
}


def commands(page: Path) -> list[str]:
    """The lines of the shell blocks that call bertsmith."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.search(r"(^|\| )bertsmith ", line)]


def parsed(line: str) -> list[str]:
    """The words after ``bertsmith``."""
    return shlex.split(line[re.search(r"(^|\| )bertsmith ", line).end() :])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_flag_exists(page: Path) -> None:
    for line in commands(page):
        verb, *words = parsed(line)
        assert verb in VERBS, line
        parser = Parser(prog=verb)
        importlib.import_module(f"bertsmith.cli.{verb}").add_arguments(parser)
        parser.parse_known(words)  # exits where a flag is unknown
    inline = re.findall(r"`(--[a-z-]+)", page.read_text("utf-8"))
    known = set()
    for verb in VERBS:
        parser = Parser(prog=verb)
        importlib.import_module(f"bertsmith.cli.{verb}").add_arguments(parser)
        known |= set(parser._option_string_actions)
    assert set(inline) <= known


def test_the_readme_runs(tmp_path: Path) -> None:
    texts = tmp_path / "my_texts"
    texts.mkdir()
    for number in range(3):
        (texts / f"{number}.txt").write_text(sentences(40, seed=number))
    rows = [f"a text number {number},{number % 2}\n" for number in range(40)]
    (tmp_path / "reviews.csv").write_text("review,stars\n" + "".join(rows))
    (tmp_path / "my_lines.txt").write_text("a dog barks\na cat purrs\n")
    found = [line for line in commands(ROOT / "README.md") if "PATH" not in line]
    assert [parsed(line)[0] for line in found] == [
        "corpus", "pretrain", "fill", "finetune", "predict", "embed",
    ]  # fmt: skip
    for line in found:
        verb = parsed(line)[0]
        whole = " ".join([line, *SHORTER.get(verb, [])])
        whole = whole.replace("bertsmith ", f"{sys.executable} -m bertsmith ", 1)
        done = subprocess.run(
            whole, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
    assert (tmp_path / "vectors.parquet").exists()
