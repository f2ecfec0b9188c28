"""Which files of a folder are training, dev and test parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bertsmith.common.errors import InputError
from bertsmith.tasks.tables.read import SUFFIXES

PartName = Literal["train", "dev", "test"]
WORDS: dict[str, PartName] = {
    "train": "train", "training": "train",
    "dev": "dev", "valid": "dev", "validation": "dev", "val": "dev",
    "test": "test",
}  # fmt: skip
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")


@dataclass(frozen=True)
class Files:
    """Files by part; several where a part is in shards (``train-00000-of-00002.parquet``)."""

    train: tuple[Path, ...] = ()
    dev: tuple[Path, ...] = ()
    test: tuple[Path, ...] = ()


def find_files(path: Path, *, training: bool, suffixes: Sequence[str] = SUFFIXES) -> Files:
    """The files of each part.

    A single file is trained on, or predicted on: as dev where its name says so, else as test. In
    a folder ``train.csv`` comes before names that only contain the word, ``my-train.csv``.

    Args:
        path: a folder or a file.
        training: whether a training file is needed; if not, something to predict on is.
        suffixes: of the files to look at in a folder.

    Raises:
        InputError: there is no such file, or several that might be the part.
    """
    if path.is_file():
        if training:
            return Files(train=(path,))
        return Files(dev=(path,)) if _part(path.name) == "dev" else Files(test=(path,))
    if not path.is_dir():
        raise InputError("there is no such file or folder", file=path)
    here = [one for one in sorted(path.iterdir()) if _is_table(one, suffixes)]
    found = Files(**{name: _of(path, here, name) for name in ("train", "dev", "test")})
    if not (found.train if training else found.dev or found.test):
        wanted = "train.*" if training else "dev.* or test.*"
        names = ", ".join(one.name for one in here[:10]) or "no tables"
        raise InputError(
            f"the folder has no file {wanted}", file=path,
            mend=f"it has {names}; rename them, or give one file",
        )  # fmt: skip
    return found


def is_part(path: Path) -> bool:
    """Whether a file's name says that it is a training, dev or test part."""
    return bool(_part(path.name)) and path.is_file()


def _is_table(path: Path, suffixes: Sequence[str]) -> bool:
    hidden = path.name.startswith(".")
    return not hidden and path.suffix.lower() in suffixes and path.is_file()


def _of(folder: Path, here: Sequence[Path], part: str) -> tuple[Path, ...]:
    some = [one for one in here if _part(one.name) == part]
    exact = [one for one in some if WORDS.get(_stem(one).lower()) == part]
    chosen = exact or some
    shards = all(_SHARD.search(one.stem) for one in chosen) and len(set(map(_stem, chosen))) == 1
    if len(chosen) > 1 and not shards:
        raise InputError(
            f"several files might be the {part} part", file=folder,
            value=", ".join(one.name for one in chosen),
            mend=f"call the right one {part}{chosen[0].suffix}, or give a folder with one of them",
        )  # fmt: skip
    return tuple(chosen)


def _stem(path: Path) -> str:
    return _SHARD.sub("", path.stem)


def _part(name: str) -> str:
    """The part that a file name speaks of; empty for none and for more than one."""
    found = {WORDS[word] for word in re.split(r"[^a-z]+", name.lower()) if word in WORDS}
    return found.pop() if len(found) == 1 else ""
