"""A small corpus, built once, and the command as users run it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def sentences(documents: int, seed: int = 0) -> str:
    """Text with something to learn: each document talks about one subject and its verb."""
    rng = random.Random(seed)
    subjects = {"cat": "purrs", "dog": "barks", "cow": "moos", "bird": "sings", "fox": "hunts"}
    places = ["garden", "kitchen", "forest", "village", "barn", "meadow"]
    blocks = []
    for _ in range(documents):
        subject, verb = rng.choice(list(subjects.items()))
        lines = [
            f"a {subject} {verb} in {rng.choice(places)} near {rng.choice(places)} on most days ."
            for _ in range(rng.randint(4, 9))
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


@pytest.fixture(scope="session")
def bertsmith() -> Run:
    def run(*arguments: object, check: bool = True, **options) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "bertsmith", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def corpus(tmp_path_factory, bertsmith: Run) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "text.txt").write_text(sentences(400))
    bertsmith(
        "corpus", folder / "text.txt", "--out", folder / "corpus", "--vocab-size", 200,
        "--held-out-percent", 5, "--workers", 1,
    )  # fmt: skip
    return folder / "corpus"
