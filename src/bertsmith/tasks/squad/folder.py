"""Which SQuAD file is for what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bertsmith.common.errors import InputError

_WORDS = {"train": ("train",), "dev": ("dev", "valid", "trial"), "test": ("test",)}


def find_squad(path: Path) -> dict[str, list[Path]]:
    """Files by part (``train``, ``dev``, ``test``) of a folder; a file alone is ``single``.

    A file's name says what it is for: ``train-v1.1.json``, ``dev-v2.0.json``.

    Raises:
        InputError: nothing is there, or the names say nothing.
    """
    if path.is_file():
        return {"single": [path]}
    if not path.is_dir():
        raise InputError("there is no such file or folder", file=path)
    files = sorted([*path.glob("*.json"), *path.glob("*/*.json")])
    found = {part: _named(files, words) for part, words in _WORDS.items()}
    if any(found.values()):
        return {part: some for part, some in found.items() if some}
    if len(files) == 1:
        return {"single": files}
    names = ", ".join(str(one.relative_to(path)) for one in files[:10]) or "none"
    raise InputError(
        "no JSON file is called train, dev or test something", file=path,
        mend=f"name one file; those there are: {names}",
    )  # fmt: skip


def _named(files: Sequence[Path], words: Sequence[str]) -> list[Path]:
    return [one for one in files if any(word in one.stem.lower() for word in words)]
