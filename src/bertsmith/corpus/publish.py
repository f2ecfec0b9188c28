"""A corpus for a URL: built in the cache of this machine, then copied there, manifest last."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import fsspec

from bertsmith.common.console import Bar, note
from bertsmith.common.errors import CorpusError, SettingsError
from bertsmith.corpus import folder
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.locate import cache_folder, named
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.settings import CorpusSettings


def build_at(
    inputs: list[str], place: str, settings: CorpusSettings, scheduler: str | None = None
) -> Manifest:
    """Build a corpus in a folder, or for an fsspec URL.

    Shards and tokenizer reach the URL before the manifest does, so that a corpus is there whole or
    not at all. A build that was broken off goes on from what the cache has. There are no locks at a
    URL: two builds of different text for one URL at the same time are not kept apart.

    Args:
        inputs: files, folders, globs or URLs.
        place: a folder or a URL.
        settings: the settings in force.
        scheduler: see :func:`~bertsmith.corpus.build.build_corpus`; for folders only.

    Raises:
        BertsmithError: see :func:`~bertsmith.corpus.build.build_corpus`.
        CorpusError: the URL holds another corpus, or can not be written to.
    """
    if "://" not in place:
        return build_corpus(inputs, Path(place), settings, scheduler)
    if scheduler:
        raise SettingsError(
            "the workers of a cluster write to a folder that all machines see, not to a URL",
            value=place, mend="give --out such a folder",
        )  # fmt: skip
    with named(place, "written"):
        system, root = fsspec.core.url_to_fs(place)
        there = _manifest(system, root.rstrip("/"))
    local = cache_folder() / "built" / hashlib.sha256(place.encode()).hexdigest()[:32]
    manifest = build_corpus(inputs, local, settings)
    if there is not None and there != (local / folder.MANIFEST).read_bytes():
        raise CorpusError(
            "the URL holds another corpus", file=place, mend="give another --out, or remove it"
        )
    if there is None:
        with named(place, "written"):
            _copy(system, local, root.rstrip("/"))
        note(f"the corpus is at {place}; what it was copied from lies in {local}")
    return manifest


def _manifest(system: Any, root: str) -> bytes | None:
    path = f"{root}/{folder.MANIFEST}"
    return bytes(system.cat_file(path)) if system.exists(path) else None


def _copy(system: Any, local: Path, root: str) -> None:
    paths = [path for path in sorted(local.rglob("*")) if path.is_file() and path.name[0] != "."]
    paths.sort(key=lambda path: path.name == folder.MANIFEST)
    with Bar("copying", sum(path.stat().st_size for path in paths)) as bar:
        for path in paths:
            target = f"{root}/{path.relative_to(local).as_posix()}"
            size = path.stat().st_size
            system.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
            system.put_file(str(path), target)
            if system.size(target) != size:
                raise OSError(f"{target} has {system.size(target)} bytes instead of {size}")
            bar.advance(size)
