"""What the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def file(tmp_path: Path) -> Write:
    """Write a file of a name with a text or bytes."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def letters() -> Tokenizer:
    """Ids: a is 5 ... z is 30, ##a is 31 ... ##z is 56: a word has a piece a letter."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return Tokenizer([*SPECIAL, *alphabet, *(f"##{one}" for one in alphabet)])
