"""Raw text -> vocabulary and memory-mapped corpus, with a held-out part.

INPUT is a file, a folder, a glob or an fsspec URL; plain text (one sentence a line with blank lines
between documents, or prose), JSON Lines (also .gz, .zst) or Parquet. The kind is detected; --format
sets it.

With --scheduler the units are encoded on a Dask cluster. Its workers write the shards themselves:
DIR has to be a folder that this machine and all workers see under the same path (a shared file
system), and all need the same version of bertsmith. The result is the same as without.

URLs need the library of their protocol: s3fs for s3://, gcsfs for gs://.

  bertsmith corpus my_texts/ --out corpus --vocab-size 8192
  bertsmith corpus 'dump/*.jsonl.zst' --text-column body --language de --cased --out corpus
  bertsmith corpus show corpus --document 17   # the text of a corpus, or of a run's batch
"""

from __future__ import annotations

import argparse

from bertsmith.cli import common
from bertsmith.corpus.settings import CorpusSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith corpus``."""
    parser.add_argument(
        "inputs", nargs="+", type=common.name, metavar="INPUT", help="file, folder, glob or URL"
    )
    parser.add_argument(
        "--out", required=True, type=common.name, metavar="DIR",
        help="corpus folder, or an fsspec URL: then it is built in this machine's cache "
        "(BERTSMITH_CACHE, default ~/.cache/bertsmith/corpora) and copied there",
    )  # fmt: skip
    parser.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="tcp://HOST:PORT of a Dask scheduler whose workers encode and see DIR; needs "
        "bertsmith[cluster]",
    )  # fmt: skip
    common.add_settings(parser, CorpusSettings)


def run(arguments: argparse.Namespace) -> int:
    """Build the corpus and show its figures."""
    settings = common.settings(arguments, CorpusSettings)
    from bertsmith.common.console import emit
    from bertsmith.corpus.publish import build_at
    from bertsmith.corpus.summary import show

    manifest = build_at(arguments.inputs, arguments.out, settings, arguments.scheduler)
    show(manifest, arguments.out)
    if arguments.json:
        emit(manifest.as_dict())
    return 0
