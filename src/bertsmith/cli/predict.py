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
from typing import BinaryIO

from bertsmith.cli import common
from bertsmith.common.errors import InputError

_LINES = 256  # answered together; from a terminal or a pipe, what is there


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith predict``."""
    parser.add_argument(
        "model", type=common.path, metavar="MODEL", help="fine-tuned model directory"
    )
    parser.add_argument(
        "input", type=common.name, metavar="INPUT", help="file of lines, - for standard input"
    )


def run(arguments: argparse.Namespace) -> int:
    """Answer all lines."""
    from bertsmith.common.console import emit
    from bertsmith.predict.embed_file import lines_of
    from bertsmith.predict.lines import Predictor

    predictor = Predictor.load(arguments.model)
    batches: Iterator[list[str]]
    if arguments.input != "-":
        path = Path(arguments.input)
        lines = lines_of(path.read_bytes() if path.is_file() else None, path, flag="")
        batches = (lines[start : start + _LINES] for start in range(0, len(lines), _LINES))
    else:
        batches = _batches(sys.stdin.buffer)
    first = 1
    for some in batches:
        for answer in predictor.predict(some, arguments.input, first):
            emit(answer)
        first += len(some)
    return 0


def _batches(stream: BinaryIO) -> Iterator[list[str]]:
    """Single lines from a terminal, so that each is answered at once; else many at a time.

    Bytes are read, so that lines end, and a byte order mark goes, as they do in a file.
    """
    many, first = 1 if stream.isatty() else _LINES, 1
    while some := list(islice(stream, many)):
        yield [_line(one, number) for number, one in enumerate(some, first)]
        first += len(some)


def _line(raw: bytes, number: int) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} of the line is not UTF-8", file="standard input", line=number,
            value=raw[error.start : error.start + 4], mend="write it as UTF-8",
        ) from None  # fmt: skip
