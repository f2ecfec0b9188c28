"""A task made from the documentation: which library is a passage from?"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bertsmith.common.console import note
from bertsmith.common.files import write_text

_LIBRARIES = 8
_PASSAGES = 300  # a library at most, so that no library is the answer to most of them
_LEAST_CHARACTERS = 120
_DEV_PERCENT = 25


def write_task(documentation: Path, folder: Path) -> dict[str, int]:
    """Write ``train.jsonl`` and ``dev.jsonl`` with ``text`` and ``label``; returns their rows.

    The passages are paragraphs of the libraries that have most of them. A module is wholly in one
    of the two files, chosen by a hash of its place, so that dev asks about text that is new.

    Args:
        documentation: what :func:`~bertsmith.quickstart.documentation.write_documentation` wrote.
        folder: where the files go.
    """
    counts = Counter(library for library, _, _ in _passages(documentation))
    chosen = {library for library, _ in counts.most_common(_LIBRARIES)}
    rows: dict[str, list[tuple[str, str]]] = {"train": [], "dev": []}
    written: Counter[tuple[str, str]] = Counter()
    for library, path, text in sorted(
        _passages(documentation), key=lambda one: _hash("".join(one))
    ):
        if library not in chosen:
            continue
        part = "dev" if _hash(path) % 100 < _DEV_PERCENT else "train"
        most = _PASSAGES * (_DEV_PERCENT if part == "dev" else 100 - _DEV_PERCENT) // 100
        if written[part, library] < most:
            written[part, library] += 1
            rows[part].append((library, text))
    for part, some in rows.items():
        lines = [json.dumps({"label": library, "text": text}) + "\n" for library, text in some]
        write_text(folder / f"{part}.jsonl", "".join(lines))
    sizes = {part: len(some) for part, some in rows.items()}
    note(f"task: which of {len(chosen)} libraries is a passage from? {sizes}")
    return sizes


def _passages(documentation: Path) -> Iterator[tuple[str, str, str]]:
    """Library, module and text of every paragraph that is long enough."""
    with documentation.open(encoding="utf-8") as stream:
        for line in stream:
            record = json.loads(line)
            for text in record["text"].split("\n"):
                if len(text) >= _LEAST_CHARACTERS:
                    yield record["library"], record["path"], text


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
