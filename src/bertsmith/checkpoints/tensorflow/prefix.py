"""Which files are a TensorFlow checkpoint: the prefix that they share."""

from __future__ import annotations

import os
import re
from pathlib import Path, PureWindowsPath

from bertsmith.checkpoints.tensorflow.sstable import MAGIC
from bertsmith.common.errors import ModelError

# The text file in which tf.train.Saver names the checkpoint it wrote last.
_LATEST = "checkpoint"
_FIRST_BYTES = 1 << 16  # the name comes first, and other programs have large files so called
_LATEST_LINE = re.compile(rb'^model_checkpoint_path:\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")
_PART = re.compile(r"(?<=.)\.(index|meta|data-\d+-of-\d+)$")


def index_of(prefix: Path) -> Path:
    """The index of a checkpoint."""
    return prefix.parent / f"{prefix.name}.index"


def shard_of(prefix: Path, number: int, count: int) -> Path:
    """A file of a checkpoint's data, counted from 0."""
    return prefix.parent / f"{prefix.name}.data-{number:05}-of-{count:05}"


def find_prefix(path: Path) -> Path | None:
    """The prefix of the checkpoint at ``path``; None where there is none.

    Args:
        path: a prefix, a file of the checkpoint (``.index``, ``.data-...``, ``.meta``), or a
            folder: there it is the checkpoint that the text file ``checkpoint`` names, else the
            only one. A path in that file stands for one of the same folder, since folders move.

    Raises:
        ModelError: a folder holds several checkpoints, or not the one that ``checkpoint`` names; or
            what is found is in the layout before ``.index`` files.
    """
    path = Path(path)
    if path.is_dir():
        return _in_folder(path)
    if not path.name:
        return None
    for prefix in (path, path.with_name(_PART.sub("", path.name))):
        if index_of(prefix).is_file():
            return prefix
    if is_old_layout(path):
        raise old_layout(path)
    return None


def is_old_layout(file: Path) -> bool:
    """Whether a file is itself a table, as checkpoints were before they had an index."""
    if not file.is_file() or _PART.search(file.name):
        return False
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - len(MAGIC)))
            return stream.read() == MAGIC
    except OSError as error:
        raise ModelError(f"the file can not be read: {error.strerror}", file=file) from None


def old_layout(file: Path) -> ModelError:
    """The error for a checkpoint of the old layout."""
    return ModelError(
        "this is a TensorFlow checkpoint in the V1 layout (one file without an .index), which is "
        "not read", file=file,
        mend="restore it with TensorFlow's tf.compat.v1.train.Saver and save it again, which "
        "writes the present layout",
    )  # fmt: skip


def _in_folder(folder: Path) -> Path | None:
    found = sorted(file.with_suffix("") for file in folder.glob("*.index") if file.is_file())
    latest = _latest(folder)
    if latest is not None:
        if latest in found:
            return latest
        if is_old_layout(latest):
            raise old_layout(latest)
        raise ModelError(
            f"the folder lacks the checkpoint that its file '{_LATEST}' names", file=folder,
            value=latest.name,
            mend=f"copy all of {latest.name}.*, or name another checkpoint of the folder by path",
        )  # fmt: skip
    if len(found) > 1:
        names = ", ".join(prefix.name for prefix in found)
        raise ModelError(
            f"the folder holds several TensorFlow checkpoints: {names}", file=folder,
            mend=f"give the path of one, {found[-1]} for example",
        )  # fmt: skip
    return found[0] if found else None


def _latest(folder: Path) -> Path | None:
    """The checkpoint that the folder's text file names."""
    file = folder / _LATEST
    if not file.is_file():
        return None
    try:
        with file.open("rb") as stream:
            line = _LATEST_LINE.search(stream.read(_FIRST_BYTES))
    except OSError as error:
        raise ModelError(f"the file can not be read: {error.strerror}", file=file) from None
    if line is None:
        return None
    path = _ESCAPE.sub(_unescape, line[1]).decode("utf-8", "surrogateescape")
    name = PureWindowsPath(path).name  # which takes both kinds of separators
    return folder / name if name else None


def _unescape(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else code
