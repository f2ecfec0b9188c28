"""Which SQuAD file is for what."""

from __future__ import annotations

import re
from pathlib import Path

from bertsmith.common.errors import InputError

# At the beginning of a word: "latest" is no test.
_WORD = re.compile(r"(?<![a-z])(train|dev|valid|trial|test)", re.IGNORECASE)
_PARTS = {"train": "train", "dev": "dev", "valid": "dev", "trial": "dev", "test": "test"}


def find_squad(path: Path) -> dict[str, list[Path]]:
    """Files by part (``train``, ``dev``, ``test``) of a folder; a file alone is ``single``.

    A file's name says what it is for: ``train-v1.1.json``, ``dev-v2.0.json``. The first such word
    in it counts: no file is in two parts.

    Raises:
        InputError: nothing is there, or the names say nothing.
    """
    if path.is_file():
        return {"single": [path]}
    if not path.is_dir():
        raise InputError("there is no such file or folder", file=path)
    files = sorted([*path.glob("*.json"), *path.glob("*/*.json")])
    found: dict[str, list[Path]] = {}
    for one in files:
        if word := _WORD.search(one.stem):
            found.setdefault(_PARTS[word[1].lower()], []).append(one)
    if found:
        return found
    if len(files) == 1:
        return {"single": files}
    names = ", ".join(str(one.relative_to(path)) for one in files[:10]) or "none"
    raise InputError(
        "no JSON file is called train, dev or test something", file=path,
        mend=f"name one file; those there are: {names}",
    )  # fmt: skip
