"""Which files of a folder are training, dev and test part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bertsmith.common.errors import InputError

_WORDS = {
    "train": "train", "training": "train",
    "dev": "dev", "devel": "dev", "valid": "dev", "validation": "dev", "val": "dev",
    "testa": "dev",  # of the CoNLL shared tasks: testa to develop on, testb to test
    "test": "test", "testb": "test",
}  # fmt: skip
_SUFFIXES = {
    "", ".txt", ".tsv", ".conll", ".conll2002", ".conll2003", ".bio", ".bio1", ".bio2", ".bioes",
    ".iob", ".iob1", ".iob2", ".iobes", ".ner", ".pos", ".tags", ".data",
    *(f".{word}" for word in _WORDS),
}  # fmt: skip


@dataclass(frozen=True)
class TagFiles:
    """One file a part."""

    train: Path | None = None
    dev: Path | None = None
    test: Path | None = None


def find_tag_files(path: Path, *, training: bool) -> TagFiles:
    """The files of each part: ``train.txt``, ``valid.conll``, ``eng.testa``, ``test.bio`` ...

    A single file is the training part, or what to predict on: then it is given as test. In a
    folder ``train.txt`` comes before names that only contain the word, ``my-train.txt``.

    Args:
        path: a folder or a file.
        training: whether a training file is needed; if not, something to predict on is.

    Raises:
        InputError: there is no such file, or several that might be the part.
    """
    if path.is_file():
        return TagFiles(train=path) if training else TagFiles(test=path)
    if not path.is_dir():
        raise InputError("there is no such file or folder", file=path)
    here = [one for one in sorted(path.iterdir()) if _is_column_file(one)]
    found = TagFiles(_of(path, here, "train"), _of(path, here, "dev"), _of(path, here, "test"))
    if not (found.train if training else found.dev or found.test):
        wanted = "train.* or *.train" if training else "dev.*, test.*, *.testa or *.testb"
        names = ", ".join(one.name for one in here[:10]) or "no column files"
        raise InputError(
            f"the folder has no file {wanted}", file=path,
            mend=f"it has {names}; rename them, or give one file",
        )  # fmt: skip
    return found


def _is_column_file(path: Path) -> bool:
    hidden = path.name.startswith(".")
    return not hidden and path.suffix.lower() in _SUFFIXES and path.is_file()


def _of(folder: Path, here: list[Path], part: str) -> Path | None:
    some = [one for one in here if _part(one.name) == part]
    exact = [one for one in some if _WORDS.get(one.stem.lower()) == part]
    chosen = exact or some
    if len(chosen) > 1:
        raise InputError(
            f"several files might be the {part} part", file=folder,
            value=", ".join(one.name for one in chosen),
            mend=f"call the right one {part}.txt, or give a folder with one of them",
        )  # fmt: skip
    return chosen[0] if chosen else None


def _part(name: str) -> str:
    """The part that a file name speaks of; empty for none and for more than one."""
    found = {_WORDS[word] for word in re.split(r"[^a-z]+", name.lower()) if word in _WORDS}
    return found.pop() if len(found) == 1 else ""
