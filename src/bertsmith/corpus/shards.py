"""Shards: Arrow files of documents of sentences of token ids, memory-mapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bertsmith.common.errors import CorpusError
from bertsmith.common.files import atomic_path


@dataclass(frozen=True)
class Shard:
    """The arrays of a shard, views of the mapped file.

    Attributes:
        tokens: ``[T]`` uint16 or uint32 token ids.
        sentence_offsets: ``[S + 1]`` int32, where each sentence begins in ``tokens``.
        document_offsets: ``[D + 1]`` int32, where each document begins in ``sentence_offsets``.
    """

    tokens: np.ndarray
    sentence_offsets: np.ndarray
    document_offsets: np.ndarray


@dataclass(frozen=True)
class Content:
    """What goes into a shard.

    Attributes:
        tokens: ``[T]`` token ids.
        sentence_lengths: ``[S]`` tokens of each sentence.
        document_lengths: ``[D]`` sentences of each document.
        hashes: ``[D]`` 16 bytes each, of the documents' text.
    """

    tokens: np.ndarray
    sentence_lengths: np.ndarray
    document_lengths: np.ndarray
    hashes: Sequence[bytes]


def write_shard(path: Path, content: Content, vocab_size: int) -> None:
    """Write one record batch with columns ``sentences: list<list<uint>>`` and ``text_hash``."""
    kind = pa.uint16() if vocab_size <= 1 << 16 else pa.uint32()
    ids = pa.array(content.tokens.astype(kind.to_pandas_dtype()), kind)
    by_sentence = pa.ListArray.from_arrays(_offsets(content.sentence_lengths), ids)
    by_document = pa.ListArray.from_arrays(_offsets(content.document_lengths), by_sentence)
    hashes = pa.array(content.hashes, pa.binary(16))
    batch = pa.record_batch({"sentences": by_document, "text_hash": hashes})
    with (
        atomic_path(path) as part,
        pa.OSFile(str(part), "wb") as sink,
        pa.ipc.new_file(sink, batch.schema) as writer,
    ):
        writer.write_batch(batch)


def _offsets(lengths: np.ndarray) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def open_shard(path: Path, size: int) -> Shard:
    """Map a shard that has ``size`` bytes; nothing is copied.

    Raises:
        CorpusError: the file is missing, has another size or is not what was written.
    """
    mend = "build the corpus again: only what is damaged is made anew"
    if not path.exists():
        raise CorpusError("the shard is missing", file=path, mend=mend)
    if path.stat().st_size != size:
        raise CorpusError(
            f"the shard has {path.stat().st_size:,} bytes instead of {size:,}", file=path, mend=mend
        )
    try:
        # Closing gives the file handle back, the mapping lives as long as the arrays: a corpus can
        # have more shards than a process may have open files.
        with pa.memory_map(str(path)) as mapped:
            batch = pa.ipc.open_file(mapped).get_batch(0)
            batch.validate(full=True)  # offsets only: they rise, and end within the tokens
            column = batch.column("sentences")
        sentences = column.values
        return Shard(
            sentences.values.to_numpy(zero_copy_only=True),
            sentences.offsets.to_numpy(zero_copy_only=True),
            column.offsets.to_numpy(zero_copy_only=True),
        )
    except (pa.ArrowException, AttributeError, KeyError, OSError) as error:
        raise CorpusError(f"the shard is damaged: {error}", file=path, mend=mend) from None
