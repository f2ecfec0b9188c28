"""The most likely words for each [MASK], with their probabilities.

  bertsmith fill run/model "The [MASK] sat on the [MASK]."
  bertsmith fill run/model --file lines.txt --json

TEXT may be given several times; --file reads a line each, - is standard input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bertsmith.cli import common
from bertsmith.common.errors import InputError

MASK = "[MASK]"
_SHOWN = 60  # characters of a line that an error shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith fill``."""
    parser.add_argument("model", type=common.path, metavar="MODEL", help="model directory")
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="text with one or more [MASK]")
    parser.add_argument(
        "--file", type=common.name, metavar="FILE", help="a text a line, - for standard input"
    )
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="words a blank (default: 5)"
    )
    common.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fill the blanks of all texts."""
    from bertsmith.checkpoints.directory import load_model
    from bertsmith.common.console import emit, note
    from bertsmith.predict.fill import fill

    texts = [*arguments.texts, *_lines(arguments.file)]
    if not texts:
        raise InputError("there is no text", mend='give one: bertsmith fill MODEL "The [MASK]."')
    if arguments.top < 1:
        raise InputError("--top must be at least 1", value=arguments.top)
    model, tokenizer, report = load_model(arguments.model)
    note(report.as_text())
    for filled in fill(model, tokenizer, texts, top_k=arguments.top):
        if arguments.json:
            emit(filled.as_dict())
        else:
            print(filled.as_text())
    return 0


def _lines(file: str | None) -> list[str]:
    from bertsmith.predict.embed_file import lines_of

    if file is None:
        return []
    path = Path(file)
    data = sys.stdin.buffer.read() if file == "-" else None
    if data is None and path.is_file():
        data = path.read_bytes()
    name = "standard input" if file == "-" else file
    lines = list(enumerate(lines_of(data, name), start=1))
    filled = [(number, line) for number, line in lines if line.strip()]
    without = [number for number, line in filled if MASK not in line]
    if len(without) == len(filled):
        raise InputError(
            f"none of its {len(lines)} lines has a blank", file=name,
            mend=f"write {MASK} in place of a word",
        )  # fmt: skip
    if without:
        raise InputError(
            "there is no blank to fill in", file=name, line=without[0],
            value=lines[without[0] - 1][1][:_SHOWN],
            mend=f"write {MASK} in place of a word, or leave out the line"
            + (f"; {len(without)} lines have none" if len(without) > 1 else ""),
        )  # fmt: skip
    return [line for _, line in filled]
