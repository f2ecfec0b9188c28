"""One unit of the build: some documents -> sentences -> token ids -> shards. Runs in a worker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from bertsmith.common import strict_json
from bertsmith.common.files import sha256, write_json
from bertsmith.corpus.formats import Document
from bertsmith.corpus.shards import Content, write_shard
from bertsmith.text.sentences import split_sentences
from bertsmith.text.tokenizer import Tokenizer

_AT_ONCE = 2000  # sentences
PARTS = ("train", "held_out")
_VERSION = 2  # of the layout of units; a change makes old units be built anew


@dataclass(frozen=True)
class Text:
    """A document to encode: its format, lines, bytes, part and the 16-byte hash of its text."""

    form: str
    lines: Document
    size: int
    part: str
    digest: bytes


@dataclass(frozen=True)
class Unit:
    """Work for one call: documents, and where the result goes."""

    number: int
    texts: Sequence[Text]
    folder: Path
    language: str

    def key(self, tokenizer_digest: str) -> str:
        """A hash of all that decides the result."""
        documents = [(text.form, text.part, text.digest.hex()) for text in self.texts]
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


def encode_unit(unit: Unit, tokenizer_folder: Path, digest: str) -> dict[str, Any]:
    """Write the shards of a unit and its record, unless they are there already.

    Args:
        unit: what to encode.
        tokenizer_folder: where its tokenizer lies.
        digest: the tokenizer's digest.

    Returns:
        The record: a list of shards, each with part, file, bytes, SHA-256 and figures.
    """
    key = unit.key(digest)
    record_path = unit.folder / f"{unit.number:06d}.json"
    record = _finished(record_path, key)
    if record is not None:
        return record
    tokenizer = _tokenizer(tokenizer_folder, digest)
    shards = []
    for part in PARTS:
        content, totals = _encode(unit, part, tokenizer)
        shard: dict[str, Any] = {"part": part, "file": None, **asdict(totals)}
        if totals.documents:
            path = unit.folder / f"{unit.number:06d}.{part}.arrow"
            write_shard(path, content, tokenizer.size)
            shard |= {"file": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
        shards.append(shard)
    size = sum(text.size for text in unit.texts)
    record = {"key": key, "text_bytes": size, "shards": shards}
    write_json(record_path, record)  # last: its presence says that the unit is whole
    return record


@lru_cache(maxsize=1)
def _tokenizer(folder: Path, digest: str) -> Tokenizer:  # noqa: ARG001
    # The digest is in the cache's key: another build in this process may replace the folder.
    return Tokenizer.load(folder)


def _finished(path: Path, key: str) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = strict_json.loads(path.read_text("utf-8"))
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


def _encode(unit: Unit, part: str, tokenizer: Tokenizer) -> tuple[Content, Totals]:
    totals = Totals()
    ids: list[np.ndarray] = []
    sentence_lengths: list[int] = []
    document_lengths: list[int] = []
    hashes: list[bytes] = []
    for text in unit.texts:
        if text.part != part:
            continue
        before = len(sentence_lengths)
        for some in _batches(_sentences(text, unit.language)):
            totals.words += sum(len(sentence.split()) for sentence in some)
            found = [sentence for sentence in tokenizer.encode_ids(some) if sentence]
            sentence_lengths += map(len, found)
            ids.append(np.fromiter(chain.from_iterable(found), np.uint32))
        if len(sentence_lengths) == before:
            totals.empty_documents += 1
            continue
        document_lengths.append(len(sentence_lengths) - before)
        hashes.append(text.digest)
    tokens = np.concatenate([*ids, np.zeros(0, np.uint32)])
    totals.documents = len(document_lengths)
    totals.sentences = len(sentence_lengths)
    totals.tokens = len(tokens)
    totals.unknown = int((tokens == tokenizer.ids.unk).sum())
    totals.single_sentence_documents = document_lengths.count(1)
    lengths = np.array(sentence_lengths, np.int64), np.array(document_lengths, np.int64)
    return Content(tokens, *lengths, hashes), totals


def _sentences(text: Text, language: str) -> Iterator[str]:
    if text.form == "sentences":
        return iter(text.lines)
    return (sentence for line in text.lines for sentence in split_sentences(line, language))


def _batches(sentences: Iterator[str]) -> Iterator[list[str]]:
    """A few at a time: what the tokenizer returns is many times larger than the text."""
    while some := list(islice(sentences, _AT_ONCE)):
        yield some
