"""A benchmark: which rows, one after the other, each kept as soon as it is measured."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bertsmith.bench.machine import describe
from bertsmith.bench.results import Record, read_results, record, write_results
from bertsmith.bench.rounds import measure
from bertsmith.bench.rows import Choices, Row, catalogue
from bertsmith.bench.table import COLUMNS, groups, machines, notes, screen
from bertsmith.common.console import note, table
from bertsmith.common.errors import SettingsError, nearest


def bench(
    names: Sequence[str],
    choices: Choices,
    out: Path | None,
    rounds: int,
    again: bool,
    environment: Mapping[str, str],
    before: str,
) -> dict[str, Record]:
    """Measure rows; those that ``out`` has are not measured again.

    Args:
        names: rows or groups; none for all that do not run on request only.
        choices: data and sizes.
        out: results file, kept up to date; None to keep nothing.
        rounds: times that each side does its work.
        again: measure also what ``out`` has.
        environment: that of the sides' processes.
        before: ``module:function`` that does what the bertsmith command does before a verb.

    Returns:
        The rows asked for, by name.

    Raises:
        SettingsError: an unknown name, or a row that is named needs data that are not given.
        InputError: ``out`` is no results file, or data are missing.
        BertsmithError: a side died.
    """
    rows = pick(names, choices)
    kept = read_results(out) if out is not None else {}
    for row in rows:
        if row.name in kept and not again:
            note(f"{row.name}: measured before; --again measures it once more")
            continue
        where = describe(dict(environment))
        with tempfile.TemporaryDirectory(prefix="bertsmith-bench-") as folder:
            sides = measure(row, rounds, Path(folder), environment, before)
        command = shlex.join(["bertsmith", *sys.argv[1:]])
        kept[row.name] = record(row, sides, rounds=rounds, machine=where, command=command)
        if out is not None:
            write_results(out, kept)
    return {row.name: kept[row.name] for row in rows}


def pick(names: Sequence[str], choices: Choices) -> list[Row]:
    """The rows that names of rows and groups mean, in the order of the catalogue.

    Raises:
        SettingsError: as :func:`bench`.
    """
    rows = catalogue(choices)
    known_groups = list(dict.fromkeys(row.group for row in rows.values()))
    for name in names:
        if name not in rows and name not in known_groups:
            close = nearest(name, [*rows, *known_groups])
            hint = f"did you mean {close!r}? " if close else ""
            raise SettingsError(
                "no row or group of that name", value=name,
                mend=f"{hint}bertsmith bench --list names them",
            )  # fmt: skip
    picked = [row for row in rows.values() if _wanted(row, names)]
    without = [row.name for row in picked if row.needs_data and choices.data is None]
    if without and names:
        raise SettingsError(f"rows that need data: {', '.join(without)}", mend="give --data DIR")
    if without:
        note(f"not measured without --data: {', '.join(without)}")
    return [row for row in picked if row.name not in without]


def _wanted(row: Row, names: Sequence[str]) -> bool:
    if row.name in names:
        return True
    # A group that runs on request as a whole is what its name asks for.
    own_group = row.group in names and (not row.on_request or row.group == "self-test")
    return own_group or (not names and not row.on_request)


def show(rows: Mapping[str, Record]) -> None:
    """A table a group, with notes."""
    for name, some in groups(rows).items():
        table(name, COLUMNS, screen(some))
        for row in some:
            for text in notes(row):
                note(text)
    for text, names in machines(rows.values()).items():
        note(f"{', '.join(names)}: {text}")
