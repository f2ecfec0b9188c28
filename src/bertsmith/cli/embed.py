"""Vectors of texts to a Parquet file: one a text, or one a token.

  bertsmith embed run/model lines.txt --out vectors.parquet
  bertsmith embed run/model notes.jsonl --text-column body --pooling tokens --out tokens.parquet

INPUT is a text file (a text a line), a TSV, CSV, JSON Lines or Parquet table, or - for lines on
standard input. A text's vector does not depend on the other texts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bertsmith.cli import common
from bertsmith.common.settings import add_flags, from_flags
from bertsmith.tasks.settings import TaskSettings

# The settings of tables that reading one column of texts needs; errors advise all of them.
_READING = ("text_column", "header", "quoting", "encoding")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith embed``."""
    parser.add_argument("model", type=common.path, metavar="MODEL", help="model directory")
    parser.add_argument(
        "input", type=common.name, metavar="INPUT", help="file of texts, - for standard input"
    )
    parser.add_argument(
        "--out", required=True, type=common.path, metavar="FILE", help="Parquet file"
    )
    parser.add_argument(
        "--pooling", default="mean", metavar="WAY",
        help="mean or max of all tokens, cls for the first, pooler for the pooled first of "
        "pre-training, tokens for each by itself (default: mean)",
    )  # fmt: skip
    parser.add_argument(
        "--layers", default="last", metavar="LAYERS",
        help="last, second-to-last, embeddings, sum-last-four, concat-last-four, sum-all (the "
        "paper's table 7), or a number from 0 for the embeddings (default: last)",
    )  # fmt: skip
    parser.add_argument(
        "--max-length", type=int, metavar="TOKENS",
        help="most tokens a text (default: the model's positions)",
    )  # fmt: skip
    common.add_json(parser)
    add_flags(parser, TaskSettings, _READING)


def run(arguments: argparse.Namespace) -> int:
    """Embed all texts."""
    from bertsmith.common.console import emit, note
    from bertsmith.predict.embed import Embedder
    from bertsmith.predict.embed_file import embed_to_parquet, lines_of, read_texts

    settings = from_flags(
        TaskSettings, {name: one for name, one in vars(arguments).items() if name in _READING}
    )
    embedder = Embedder.load(arguments.model)
    if arguments.input == "-":
        texts = lines_of(sys.stdin.buffer.read(), "standard input", settings.encoding)
    else:
        texts = read_texts(Path(arguments.input), settings)
    length = arguments.max_length or embedder.encoder.config.max_position_embeddings
    figures = embed_to_parquet(
        embedder, texts, arguments.out, arguments.pooling,
        layers=arguments.layers, max_length=length,
    )  # fmt: skip
    note(", ".join(f"{name}: {value:,}" for name, value in figures.items()))
    note(f"vectors: {arguments.out}")
    if arguments.json:
        emit(figures)
    return 0
