"""Files that are either whole or absent: atomic writes and checksums."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_BLOCK = 1 << 20


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """A temporary path beside ``target`` that takes its place when the block ends well.

    The data reaches the disk before the name does, so that a machine that dies at any moment
    leaves either the old file or the new one. When the block raises, the temporary file goes away
    and ``target`` stays as it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        # mkstemp is private to the owner; the finished file follows the user's umask instead.
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        yield part
        sync(part)
        part.replace(target)
        sync(target.parent)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, name):
            error.filename = str(target)  # what the user knows; a full disk names no file at all
        raise


def sync(path: Path) -> None:
    """Wait until the file or folder at ``path`` has reached the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(target: Path, text: str) -> None:
    """Write ``text`` as UTF-8 with ``\\n`` line ends, atomically."""
    with atomic_path(target) as part:
        part.write_bytes(text.encode("utf-8", errors="backslashreplace"))


def write_json(target: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, atomically; NaN and infinity are refused."""
    write_text(target, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def short(digest: str) -> str:
    """The part of a digest that is shown, enough to tell contents apart that differ by chance."""
    return digest[:16]
