"""One unit of the build: some documents -> sentences -> token ids -> shards. Runs in a worker."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from bertsmith.common.files import sha256, write_json
from bertsmith.corpus.formats import Document
from bertsmith.corpus.shards import write_shard
from bertsmith.text.sentences import split_sentences
from bertsmith.text.tokenizer import Tokenizer

PARTS = ("train", "held_out")
_VERSION = 1  # of the layout of units; a change makes old units be built anew


@dataclass(frozen=True)
class Unit:
    """Work for one call: documents with their format, part and hash, and where the result goes."""

    number: int
    documents: Sequence[tuple[str, Document, str, str]]  # format, lines, part, hash
    folder: Path
    language: str

    def key(self, tokenizer_digest: str) -> str:
        """A hash of all that decides the result."""
        documents = [(form, part, digest) for form, _, part, digest in self.documents]
        text = json.dumps([_VERSION, tokenizer_digest, self.language, documents])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Totals:
    """Figures of some documents."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    tokens: int = 0
    unknown: int = 0
    single_sentence_documents: int = 0
    empty_documents: int = 0

    def add(self, other: Totals) -> None:
        """Add the figures of other documents."""
        for field in fields(self):
            total = getattr(self, field.name) + getattr(other, field.name)
            setattr(self, field.name, total)


def encode_unit(unit: Unit, tokenizer_folder: Path) -> dict[str, Any]:
    """Write the shards of a unit and its record, unless they are there already.

    Returns:
        The record: a list of shards, each with part, file, bytes, SHA-256 and figures.
    """
    tokenizer = _tokenizer(tokenizer_folder)
    key = unit.key(tokenizer.digest)
    record_path = unit.folder / f"{unit.number:06d}.json"
    record = _finished(record_path, key)
    if record is not None:
        return record
    shards = []
    for part in PARTS:
        documents, totals = _encode(unit, part, tokenizer)
        shard: dict[str, Any] = {"part": part, "file": None, **asdict(totals)}
        if documents:
            path = unit.folder / f"{unit.number:06d}.{part}.arrow"
            write_shard(path, documents, tokenizer.size)
            shard |= {"file": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
        shards.append(shard)
    record = {"key": key, "shards": shards}
    write_json(record_path, record)  # last: its presence says that the unit is whole
    return record


@lru_cache(maxsize=1)
def _tokenizer(folder: Path) -> Tokenizer:
    # The build is parallel over processes; threads inside them would only get in each other's way.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return Tokenizer.load(folder)


def _finished(path: Path, key: str) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        same = record["key"] == key
    except (OSError, ValueError, KeyError, TypeError):
        return None
    files = [shard for shard in record["shards"] if shard["file"]] if same else []
    whole = all(
        (path.parent / shard["file"]).exists()
        and sha256(path.parent / shard["file"]) == shard["sha256"]
        for shard in files
    )
    return record if same and whole else None


def _encode(
    unit: Unit, part: str, tokenizer: Tokenizer
) -> tuple[list[list[list[int]]], Totals]:
    texts: list[str] = []
    counts: list[int] = []
    for form, lines, own_part, _ in unit.documents:
        if own_part == part:
            sentences = (
                lines
                if form == "sentences"
                else [s for line in lines for s in split_sentences(line, unit.language)]
            )
            texts += sentences
            counts.append(len(sentences))
    ids = iter(tokenizer.encode_ids(texts))
    totals = Totals(words=sum(len(text.split()) for text in texts))
    documents = []
    for count in counts:
        document = [sentence for _ in range(count) if (sentence := next(ids))]
        if document:
            documents.append(document)
        else:
            totals.empty_documents += 1
    totals.documents = len(documents)
    totals.sentences = sum(map(len, documents))
    totals.tokens = sum(len(sentence) for document in documents for sentence in document)
    unknown = tokenizer.ids.unk
    totals.unknown = sum(s.count(unknown) for document in documents for s in document)
    totals.single_sentence_documents = sum(len(document) == 1 for document in documents)
    return documents, totals
