"""From a folder or file of tables to the parts of a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from bertsmith.common.errors import InputError
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.folder import PartName, find_files
from bertsmith.tasks.tables.read import SUFFIXES, read_table
from bertsmith.tasks.tables.rows import BadRow, Row, Table
from bertsmith.tasks.tables.split import dev_rows, dev_rows_apart, equal_text_notes
from bertsmith.tasks.task import Data, Part

UNUSED = "labels not used, since other rows have none"
_NAMED = 5  # of each kind that a note names

E = TypeVar("E")
Make = Callable[[Row, str], E]  # a row and its id -> example; raises BadRow


@dataclass(frozen=True)
class Source(Generic[E]):
    """How rows become examples of a task.

    Attributes:
        settings: how tables are read.
        make: (table, whether a label is needed) -> how its rows are read. It checks the columns.
        known: whether an example carries what it is scored against.
        strata: the stratum of each example, for the dev part made of training rows.
        text: what the model is given of an example, which is not to be in training and dev both.
        groups: the group of each, where some belong together.
        id_column: the column of ids where the file has it; None for that of the settings.
        suffixes: of the files to look at in a folder.
    """

    settings: TaskSettings
    make: Callable[[Table, bool], Make[E]]
    known: Callable[[E], bool]
    strata: Callable[[Sequence[E]], Sequence[str]]
    text: Callable[[E], Hashable]
    groups: Callable[[Sequence[E]], Sequence[str]] | None = None
    id_column: str | None = None
    suffixes: Sequence[str] = SUFFIXES


def load(source: Source[E], path: Path, *, training: bool) -> Data[E]:
    """The parts in a folder or file; see :meth:`bertsmith.tasks.task.Task.read`.

    Malformed rows of training and dev files are skipped in training, unless ``strict``; test files
    and whatever is predicted on have to be whole. Without a dev file some training rows become it.

    Raises:
        InputError: a file is missing, can not be read, lacks a column, or holds a malformed row
            that may not be skipped.
    """
    files = find_files(path, training=training, suffixes=source.suffixes)
    data: Data[E] = Data()
    if training:
        data.train = _part(source, "train", files.train, data.notes, training)
    if files.dev:
        data.dev.append(_part(source, "dev", files.dev, data.notes, training))
    if files.test:
        data.test.append(_part(source, "test", files.test, data.notes, training))
    if data.train is not None and not data.dev:
        _hold_back(source, data, data.train)
    return data


def _part(
    source: Source[E], name: PartName, files: Sequence[Path], notes: list[str], training: bool
) -> Part[E]:
    part: Part[E] = Part(name, [], tuple(files))
    needed = training and name != "test"
    ids: dict[str, list[int]] = {}
    number = 0
    for file in files:
        table = read_table(file, source.settings)
        notes += table.notes
        _add_rows(source, part, table, number, needed, ids)
        number += len(table.rows)
    if not part.examples:
        raise InputError(
            f"none of the {number} rows can be used", file=files[0],
            value=part.skipped[0] if part.skipped else None,
            mend="mend the rows as the first one says, or name other columns",
        )  # fmt: skip
    notes += _notes(part, ids)
    _decide_labels(source, part)
    return part


def _add_rows(
    source: Source[E], part: Part[E], table: Table, first: int, needed: bool,
    ids: dict[str, list[int]],
) -> None:  # fmt: skip
    """Add a table's rows to a part, and their lines to ``ids``; ``first`` numbers the first."""
    id_column = _id_column(source, table)
    make = source.make(table, needed)
    for number, row in enumerate(table.rows, first):
        try:
            if row.problem:
                raise BadRow(row.problem)
            name = str(number) if id_column is None else row.need(id_column)
            part.examples.append(make(row, name))
        except BadRow as problem:
            if source.settings.strict or not needed:
                raise _refusal(problem, table.path, row, needed) from None
            part.skipped.append(f"{table.path}:{row.line}: {problem}")
        else:
            ids.setdefault(name, []).append(row.line)


def _id_column(source: Source[E], table: Table) -> str | None:
    if source.id_column is not None:
        return source.id_column if table.has(source.id_column) else None
    column = source.settings.id_column
    return table.need(column, "--id-column") if column else None


def _refusal(problem: BadRow, file: Path, row: Row, needed: bool) -> InputError:
    mend = "rows to predict on can not be left out, since ids would shift: mend the file"
    if needed:
        mend = "mend the file, or train without --strict: such rows are then skipped and counted"
    return InputError(str(problem), file=file, line=row.line, mend=mend)


def _decide_labels(source: Source[E], part: Part[E]) -> None:
    """A part is scored where every row has a label, and only there."""
    known = sum(source.known(one) for one in part.examples)
    part.labelled = known == len(part.examples)
    if known and not part.labelled:
        part.counts[UNUSED] = known


def _notes(part: Part[E], ids: dict[str, list[int]]) -> list[str]:
    where = f"{part.name} ({', '.join(one.name for one in part.files[:_NAMED])})"
    notes = [f"{where}: {len(part.skipped)} malformed rows skipped"] if part.skipped else []
    twice = {name: lines for name, lines in ids.items() if len(lines) > 1}
    if twice:
        some = "; ".join(
            f"{name!r} in lines {', '.join(map(str, lines[:_NAMED]))}"
            for name, lines in list(twice.items())[:_NAMED]
        )
        notes.append(f"{where}: {len(twice)} ids stand more than once: {some}")
    return notes


def _hold_back(source: Source[E], data: Data[E], train: Part[E]) -> None:
    """Move some rows of ``train`` to a dev part."""
    settings, examples = source.settings, train.examples
    strata = list(source.strata(examples))
    groups = None if source.groups is None else list(source.groups(examples))
    if groups is not None and len(set(groups)) < 2:
        groups = None
    texts = [source.text(one) for one in examples]
    percent, seed = settings.dev_percent, settings.split_seed
    if groups is None:
        chosen = set(dev_rows_apart(percent, seed, strata, texts))
    else:
        chosen = set(dev_rows(percent, seed, strata, groups))
    if not chosen:
        data.notes.append("there is no dev file, and too few training rows to make one of")
        return
    dev = [one for at, one in enumerate(examples) if at in chosen]
    train.examples = [one for at, one in enumerate(examples) if at not in chosen]
    data.dev.append(Part("dev", dev, train.files))
    how = "whole groups" if groups else "in proportion" if len(set(strata)) > 1 else "at random"
    data.notes.append(
        f"there is no dev file: {len(dev)} of {len(examples)} training rows are held back for it "
        f"({settings.dev_percent:g} %, {how}, seed {settings.split_seed})"
    )
    data.notes += equal_text_notes(texts, chosen)
    alone = [name for name, count in Counter(strata).items() if count == 1]
    if alone and len(alone) < len(examples) and not groups:
        names = ", ".join(map(repr, alone[:_NAMED]))
        data.notes.append(f"labels of a single row, which stays in training: {names}")
