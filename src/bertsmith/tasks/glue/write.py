"""Prediction files as the GLUE leaderboard takes them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertsmith.common.console import warn
from bertsmith.common.errors import InputError
from bertsmith.common.files import atomic_path, write_text
from bertsmith.tasks.glue.layouts import AX, LEAST, MOST, SUBMISSION, Layout
from bertsmith.tasks.task import Part
from bertsmith.tasks.text.examples import TextExample

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same predictions give the same bytes


def write_part(
    folder: Path, layout: Layout, part: Part[TextExample], predictions: Sequence[Any]
) -> Path:
    """Write a part's predictions: ``index``, ``prediction``, a row an example.

    Labels are the words of the task's files (``0`` and ``1`` for some). Values are clipped to 0-5,
    with three decimals; this is the only place where they are.

    Args:
        folder: where to.
        layout: the task.
        part: the examples; their ids are the index.
        predictions: one an example.
    """
    rows = [
        f"{example.id}\t{spell(layout, prediction)}\n"
        for example, prediction in zip(part.examples, predictions, strict=True)
    ]
    target = folder / output_name(layout, part.name)
    write_text(target, "index\tprediction\n" + "".join(rows))
    return target


def spell(layout: Layout, prediction: Any) -> str:
    """A prediction in the words of the leaderboard."""
    if not layout.labels:
        return f"{min(max(float(prediction), LEAST), MOST):.3f}"
    if prediction not in layout.labels:
        raise ValueError(f"{layout.title} has no label {prediction!r}")
    return str(prediction)


def output_name(layout: Layout, part: str) -> str:
    """The leaderboard's name for a test part; ``<part>.tsv`` for others."""
    names = {split.part: split.output for one in (layout, AX) for split in one.splits}
    return names.get(part) or f"{part}.tsv"


def zip_submission(folder: Path) -> Path:
    """Zip the leaderboard's files in ``folder`` into its ``submission.zip``; missing ones are told.

    Raises:
        InputError: none of them is there.
    """
    there = [name for name in SUBMISSION if (folder / name).is_file()]
    if not there:
        raise InputError(
            "the folder has no file for the GLUE leaderboard", file=folder,
            mend=f"they are called {', '.join(SUBMISSION)}",
        )  # fmt: skip
    missing = [name for name in SUBMISSION if name not in there]
    if missing:
        warn(f"the submission lacks {', '.join(missing)}: the leaderboard wants all of them")
    target = folder / "submission.zip"
    with atomic_path(target) as part, zipfile.ZipFile(part, "w") as archive:
        for name in there:
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            archive.writestr(entry, (folder / name).read_bytes(), zipfile.ZIP_DEFLATED)
    return target
