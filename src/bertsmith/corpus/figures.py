"""Figures of a corpus: totals, token frequencies, and what is odd about them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bertsmith.common.files import atomic_path
from bertsmith.corpus import folder
from bertsmith.corpus.encode import PARTS, Totals
from bertsmith.corpus.shards import open_shard
from bertsmith.text.tokenizer import Tokenizer


def sum_up(shards: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Totals of each part over the records of shards."""
    names = Totals.__dataclass_fields__
    result = {}
    for part in PARTS:
        totals = Totals()
        for shard in shards:
            if shard["part"] == part:
                totals.add(Totals(**{name: shard[name] for name in names}))
        result[part] = asdict(totals)
    return result


def count_tokens(
    out: Path,
    shards: list[dict[str, Any]],
    parts: dict[str, dict[str, Any]],
    tokenizer: Tokenizer,
) -> None:
    """Count the tokens of the shards, write ``token_counts.npy``, add what follows to ``parts``.

    The file holds ``[2, vocabulary size]`` int64, a row each for train and held-out.
    """
    counts = np.zeros((len(PARTS), tokenizer.size), np.int64)
    for shard in shards:
        if shard["file"]:
            tokens = open_shard(out / folder.SHARDS / shard["file"], shard["bytes"]).tokens
            counts[PARTS.index(shard["part"])] += np.bincount(tokens, minlength=tokenizer.size)
    for part, row in zip(PARTS, counts, strict=True):
        parts[part] |= frequencies(row, tokenizer)
    with atomic_path(out / folder.COUNTS) as path, path.open("wb") as stream:
        np.save(stream, counts)


def frequencies(counts: np.ndarray, tokenizer: Tokenizer) -> dict[str, Any]:
    """What a model that knows nothing but token frequencies reaches.

    Args:
        counts: ``[V]`` occurrences of each token.
        tokenizer: for the tokens' spelling.

    Returns:
        ``unigram_entropy`` in nats, ``most_frequent_token``, ``most_frequent_token_share``.
    """
    total = int(counts.sum())
    if not total:
        return {
            "unigram_entropy": 0.0,
            "most_frequent_token": None,
            "most_frequent_token_share": 0.0,
        }
    shares = counts[counts > 0] / total
    best = int(counts.argmax())
    return {
        "unigram_entropy": float(-(shares * np.log(shares)).sum()),
        "most_frequent_token": tokenizer.tokens[best],
        "most_frequent_token_share": float(counts[best] / total),
    }


def find_warnings(parts: dict[str, dict[str, Any]]) -> list[str]:
    """What is odd about a corpus, in sentences."""
    train, held_out = parts["train"], parts["held_out"]
    result = []
    single, documents = train["single_sentence_documents"], train["documents"]
    if documents == 1:
        result.append(
            "the corpus is one document: there is no other document to take a random next sentence "
            "from, so next-sentence prediction is not possible"
        )
    if single == documents:
        result.append(
            f"all {documents:,} documents have one sentence: there are no positive pairs for "
            "next-sentence prediction (is there a blank line after every sentence?)"
        )
    elif single > documents / 2:
        result.append(f"{single:,} of {documents:,} documents have one sentence only")
    if train["unknown"] > 0.01 * train["tokens"]:
        share = train["unknown"] / train["tokens"]
        result.append(f"{share:.1%} of the tokens are [UNK]: the vocabulary does not fit the text")
    if not held_out["documents"]:
        result.append("there is no held-out part: nothing will tell memory from learning")
    return result
