"""Building a corpus: inputs -> survey -> vocabulary -> shards -> manifest.

The inputs are cut into units by their order alone, and a unit is encoded by one call that writes
its own files: so the result does not depend on the number of processes, memory does not grow with
the text, and a build that was interrupted finds its finished units and makes only the rest.
"""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import fsspec

from bertsmith.common.console import Bar, note
from bertsmith.common.cores import cores
from bertsmith.common.errors import CorpusError, InputError
from bertsmith.common.settings import to_mapping
from bertsmith.corpus import folder
from bertsmith.corpus.cluster import Cluster, arrived, connected, encode_there, own_version
from bertsmith.corpus.encode import Text, Unit, encode_unit
from bertsmith.corpus.figures import count_tokens, find_warnings, sum_up
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source, find_sources
from bertsmith.corpus.survey import Survey, documents
from bertsmith.corpus.vocabulary import Prepared, given_tokenizer, prepare
from bertsmith.corpus.workers import in_order
from bertsmith.text.tokenizer import Tokenizer

_VERSION = 1  # of what is made of the inputs; part of a corpus's key


def build_corpus(
    inputs: list[str], out: Path, settings: CorpusSettings, scheduler: str | None = None
) -> Manifest:
    """Build a corpus in ``out``, or finish one whose build was interrupted.

    Args:
        inputs: files, folders, globs or URLs.
        out: the corpus folder.
        settings: the settings in force.
        scheduler: address of a Dask cluster that encodes, which has to see ``out``; processes of
            this machine where it is None.

    Raises:
        InputError: an input is missing, unreadable or malformed, or there is no text at all.
        SettingsError: the settings contradict the vocabulary that is given.
        CorpusError: ``out`` holds something else, the disk is full, or the cluster fails.
    """
    out = Path(out)
    sources = find_sources(inputs)
    given = given_tokenizer(settings)
    try:
        cluster = connected(scheduler) if scheduler else nullcontext()
        with cluster as connection, folder.locked(out):
            if connection:  # before hours of other work
                connection.check(out.resolve() / folder.LOCK)
            return _build(sources, out, settings, given, connection)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise CorpusError(
            "the disk is full",
            file=out,
            mend="make room and run the same command again: finished shards are kept",
        ) from None


def _build(
    sources: list[Source],
    out: Path,
    settings: CorpusSettings,
    given: Tokenizer | None,
    cluster: Cluster | None,
) -> Manifest:
    inputs = [
        {"url": source.url, "kind": source.kind, "bytes": source.size, "sha256": digest}
        for source, digest in zip(sources, _hash_inputs(sources), strict=True)
    ]
    key = _key(inputs, settings, given)
    if (out / folder.MANIFEST).exists():
        manifest = Manifest.read(out)
        if manifest.key != key:
            raise CorpusError(
                "the folder holds a corpus of other inputs or settings",
                file=out,
                mend="give another --out, or remove that corpus",
            )
        if _whole(manifest, out):
            note(f"{out} holds this corpus already; nothing is left to do")
            return manifest
    vocabulary = prepare(sources, out, settings, given, key)
    records, dropped = _encode(sources, out, settings, vocabulary, cluster)
    shards = [shard for record in records for shard in record["shards"]]
    parts = sum_up(shards)
    if not parts["train"]["documents"]:
        raise InputError("no document of the inputs has a token", file=sources[0].url)
    _remove_others(out / folder.SHARDS, shards, len(records))
    count_tokens(out, shards, parts, vocabulary.tokenizer)
    manifest = Manifest(
        key=key,
        settings=_recorded(settings),
        inputs=inputs,
        shards=shards,
        parts=parts,
        duplicates_dropped=dropped,
        vocabulary_size=vocabulary.tokenizer.size,
        vocabulary_digest=vocabulary.tokenizer.digest,
        vocabulary_sample_share=vocabulary.sample_share,
        formats=dict(sorted(vocabulary.survey.formats.items())),
        warnings=find_warnings(parts),
    )
    manifest.write(out)
    return manifest


