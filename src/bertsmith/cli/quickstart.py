"""The whole job: text -> vocabulary -> corpus -> pre-trained BERT -> figures, blanks, report.

Without PATH the text is the documentation inside the installed Python and its packages: nothing is
downloaded. With PATH it is your own files or folders. About ten minutes on 2 CPU cores.

  bertsmith quickstart
  bertsmith quickstart my_texts/ --out my_run
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bertsmith.cli import common
from bertsmith.common.settings import add_flags
from bertsmith.corpus.settings import CorpusSettings

# How to read the user's text; the other settings of a corpus are the quickstart's own.
_READING = ("format", "text_column", "language", "encoding", "errors")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith quickstart``."""
    parser.add_argument(
        "paths", nargs="*", type=common.name, metavar="PATH", help="your text (default: see above)"
    )
    parser.add_argument(
        "--out", type=common.path, default=Path("quickstart"), metavar="DIR",
        help="folder for corpus and run (default: quickstart)",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=int, metavar="N", help="steps of pre-training (default: the recipe's)"
    )
    common.add_json(parser)
    add_flags(parser, CorpusSettings, _READING)


def run(arguments: argparse.Namespace) -> int:
    """Run the whole job."""
    from bertsmith.common.console import emit
    from bertsmith.quickstart.run import quickstart

    given = vars(arguments)
    reading = {name: given[name] for name in _READING if name in given}
    summary = quickstart(arguments.paths, arguments.out, arguments.steps, reading)
    if arguments.json:
        emit(summary)
    return 0
