"""Files that are either whole or absent: atomic writes and checksums."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PART = ".part"  # what the names of unfinished files and folders end in
SMALL = 1 << 26  # bytes: more than settings, indexes and vocabularies ever have
_BLOCK = 1 << 20


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """A temporary path beside ``target`` that takes its place when the block ends well.

    The data reaches the disk before the name does, so that a machine that dies at any moment
    leaves either the old file or the new one. When the block raises, the temporary file goes away
    and ``target`` stays as it was. What processes left here that were killed goes away, too.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target, PART, Path.unlink)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=PART, dir=target.parent)
    _lock(handle)
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
    finally:
        os.close(handle)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Let no :func:`sweep` take the file or folder at ``path`` meanwhile."""
    handle = os.open(path, os.O_RDONLY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def sweep(target: Path, suffix: str, remove: Callable[[Path], object]) -> None:
    """Remove what is beside ``target`` under temporary names of its own, left by killed processes.

    What a living process holds stays, and so does what can not be removed.

    Args:
        target: whose temporary names: ``.NAME.`` and eight random characters before ``suffix``.
        suffix: what the names end in.
        remove: how to remove one.
    """
    left = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}{re.escape(suffix)}")
    with suppress(OSError):
        for name in filter(left.fullmatch, os.listdir(target.parent)):
            with suppress(OSError):
                _remove(target.parent / name, remove)


def _remove(path: Path, remove: Callable[[Path], object]) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(path)
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    with suppress(OSError):  # a file system without locks lets nobody sweep, either
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


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


def read_small(path: Path) -> bytes:
    """The bytes of a file that only a mistake makes large: settings, an index, a vocabulary.

    Raises:
        OSError: the file can not be read, or has more than ``SMALL`` bytes.
    """
    data = bytearray()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):  # a read takes memory for all that it asks for
            data += block
            if len(data) > SMALL:
                raise OSError(errno.EFBIG, f"it has more than {SMALL >> 20} MiB")
    return bytes(data)


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
