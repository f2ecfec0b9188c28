"""Masked batches by transformers' collator."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from bertsmith.bench.models import published
from bertsmith.bench.work import Work

_SEQUENCES, _LENGTH = 32, 128
_FIRST_WORD = 1000


def collate(
    folder: str,  # noqa: ARG001 - every side has one
    batches: int,
) -> Work:
    """``DataCollatorForLanguageModeling`` on sequences that are at hand as lists."""
    transformers: Any = importlib.import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(published()))
    collator = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    ids = np.random.default_rng(0).integers(_FIRST_WORD, len(tokenizer), (_SEQUENCES, _LENGTH))
    features = [{"input_ids": row} for row in ids.tolist()]

    def go() -> None:
        for _ in range(batches):
            collator(features)

    return Work(go, count=batches, tokens=batches * ids.size)
