"""What the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL


@pytest.fixture
def make() -> Callable[..., Tokenizer]:
    """A tokenizer of the special tokens and the given pieces, ids from 5."""

    def build(pieces: Sequence[str], lowercase: bool = True, **options: object) -> Tokenizer:
        return Tokenizer([*SPECIAL, *pieces], lowercase, **options)

    return build
