"""From model directory and data to features: all of a run that does not depend on its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.locate import locate
from bertsmith.common.console import note, table, warn
from bertsmith.common.errors import InputError
from bertsmith.common.files import short
from bertsmith.tasks.parts import EncodedPart, encode_parts, sequence_length
from bertsmith.tasks.task import Head, Task
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.source import Source, of_files

_SKIPPED_SHOWN = 5


@dataclass
class Prepared:
    """What runs on the same data with the same tokenizer share.

    Attributes:
        task: the task.
        model: directory of the encoder to start from.
        tokenizer: its tokenizer.
        head: the new layer.
        train: the training part.
        dev: parts with labels to score; the first one decides.
        test: parts to predict on; scored where they have labels.
        notes: what reading the data did.
    """

    task: Task[Any]
    model: Path
    tokenizer: Tokenizer
    head: Head
    train: EncodedPart
    dev: list[EncodedPart]
    test: list[EncodedPart]
    notes: list[str]

    def figures(self) -> dict[str, Any]:
        """Figures of all parts by name."""
        return {one.part.name: one.figures() for one in (self.train, *self.dev, *self.test)}

    def sources(self) -> dict[str, Source]:
        """Model and data as they are: a run goes on only from what it began with."""
        files = sorted({file for one in self._parts() for file in one.part.files})
        model = of_files(locate(self.model).files) | {"tokenizer": short(self.tokenizer.digest)}
        return {
            "model": Source(str(self.model), model),
            "data": Source(", ".join(map(str, files)), of_files(files)),
        }

    def _parts(self) -> list[EncodedPart]:
        return [self.train, *self.dev, *self.test]


def prepare(task: Task[Any], model: Path, data: Path, max_length: int) -> Prepared:
    """Read and encode the data of a task.

    Args:
        task: the task.
        model: a model directory.
        data: what ``--data`` names.
        max_length: most tokens a sequence, 0 for the task's own.

    Raises:
        InputError: data are missing or malformed, or nothing is left to train on.
        ModelError: there is no such model.
        SettingsError: the model has fewer positions than ``max_length``.
    """
    place = locate(model)
    config, tokenizer = place.read_config(), place.read_tokenizer()
    length = sequence_length(task, config, max_length)
    found = task.read(data, training=True)
    if found.train is None or not found.train.examples:
        raise InputError(f"there is nothing to train {task.name} on", file=data)
    head = task.head(found)
    train = EncodedPart(
        found.train, task.encode(found.train, tokenizer, length, head, training=True)
    )
    if not train.encoded.features:
        raise InputError("none of the training rows can be trained on", file=data)
    return Prepared(
        task, model, tokenizer, head, train,
        encode_parts(task, found.dev, tokenizer, length, head),
        encode_parts(task, found.test, tokenizer, length, head),
        found.notes,
    )  # fmt: skip


def show_data(prepared: Prepared) -> None:
    """Print what was read, encoded and lost."""
    figures = prepared.figures()
    names = list(dict.fromkeys(name for one in figures.values() for name in one))
    rows = [(name, *(one.get(name, "") for one in figures.values())) for name in names]
    table("Data", ("", *figures), rows)
    if prepared.head.labels:
        words = ", ".join(prepared.head.labels[:20])
        more = len(prepared.head.labels) - 20
        note(f"labels: {words}" + (f" and {more} more" if more > 0 else ""))
    for text in prepared.notes:
        note(text)
    for one in (prepared.train, *prepared.dev, *prepared.test):
        for line in one.part.skipped[:_SKIPPED_SHOWN]:
            warn(f"skipped {line}")
        if len(one.part.skipped) > _SKIPPED_SHOWN:
            warn(f"skipped {len(one.part.skipped)} rows of {one.part.name} in all")


def notes_of(figures: Mapping[str, Any]) -> list[str]:
    """Warnings about what was lost, for the summary."""
    return [
        f"{part}: {count:,} {name}"
        for part, one in figures.items()
        for name, count in one.items()
        if name not in ("examples", "features", "tokens", "longest") and count
    ]
