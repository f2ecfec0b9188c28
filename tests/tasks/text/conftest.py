"""What the tests of this room share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bertsmith.tasks.task import Data, Part
from bertsmith.tasks.text.examples import TextExample
from bertsmith.tasks.text.task import TextTask
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL


class PlainTask(TextTask):
    """A task of which only the common part is under test."""

    name, metric = "plain", "accuracy"

    def read(self, path: Path, *, training: bool = True) -> Data[TextExample]:
        raise AssertionError

    def write(
        self, folder: Path, part: Part[TextExample], predictions: Sequence[object]
    ) -> list[Path]:
        raise AssertionError


@pytest.fixture
def task() -> PlainTask:
    return PlainTask()


@pytest.fixture
def words() -> Tokenizer:
    """Ids: w0 is 5, w1 is 6, ... w39 is 44; then hello 45, sep 46, [ 47, ] 48."""
    return Tokenizer([*SPECIAL, *(f"w{n}" for n in range(40)), "hello", "sep", "[", "]"])
