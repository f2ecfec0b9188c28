"""Texts of real lengths: from GLUE's files, or made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertsmith.common.errors import InputError


@dataclass(frozen=True)
class Layout:
    """A GLUE set: its folder, the columns with text, the label's column and its values."""

    folder: str
    texts: tuple[str, ...]
    label: str
    labels: tuple[str, ...]


LAYOUTS = {
    "sst2": Layout("SST-2", ("sentence",), "label", ("0", "1")),
    "mrpc": Layout("MRPC", ("#1 String", "#2 String"), "Quality", ("0", "1")),
    "qnli": Layout("QNLI", ("question", "sentence"), "label", ("entailment", "not_entailment")),
}


@dataclass(frozen=True)
class Example:
    """One or two texts and the number of their label."""

    texts: tuple[str, ...]
    label: int


def examples(glue: Path, task: str, count: int) -> list[Example]:
    """The first examples of a training part.

    Args:
        glue: the folder of the sets.
        task: one of LAYOUTS.
        count: how many.

    Raises:
        InputError: there is no such file, or it has too few examples.
    """
    layout = LAYOUTS[task]
    columns, *rows = (line.split("\t") for line in train_lines(glue, task, count))
    at = [columns.index(name) for name in layout.texts]
    label = columns.index(layout.label)
    return [
        Example(tuple(row[place] for place in at), layout.labels.index(row[label])) for row in rows
    ]


def train_lines(glue: Path, task: str, count: int) -> list[str]:
    """The header and the first ``count`` lines of a set's ``train.tsv``.

    Raises:
        InputError: as :func:`examples`.
    """
    file = glue / LAYOUTS[task].folder / "train.tsv"
    try:
        lines = file.read_text("utf-8-sig").split("\n")[: count + 1]
    except OSError as error:
        raise InputError(
            f"the data can not be read: {error.strerror}", file=file,
            mend="--data takes a folder with SST-2, MRPC and QNLI, or one that has it as glue/",
        ) from None  # fmt: skip
    if len(lines) <= count or not lines[count].strip():
        raise InputError(f"the file has fewer than {count} examples", file=file)
    return lines


def mixed(data: str | None, count: int) -> list[str]:
    """Texts of SST-2, MRPC and QNLI in turn, pairs joined; made ones where there are no data."""
    if data is None:
        return made_texts(count)
    each = -(-count // len(LAYOUTS))
    by_set = [examples(Path(data), task, each) for task in LAYOUTS]
    return [" ".join(one.texts) for some in zip(*by_set, strict=True) for one in some][:count]


def made_texts(count: int) -> list[str]:
    """Texts of 2 to 25 words of :func:`made_words`."""
    rng = np.random.default_rng(0)
    words = made_words(1000)
    return [" ".join(rng.choice(words, int(size)).tolist()) for size in rng.integers(2, 26, count)]


def made_words(count: int) -> list[str]:
    """Words that a made vocabulary has."""
    return [f"w{number}" for number in range(count)]


def made_sentences(words: Sequence[str], megabytes: float) -> str:
    """About so much text: a sentence of 5 to 30 words a line, a blank line after 20 sentences.

    Every tenth word is two that are written as one, so that there is something to split.
    """
    rng = np.random.default_rng(0)
    known = np.array(words)
    lines: list[str] = []
    size, end = 0, int(megabytes * 1e6)
    while size < end:
        count = int(rng.integers(5, 31))
        some = rng.choice(known, count + count // 10).tolist()
        joined = ["".join(some[at : at + 2]) for at in range(0, 2 * (count // 10), 2)]
        lines.append(" ".join([*joined, *some[2 * (count // 10) :]]) + " .")
        size += len(lines[-1]) + 1
        if len(lines) % 21 == 20:
            lines.append("")
    return "\n".join(lines) + "\n"
