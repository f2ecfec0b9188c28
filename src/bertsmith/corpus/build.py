"""Building a corpus: inputs -> survey -> vocabulary -> shards -> manifest.

The inputs are cut into units by their order alone, and a unit is encoded by one call that writes
its own files: so the result does not depend on the number of processes, memory does not grow with
the text, and a build that was interrupted finds its finished units and makes only the rest.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import multiprocessing
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import IO, Any

from bertsmith.common.console import Bar, note
from bertsmith.common.errors import CorpusError, InputError
from bertsmith.common.settings import to_mapping
from bertsmith.corpus.encode import Unit, encode_unit
from bertsmith.corpus.manifest import MANIFEST, Manifest, find_warnings, sum_up
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source, find_sources
from bertsmith.corpus.survey import Survey, documents, survey
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.trainer import Alphabet, train_wordpiece

_SHARDS, _TOKENIZER, _LOCK = "shards", "tokenizer", ".lock"


def build_corpus(inputs: list[str], out: Path, settings: CorpusSettings) -> Manifest:
    """Build a corpus in ``out``, or finish one whose build was interrupted.

    Args:
        inputs: files, folders, globs or URLs.
        out: the corpus folder.
        settings: the settings in force.

    Raises:
        InputError: an input is missing, unreadable or malformed, or there is no text at all.
        CorpusError: ``out`` holds something else, or the disk is full.
    """
    sources = find_sources(inputs)
    with _locked(out):
        try:
            return _build(sources, out, settings)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise CorpusError(
                "the disk is full", file=out,
                mend="make room and run the same command again: finished shards are kept",
            ) from None  # fmt: skip


def _build(sources: list[Source], out: Path, settings: CorpusSettings) -> Manifest:
    hashed = [
        {"url": source.url, "bytes": source.size, "sha256": digest}
        for source, digest in zip(sources, _hash_inputs(sources), strict=True)
    ]
    given = Tokenizer.load(Path(settings.vocab)) if settings.vocab else None
    key = _key(hashed, settings, given)
    if (out / MANIFEST).exists():
        manifest = Manifest.read(out)
        if manifest.key != key:
            raise CorpusError(
                "the folder holds a corpus of other inputs or settings", file=out,
                mend="give another --out, or remove that corpus",
            )  # fmt: skip
        if _whole(manifest, out):
            note(f"{out} holds this corpus already; nothing is left to do")
            return manifest
    rate = min(1.0, settings.vocab_sample_mb * 1e6 / max(1, sum(s.size for s in sources)))
    alphabet = None if given else Alphabet(not settings.cased, settings.strips_accents)
    found = survey(sources, settings, rate, alphabet)
    if not found.documents:
        raise InputError("the inputs hold no text", file=", ".join(s.url for s in sources[:3]))
    tokenizer = given or _train(sources, settings, found, rate, alphabet)
    tokenizer.save(out / _TOKENIZER)
    records, dropped = _encode(sources, out, settings, found)
    shards = [shard for record in records for shard in record["shards"]]
    parts = sum_up(shards)
    if not parts["train"]["documents"]:
        raise InputError("no document of the inputs has a token", file=sources[0].url)
    _remove_others(out / _SHARDS, {shard["file"] for shard in shards}, len(records))
    manifest = Manifest(
        key, to_mapping(settings), hashed, shards, parts, dropped, tokenizer.size,
        dict(found.formats), warnings=find_warnings(parts),
    )  # fmt: skip
    manifest.write(out)
    return manifest


def _train(
    sources: list[Source],
    settings: CorpusSettings,
    found: Survey,
    rate: float,
    alphabet: Alphabet | None,
) -> Tokenizer:
    assert alphabet is not None
    sample = (
        line
        for document in documents(sources, settings, "vocabulary")
        if document.sampled(rate) and document.place >= found.held_out_below
        for line in document.lines
    )
    note(f"training a vocabulary of {settings.vocab_size:,} pieces")
    return train_wordpiece(
        sample,
        settings.vocab_size,
        alphabet.most_frequent(settings.vocab_size),
        not settings.cased,
        settings.strips_accents,
        settings.min_frequency,
    )


def _encode(
    sources: list[Source], out: Path, settings: CorpusSettings, found: Survey
) -> tuple[list[dict[str, Any]], int]:
    """Encode all units, at most a few at a time; returns their records and the copies dropped."""
    (out / _SHARDS).mkdir(parents=True, exist_ok=True)
    workers = settings.workers or os.cpu_count() or 1
    seen: set[str] = set()
    dropped = [0]
    units = _units(sources, settings, found, out / _SHARDS, seen, dropped)
    records: list[dict[str, Any]] = []
    running: deque[Future[dict[str, Any]]] = deque()
    with _executor(workers) as executor:
        try:
            for unit in units:
                running.append(executor.submit(encode_unit, unit, out / _TOKENIZER))
                if len(running) > workers:
                    records.append(running.popleft().result())
            records += [future.result() for future in running]
        except BrokenProcessPool:
            raise CorpusError(
                "a worker process was killed (out of memory?)", file=out,
                mend="run the same command again, with fewer --workers or a smaller --shard-mb",
            ) from None  # fmt: skip
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    return records, dropped[0]


def _units(
    sources: list[Source],
    settings: CorpusSettings,
    found: Survey,
    folder: Path,
    seen: set[str],
    dropped: list[int],
) -> Iterator[Unit]:
    batch: list[tuple[str, list[str], str, str]] = []
    size, number = 0, 0
    for document in documents(sources, settings, "encoding"):
        if settings.deduplicate:
            if document.digest in seen:
                dropped[0] += 1
                continue
            seen.add(document.digest)
        part = "held_out" if document.place < found.held_out_below else "train"
        batch.append((document.form, document.lines, part, document.digest))
        size += document.size
        if size >= settings.shard_mb * 1e6:
            yield Unit(number, batch, folder, settings.language)
            batch, size, number = [], 0, number + 1
    if batch:
        yield Unit(number, batch, folder, settings.language)


def _executor(workers: int) -> Executor:
    if workers == 1:
        return ThreadPoolExecutor(1)
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _hash_inputs(sources: list[Source]) -> Iterator[str]:
    import fsspec

    with Bar("checking inputs", sum(source.size for source in sources)) as bar:
        for source in sources:
            digest = hashlib.sha256()
            try:
                with fsspec.open(source.url, "rb") as stream:
                    while block := stream.read(1 << 20):
                        digest.update(block)
                        bar.advance(len(block))
            except OSError as error:
                raise InputError(f"the file can not be read: {error}", file=source.url) from None
            yield digest.hexdigest()


def _key(
    inputs: list[dict[str, Any]], settings: CorpusSettings, given: Tokenizer | None
) -> str:
    values = {k: v for k, v in to_mapping(settings).items() if k not in ("workers", "vocab")}
    content = [item["sha256"] for item in inputs]
    text = json.dumps([values, content, given.digest if given else None], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _whole(manifest: Manifest, out: Path) -> bool:
    paths = [(out / _SHARDS / s["file"], s["bytes"]) for s in manifest.shards if s["file"]]
    return all(path.exists() and path.stat().st_size == size for path, size in paths)


def _remove_others(folder: Path, files: set[str | None], units: int) -> None:
    """Remove what an earlier, interrupted build with other settings left."""
    known = files | {f"{number:06d}.json" for number in range(units)}
    for path in folder.iterdir():
        if path.name not in known:
            path.unlink()


class _locked:
    """The output folder, made if need be, refused if it holds something else, held by this process."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._stream: IO[str] | None = None

    def __enter__(self) -> None:
        out = self._out
        if out.exists() and not out.is_dir():
            raise CorpusError("the corpus folder is a file", file=out, mend="give another --out")
        ours = {_SHARDS, _TOKENIZER, _LOCK, MANIFEST}
        others = [p.name for p in out.iterdir() if p.name not in ours] if out.exists() else []
        if others and not (out / _LOCK).exists():
            raise CorpusError(
                "the folder holds something that is not a corpus", file=out, value=others[0],
                mend="give another --out",
            )  # fmt: skip
        out.mkdir(parents=True, exist_ok=True)
        self._stream = (out / _LOCK).open("w")
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CorpusError("another process is building this corpus", file=out) from None

    def __exit__(self, *_: object) -> None:
        if self._stream:
            self._stream.close()
