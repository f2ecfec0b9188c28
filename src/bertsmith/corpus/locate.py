"""Where a corpus lies: a folder of this machine, or a URL that is copied to one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import fsspec

from bertsmith.common.errors import BertsmithError, CorpusError
from bertsmith.common.files import atomic_path, sha256
from bertsmith.corpus import folder
from bertsmith.corpus.manifest import Manifest

_CACHE = "BERTSMITH_CACHE"


def local_folder(place: str) -> Path:
    """The folder of the corpus at ``place``; a URL is copied to the cache first.

    Shards are memory-mapped, so they have to be files. A copy is used again where the manifest is
    the same and each shard has its size and SHA-256; what is missing or differs is copied anew.

    Args:
        place: a folder, or an fsspec URL of one.

    Raises:
        CorpusError: there is no finished corpus at the URL, it can not be read, or what arrived is
            not what the manifest says.
    """
    if "://" not in place:
        return Path(place)
    with named(place, "read"):
        system, root = fsspec.core.url_to_fs(place)
        root = root.rstrip("/")
        if not system.exists(f"{root}/{folder.MANIFEST}"):
            raise CorpusError("there is no finished corpus", file=place)
        data = system.cat_file(f"{root}/{folder.MANIFEST}")
        # A corpus that was built anew at the same URL has another folder: a run may use the old.
        target = cache_folder() / hashlib.sha256(place.encode() + b"\0" + data).hexdigest()[:32]
        if (target / folder.MANIFEST).exists() and _is_whole(target):
            return target
        _copy(system, root, target, Manifest.parse(data, f"{place}/{folder.MANIFEST}"), place)
        with atomic_path(target / folder.MANIFEST) as part:  # last: it says that the copy is whole
            part.write_bytes(data)
    return target


def cache_folder() -> Path:
    """Where copies lie: ``BERTSMITH_CACHE``, else ``bertsmith/corpora`` in the user's cache."""
    if os.environ.get(_CACHE):
        return Path(os.environ[_CACHE])
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "bertsmith" / "corpora"


def _copy(system: Any, root: str, target: Path, manifest: Manifest, place: str) -> None:
    for shard in manifest.shards:
        if not shard["file"]:
            continue
        path = target / folder.SHARDS / shard["file"]
        if _same(path, shard):
            continue
        with atomic_path(path) as part:
            system.get_file(f"{root}/{folder.SHARDS}/{shard['file']}", str(part))
            if not _same(part, shard):
                raise CorpusError(
                    "the shard that arrived is not the one of the manifest",
                    file=f"{place.rstrip('/')}/{folder.SHARDS}/{shard['file']}",
                    mend="build or copy the corpus there again",
                )
    others = [path[len(root) + 1 :] for path in system.find(f"{root}/{folder.TOKENIZER}")]
    for name in [*others, folder.COUNTS]:
        if ".." in PurePosixPath(name).parts:  # a name at a URL may be anything
            raise CorpusError("a file's name leads out of the corpus", file=place, value=name)
        if system.exists(f"{root}/{name}"):
            with atomic_path(target / name) as part:
                system.get_file(f"{root}/{name}", str(part))


def _is_whole(target: Path) -> bool:
    shards = [shard for shard in Manifest.read(target).shards if shard["file"]]
    return all(_same(target / folder.SHARDS / shard["file"], shard) for shard in shards)


def _same(path: Path, shard: dict[str, Any]) -> bool:
    if not path.exists() or path.stat().st_size != shard["bytes"]:
        return False
    return bool(sha256(path) == shard["sha256"])


@contextmanager
def named(place: str, done: str) -> Iterator[None]:
    """Errors of any file system, as one message that names the URL and what can not be done.

    Raises:
        CorpusError: in place of all errors but those of our own.
    """
    try:
        yield
    except BertsmithError:
        raise
    except Exception as error:  # each protocol's library has errors of its own
        raise CorpusError(
            f"the URL can not be {done}: {type(error).__name__}: {error}", file=place,
            mend="see the protocol, the address and the credentials",
        ) from None  # fmt: skip
