"""Raw text -> vocabulary and memory-mapped corpus, with a held-out part.

INPUT is a file, a folder, a glob or an fsspec URL; plain text (one sentence a line with blank lines
between documents, or prose), JSON Lines (also .gz, .zst) or Parquet. The kind is detected; --format
sets it.

  bertsmith corpus my_texts/ --out corpus --vocab-size 8192
  bertsmith corpus 'dump/*.jsonl.zst' --text-column body --language de --cased --out corpus
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bertsmith.cli import common
from bertsmith.corpus.settings import CorpusSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith corpus``."""
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="file, folder, glob or URL")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="corpus folder")
    common.add_settings(parser, CorpusSettings)


def run(arguments: argparse.Namespace) -> int:
    """Build the corpus and show its figures."""
    settings = common.settings(arguments, CorpusSettings)
    from bertsmith.common.console import emit
    from bertsmith.corpus.build import build_corpus
    from bertsmith.corpus.summary import show

    manifest = build_corpus(arguments.inputs, arguments.out, settings)
    show(manifest, arguments.out)
    if arguments.json:
        emit(manifest.as_dict())
    return 0
