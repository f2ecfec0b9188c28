"""Reading a corpus: any document of any part at once, from memory-mapped shards."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bertsmith.common.errors import CorpusError
from bertsmith.common.files import sha256
from bertsmith.corpus.encode import PARTS
from bertsmith.corpus.folder import SHARDS, TOKENIZER
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.shards import Shard, open_shard
from bertsmith.text.tokenizer import Tokenizer

_CHEAP_TO_VERIFY = 1 << 30  # bytes


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        tokens: ``[T]`` token ids, a view of the mapped shard.
        sentence_starts: ``[S + 1]`` where each sentence begins in ``tokens``, and ``T``.
    """

    tokens: np.ndarray
    sentence_starts: np.ndarray


class Corpus:
    """A part of a corpus.

    Attributes:
        folder: where it lies.
        manifest: its manifest.
        documents: number of documents.
        sentences: number of sentences.
        tokens: number of tokens.
        document_tokens: ``[D]`` int64, tokens of each document.
        document_sentences: ``[D]`` int64, sentences of each document.
    """

    def __init__(self, folder: Path, manifest: Manifest, part: str, shards: list[Shard]) -> None:
        self.folder, self.manifest, self.part = folder, manifest, part
        self._shards = shards
        sentences = [np.diff(s.document_offsets) for s in shards]
        tokens = [np.diff(s.sentence_offsets[s.document_offsets]) for s in shards]
        empty = [np.zeros(0, np.int32)]
        self.document_sentences = np.concatenate(sentences or empty).astype(np.int64)
        self.document_tokens = np.concatenate(tokens or empty).astype(np.int64)
        sizes = [len(s.document_offsets) - 1 for s in shards]
        self._first_document: list[int] = [0, *np.cumsum(sizes).tolist()]
        self.documents = len(self.document_tokens)
        self.sentences = int(self.document_sentences.sum())
        self.tokens = int(self.document_tokens.sum())

    @classmethod
    def open(cls, folder: Path, part: str = "train", verify: bool | None = None) -> Corpus:
        """Map the shards of a part.

        Args:
            folder: what ``bertsmith corpus`` wrote.
            part: ``train`` or ``held_out``; the latter may have no document.
            verify: check every shard's SHA-256, which reads all of it; None where the shards of the
                part have 1 GiB at most, which takes a second or two. Sizes are always checked.

        Raises:
            CorpusError: the corpus is missing, unfinished or damaged; the message names the shard.
        """
        if part not in PARTS:
            raise CorpusError(
                "a corpus has no part of that name", value=part, mend="parts: " + ", ".join(PARTS)
            )
        folder = Path(folder)
        manifest = Manifest.read(folder)
        shards = []
        records = _records(manifest, part)
        if verify is None:
            verify = sum(record["bytes"] for record in records) <= _CHEAP_TO_VERIFY
        for record in records:
            path = folder / SHARDS / record["file"]
            shards.append(open_shard(path, record["bytes"]))
            if verify and sha256(path) != record["sha256"]:
                raise CorpusError(
                    "the shard's checksum is wrong: it was damaged", file=path,
                    mend="remove manifest.json and build the corpus again: only what is "
                    "damaged is made anew",
                )  # fmt: skip
        return cls(folder, manifest, part, shards)

    @property
    def shards(self) -> list[Shard]:
        """The mapped shards in their order."""
        return self._shards

    def origin(self, number: int) -> tuple[Path, int]:
        """The shard that document ``number`` lies in, and its place there, counted from 0."""
        at = bisect_right(self._first_document, number) - 1
        records = _records(self.manifest, self.part)
        return self.folder / SHARDS / records[at]["file"], number - self._first_document[at]

    def document(self, number: int) -> Document:
        """Document ``number``, counted from 0.

        Raises:
            IndexError: there is no such document.
        """
        if not 0 <= number < self.documents:
            raise IndexError(number)
        # Called for every training example: plain numbers are several times faster than arrays.
        at = bisect_right(self._first_document, number) - 1
        shard = self._shards[at]
        place = number - self._first_document[at]
        first = shard.document_offsets.item(place)
        starts = shard.sentence_offsets[first : shard.document_offsets.item(place + 1) + 1]
        begin = starts.item(0)
        return Document(shard.tokens[begin : starts.item(-1)], starts - begin)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the token ids are of."""
        tokenizer = Tokenizer.load(self.folder / TOKENIZER)
        if tokenizer.digest != self.manifest.vocabulary_digest:
            raise CorpusError(
                "the tokenizer is not the one that the text was encoded with: the ids in the "
                "shards stand for other pieces",
                file=self.folder / TOKENIZER,
                mend="put the tokenizer back, or remove manifest.json and build the corpus again",
            )
        return tokenizer


def _records(manifest: Manifest, part: str) -> list[dict[str, Any]]:
    """The manifest's records of the shards of a part."""
    return [one for one in manifest.shards if one["part"] == part and one["file"]]
