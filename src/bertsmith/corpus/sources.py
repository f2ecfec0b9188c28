"""Input files: from what the user names to a sorted list."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, cast

import fsspec
import pyarrow as pa

from bertsmith.common.errors import InputError

_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet"}
_IN_FOLDERS = {".txt", ".text", ".md", ".rst", *_KINDS}


@dataclass(frozen=True)
class Source:
    """An input file.

    Attributes:
        url: path or URL.
        kind: ``text``, ``jsonl`` or ``parquet``, by the name's ending.
        size: bytes on disk.
    """

    url: str
    kind: str
    size: int

    def open(self) -> BinaryIO:
        """The file's bytes, decompressed."""
        suffix = PurePosixPath(self.url).suffix.lower()
        stream = fsspec.open(self.url, "rb").open()
        if suffix in _CODECS:
            return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(stream), _CODECS[suffix]))
        return cast(BinaryIO, stream)


def find_sources(inputs: Sequence[str]) -> list[Source]:
    """All input files in a stable order: as named, and sorted within a folder or glob.

    Of a folder, files are taken whose ending is that of text, JSON Lines or Parquet.

    Raises:
        InputError: an input is missing or has no file to read; or there is none at all.
    """
    found: dict[str, Source] = {}
    for name in inputs:
        before = len(found)
        files = _expand(name)
        found.update({url: Source(url, _kind(url), size) for url, size in files})
        if not files and len(found) == before:
            raise InputError(
                "no file to read there", file=name,
                mend="expected " + ", ".join(sorted(_IN_FOLDERS)) + ", plain or .gz, .zst",
            )  # fmt: skip
    return list(found.values())


def _expand(name: str) -> list[tuple[str, int]]:
    try:
        system, path = fsspec.core.url_to_fs(name)
        remote = "://" in name
        if glob.has_magic(path) and not system.exists(path):
            paths = sorted(p for p in system.glob(path) if system.isfile(p))
        elif system.isdir(path):
            paths = sorted(p for p in system.find(path) if _ending(p) in _IN_FOLDERS)
        elif system.exists(path):
            paths = [path]
        else:
            paths = []
        if not paths and not system.isdir(path):
            raise InputError("there is no such file or folder", file=name)
        show = system.unstrip_protocol if remote else str
        return [(show(p), int(system.size(p) or 0)) for p in paths]
    except (ValueError, ImportError, OSError) as error:
        raise InputError(f"the input can not be opened: {error}", file=name) from None


def _ending(url: str) -> str:
    path = PurePosixPath(url)
    if path.suffix.lower() in _CODECS:
        path = path.with_suffix("")
    return path.suffix.lower()


def _kind(url: str) -> str:
    return _KINDS.get(_ending(url), "text")
