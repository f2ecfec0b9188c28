"""The folder of a corpus: whose it is, who may write in it, what lies where."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bertsmith.common.errors import CorpusError

MANIFEST, COUNTS, TOKENIZER, SHARDS = "manifest.json", "token_counts.npy", "tokenizer", "shards"
VOCABULARY = "vocabulary.json"  # of an unfinished build: what the tokenizer was trained for
LOCK = ".lock"
_OURS = {MANIFEST, COUNTS, TOKENIZER, SHARDS, VOCABULARY, LOCK}


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Make the folder ``out`` if need be and keep other builds out of it.

    The lock goes with the process, however it ends.

    Raises:
        CorpusError: ``out`` holds something else, or another process is at work there.
    """
    if out.exists() and not out.is_dir():
        raise CorpusError("the corpus folder is a file", file=out, mend="give another --out")
    if out.exists() and not (out / LOCK).exists():
        others = sorted(path.name for path in out.iterdir() if path.name not in _OURS)
        if others:
            raise CorpusError(
                "the folder holds something that is not a corpus",
                file=out,
                value=others[0],
                mend="give another --out",
            )
    try:
        out.mkdir(parents=True, exist_ok=True)
        stream = (out / LOCK).open("w")
    except PermissionError as error:
        raise CorpusError(f"the folder can not be written: {error.strerror}", file=out) from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CorpusError("another process is building this corpus", file=out) from None
        yield
