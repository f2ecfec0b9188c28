"""One line in, one JSON line out: a fine-tuned model on single inputs.

  bertsmith predict sst2/model lines.txt
  echo '{"question": "Who?", "context": "Ada wrote it."}' | bertsmith predict squad/model -

A line is a text, or a JSON object: text (and pair), words, question and context, or context and
choices, as the model needs. Empty lines are texts without words.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TextIO

from bertsmith.common.errors import InputError

_LINES = 256  # answered together; from a terminal or a pipe, what is there


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith predict``."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="fine-tuned model directory")
    parser.add_argument("input", metavar="INPUT", help="file of lines, - for standard input")


def run(arguments: argparse.Namespace) -> int:
    """Answer all lines."""
    from bertsmith.common.console import emit
    from bertsmith.predict.embed_file import lines_of
    from bertsmith.predict.lines import Predictor

    predictor = Predictor.load(arguments.model)
    batches: Iterator[list[str]]
    if arguments.input != "-":
        path = Path(arguments.input)
        lines = lines_of(path.read_bytes() if path.is_file() else None, path)
        batches = (lines[start : start + _LINES] for start in range(0, len(lines), _LINES))
    else:
        batches = _batches(sys.stdin)
    first = 1
    for some in batches:
        for answer in predictor.predict(some, arguments.input, first):
            emit(answer)
        first += len(some)
    return 0


def _batches(stream: TextIO) -> Iterator[list[str]]:
    """Single lines from a terminal, so that each is answered at once; else many at a time."""
    many = 1 if stream.isatty() else _LINES
    try:
        while some := [line.rstrip("\r\n") for line in islice(stream, many)]:
            yield some
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", file="standard input") from None
