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


def write_shard(path: Path, documents: Sequence[Sequence[Sequence[int]]], vocab_size: int) -> None:
    """Write documents as one record batch with a column ``sentences: list<list<uint>>``."""
    kind = pa.uint16() if vocab_size <= 1 << 16 else pa.uint32()
    sentences = [sentence for document in documents for sentence in document]
    ids = np.fromiter(
        (token for sentence in sentences for token in sentence), dtype=kind.to_pandas_dtype()
    )
    by_sentence = pa.ListArray.from_arrays(_offsets(sentences), pa.array(ids, kind))
    by_document = pa.ListArray.from_arrays(_offsets(documents), by_sentence)
    batch = pa.record_batch({"sentences": by_document})
    with atomic_path(path) as part, pa.OSFile(str(part), "wb") as sink:
        with pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)


def _offsets(items: Sequence[Sequence[object]]) -> pa.Array:
    lengths = np.fromiter((len(item) for item in items), dtype=np.int64, count=len(items))
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
        column = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0).column(0)
        sentences = column.values
        return Shard(
            sentences.values.to_numpy(zero_copy_only=True),
            sentences.offsets.to_numpy(zero_copy_only=True),
            column.offsets.to_numpy(zero_copy_only=True),
        )
    except (pa.ArrowInvalid, AttributeError, OSError) as error:
        raise CorpusError(f"the shard is damaged: {error}", file=path, mend=mend) from None
