"""Documents of a corpus as text again, and where they come from."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from bertsmith.common.errors import InputError
from bertsmith.corpus.corpus import Corpus
from bertsmith.text.tokenizer import Tokenizer


def document(corpus: Corpus, number: int, tokenizer: Tokenizer) -> dict[str, Any]:
    """A document: its origin, and its sentences as the model meets them.

    Raises:
        InputError: the part of the corpus has no such document.
    """
    if not 0 <= number < corpus.documents:
        raise InputError(
            f"the {corpus.part} part has {corpus.documents:,} documents, counted from 0",
            file=corpus.folder, value=number,
        )  # fmt: skip
    found = corpus.document(number)
    starts = found.sentence_starts.tolist()
    sentences = [
        tokenizer.decode(found.tokens[start:stop].tolist()) for start, stop in pairwise(starts)
    ]
    return {**origin(corpus, number), "tokens": len(found.tokens), "sentences": sentences}


def origin(corpus: Corpus, number: int) -> dict[str, Any]:
    """Part and number of a document, shard and place in it, the hash of its text, the input.

    The input is a name where the corpus has one alone; with several it is their number: a corpus
    does not know which documents are of which file.
    """
    shard, place = corpus.origin(number)
    inputs = corpus.manifest.inputs
    return {
        "part": corpus.part,
        "document": number,
        "shard": shard.name,
        "place": place,
        "text_hash": _hash(shard, place),
        "input": inputs[0]["url"] if len(inputs) == 1 else f"one of {len(inputs):,} files",
    }


def _hash(shard: Path, place: int) -> str:
    with pa.memory_map(str(shard)) as mapped:
        column = pa.ipc.open_file(mapped).get_batch(0).column("text_hash")
        return bytes(column[place].as_py()).hex()


def origin_text(found: dict[str, Any]) -> str:
    """An origin in a line."""
    return (
        f"{found['part']} document {found['document']} ({found['shard']}, place {found['place']}, "
        f"text hash {found['text_hash'][:12]}, from {found['input']})"
    )
