"""A folder that is replaced as a whole: readers see the old one or the new one."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from bertsmith.common.files import PART, held, sweep, sync

# Files that say what a model is: those of the model before would speak for another one.
_OF_A_MODEL = (
    "config.json", "bert_config.json", "task.json", "vocab.txt", "tokenizer*.json",
    "added_tokens.json", "special_tokens_map.json", "model*.safetensors*", "pytorch_model*.bin*",
    "bert_model.ckpt*", "checkpoint", "model*.onnx*", "adapter_*",
)  # fmt: skip
_OLD = ".old"  # what the name of a folder ends in that is about to be replaced, or was
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside ``target`` that takes its place when the block ends well.

    Everything reaches the disk before the name does. When the block raises, or the process dies,
    ``target`` is what it was. Files of the old folder that the new one does not have (a user's
    notes) move over, except those that say what a model is. What processes left beside ``target``
    that were killed goes away, and of an old folder among it the user's files come back.

    Raises:
        NotADirectoryError: ``target`` is a file.
    """
    target = target.resolve()
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "there is a file of that name", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target, PART, shutil.rmtree)
    sweep(target, _OLD, lambda old: _end(old, target))
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=PART, dir=target.parent))
    old = part.with_suffix(_OLD)
    try:
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o777 & ~umask)
        with held(part):
            yield part
            for path in part.rglob("*"):
                if path.is_file():  # some writers make files that only their owner can read
                    path.chmod(0o666 & ~umask)
                sync(path)
            sync(part)
            if target.exists():
                with held(target):
                    _exchange(part.rename(old), target)
                    _end(old, target)
            else:
                part.rename(target)
            sync(target.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _exchange(a: Path, b: Path) -> None:
    """Swap two folders in one step where the system can (Linux), else in three renames."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        done = rename(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE) == 0
    except (AttributeError, OSError):
        done = False
    if not done:
        aside = a.with_suffix(".aside")
        b.rename(aside)
        a.rename(b)
        aside.rename(a)


def _end(old: Path, new: Path) -> None:
    """Remove the old folder; what of it belongs to the user moves into the new one."""
    if new.exists():
        _move_rest(old, new)
    shutil.rmtree(old, ignore_errors=True)


def _move_rest(old: Path, new: Path) -> None:
    for path in old.iterdir():
        stale = any(fnmatch(path.name, pattern) for pattern in _OF_A_MODEL)
        if not stale and not (new / path.name).exists():
            path.rename(new / path.name)
