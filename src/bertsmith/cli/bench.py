"""Speed and memory beside other tools doing the same work, and beside the limit of the machine.

Every side has a process of its own; the sides take turns in each round, so that what disturbs one
disturbs all. A tool that is not installed is named and left out. "of the limit" is the operations
of the real tokens' matrix products against the rate of torch's fastest products in the same round.

  bertsmith bench --list
  bertsmith bench --data glue --out results.json
  bertsmith bench pre-training predict-one --data glue --out results.json
  bertsmith bench --table results.json
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bertsmith.cli import common
from bertsmith.common.errors import SettingsError

_BEGIN = "bertsmith.cli.main:settle"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith bench``."""
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help="rows or groups (default: all but those on request)"
    )
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    parser.add_argument(
        "--table",
        type=common.path,
        metavar="FILE",
        help="print a results file as Markdown and stop",
    )
    parser.add_argument(
        "--data", type=common.path, metavar="DIR",
        help="folder with GLUE's SST-2, MRPC and QNLI, or one that has it as glue/",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=common.path, metavar="FILE",
        help="results file (JSON); rows that it has are not measured again",
    )  # fmt: skip
    parser.add_argument("--again", action="store_true", help="measure also what --out has")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds (default: 5)")
    parser.add_argument(
        "--text",
        type=common.path,
        metavar="FILE",
        help="text of the row corpus (default: made text)",
    )
    parser.add_argument(
        "--corpus-mb", type=float, default=16.0, metavar="MB",
        help="made text of the row corpus (default: 16)",
    )  # fmt: skip
    parser.add_argument(
        "--resume-tokens", type=int, default=10_000_000, metavar="TOKENS",
        help="corpus of the row startup-resume (default: 10000000)",
    )  # fmt: skip
    common.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and show the result."""
    from bertsmith.bench.results import as_dict, read_results
    from bertsmith.bench.rows import Choices
    from bertsmith.bench.run import bench, show
    from bertsmith.bench.table import markdown
    from bertsmith.common.console import emit

    choices = Choices(arguments.data, arguments.text, arguments.corpus_mb, arguments.resume_tokens)
    if arguments.list:
        return _list(choices, arguments.json)
    if arguments.table:
        rows = read_results(arguments.table)
        if not rows:
            raise SettingsError("there are no results", file=arguments.table)
        print(markdown(rows), end="")
        return 0
    for name in ("rounds", "corpus_mb", "resume_tokens"):
        if getattr(arguments, name) <= 0:
            raise SettingsError(f"{name} must be above 0", value=getattr(arguments, name))
    rows = bench(
        arguments.rows, choices, arguments.out, arguments.rounds, arguments.again,
        _environment(), _BEGIN,
    )  # fmt: skip
    show(rows)
    if arguments.json:
        emit(as_dict(rows))
    return 0


def _environment() -> dict[str, str]:
    """The environment that this process was started with, before the command changed it."""
    try:
        words = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return dict(os.environ)
    pairs = (os.fsdecode(word).partition("=") for word in words if word)
    return {name: value for name, _, value in pairs}


def _list(choices: object, as_json: bool) -> int:
    from bertsmith.bench.rows import Choices, catalogue
    from bertsmith.common.console import emit, table

    assert isinstance(choices, Choices)
    rows = catalogue(choices).values()
    table(
        "rows", ("row", "group", "sides", "runs"),
        [
            (
                one.name, one.group, ", ".join(one.sides),
                "on request" if one.on_request else "with --data" if one.needs_data else "always",
            )
            for one in rows
        ],
    )  # fmt: skip
    if as_json:
        emit([{"row": one.name, "group": one.group, "sides": list(one.sides)} for one in rows])
    return 0