def _encode(
    sources: list[Source],
    out: Path,
    settings: CorpusSettings,
    vocabulary: Prepared,
    cluster: Cluster | None,
) -> tuple[list[dict[str, Any]], int]:
    """Encode all units; returns their records and the number of copies dropped."""
    shards_folder = out / folder.SHARDS
    shards_folder.mkdir(parents=True, exist_ok=True)
    if cluster:  # whose workers run in folders of their own
        out, shards_folder = out.resolve(), shards_folder.resolve()
        cluster.check(out / folder.VOCABULARY)
    found, dropped = vocabulary.survey, list[bytes]()
    units = _units(sources, shards_folder, settings, found, dropped)
    most = 1 + int(found.size / (settings.shard_mb * 1e6))
    workers = min(settings.workers or cores(), most)
    encode = partial(
        encode_unit,
        tokenizer_folder=out / folder.TOKENIZER,
        digest=vocabulary.tokenizer.digest,
    )
    records: list[dict[str, Any]] = []
    try:
        with Bar("encoding", found.size) as bar:
            for record in _results(encode, units, workers, cluster):
                if cluster:
                    arrived(shards_folder / f"{len(records):06d}.json")
                records.append(record)
                bar.advance(record["text_bytes"])
    except BrokenExecutor:
        raise CorpusError(
            "a worker process was killed (out of memory?)",
            file=out,
            mend="run the same command again, with fewer --workers or a smaller --shard-mb",
        ) from None
    return records, len(dropped)


def _results(
    encode: Callable[[Unit], dict[str, Any]],
    units: Iterator[Unit],
    workers: int,
    cluster: Cluster | None,
) -> Iterator[dict[str, Any]]:
    if cluster is None:
        return in_order(encode, units, workers)
    there = partial(encode_there, encode, wanted=own_version())
    return in_order(there, units, workers, cluster)


def _units(
    sources: list[Source],
    shards: Path,
    settings: CorpusSettings,
    found: Survey,
    dropped: list[bytes],
) -> Iterator[Unit]:
    texts: list[Text] = []
    size, number = 0, 0
    seen: set[bytes] = set()
    for document in documents(sources, settings):
        if document.place in found.copied:
            if document.digest in seen:
                dropped.append(document.digest)
                continue
            seen.add(document.digest)
        part = "held_out" if document.place < found.held_out_below else "train"
        texts.append(Text(document.form, document.lines, document.size, part, document.digest))
        size += document.size
        if size >= settings.shard_mb * 1e6:
            yield Unit(number, texts, shards, settings.language)
            texts, size, number = [], 0, number + 1
    if texts:
        yield Unit(number, texts, shards, settings.language)


def _hash_inputs(sources: list[Source]) -> Iterator[str]:
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


def _recorded(settings: CorpusSettings) -> dict[str, Any]:
    """The settings without the number of processes, which changes nothing in a corpus."""
    return {name: value for name, value in to_mapping(settings).items() if name != "workers"}


def _key(inputs: list[dict[str, Any]], settings: CorpusSettings, given: Tokenizer | None) -> str:
    values = {name: value for name, value in _recorded(settings).items() if name != "vocab"}
    content = [(item["sha256"], item["kind"]) for item in inputs]
    text = json.dumps([_VERSION, values, content, given.digest if given else None], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _whole(manifest: Manifest, out: Path) -> bool:
    files = [(out / folder.SHARDS / s["file"], s["bytes"]) for s in manifest.shards if s["file"]]
    others = (out / folder.COUNTS, out / folder.TOKENIZER / "tokenizer.json")
    return all(path.exists() for path in others) and all(
        path.exists() and path.stat().st_size == size for path, size in files
    )


def _remove_others(shards: Path, records: list[dict[str, Any]], units: int) -> None:
    """Remove what earlier builds left that were killed or had other settings."""
    known = {record["file"] for record in records} | {f"{n:06d}.json" for n in range(units)}
    for path in [*shards.iterdir(), *shards.parent.glob(".*.part")]:
        if path.name not in known:
            path.unlink()
