"""Corpus -> pre-trained BERT: RUN/model, with curves, held-out figures and a report.

An interrupted command continues when it is run again, from its last checkpoint and, for a budget of
steps or tokens on the same CPU, to the same weights bit for bit.

  bertsmith pretrain corpus --out run --steps 10000 --preset mini --lengths 128 --length-shares 1
  bertsmith pretrain corpus --out run --recipe my_settings.toml --seed 7
  bertsmith pretrain corpus --out run --from my_bert --steps 2000 --learning-rate 5e-5
  torchrun --nproc-per-node 8 -m bertsmith pretrain corpus --out run --steps 10000

Several processes (torchrun, Slurm, Kubernetes: docs/scale.md) share every batch; losses and weights
are those of one process. A run may go on with another number of them.
"""

from __future__ import annotations

import argparse

from bertsmith.cli import common
from bertsmith.pretrain.settings import PretrainSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith pretrain``."""
    parser.add_argument(
        "corpus",
        type=common.name,
        metavar="CORPUS",
        help="folder of bertsmith corpus, or its URL (copied to a cache)",
    )
    parser.add_argument("--out", required=True, type=common.path, metavar="RUN", help="run folder")
    parser.add_argument(
        "--from",
        dest="start",
        type=common.path,
        metavar="MODEL",
        help="train this model further, of any layout (see bertsmith convert); the corpus must be "
        "made with its tokenizer (bertsmith corpus --vocab MODEL), and --preset says nothing",
    )
    parser.add_argument(
        "--resume",
        nargs="?",
        const="latest",
        metavar="CHECKPOINT",
        help="go on with the run in RUN, from its latest whole checkpoint or from the one named "
        "(step-00000500); settings come from RUN/config.toml",
    )
    common.add_settings(parser, PretrainSettings)


def run(arguments: argparse.Namespace) -> int:
    """Pre-train and show the result."""
    from bertsmith.common.console import emit
    from bertsmith.corpus.locate import local_folder
    from bertsmith.pretrain.run import pretrain
    from bertsmith.pretrain.summary import show
    from bertsmith.train.processes import joined

    if arguments.resume and arguments.recipe is None:
        arguments.recipe = common.settings_of_run(arguments.out)
    settings = common.settings(arguments, PretrainSettings)
    with joined() as processes:
        processes.first(lambda: local_folder(arguments.corpus))  # once where they share a cache
        summary = pretrain(
            local_folder(arguments.corpus), arguments.out, settings, resume=arguments.resume,
            start=arguments.start, processes=processes,
        )  # fmt: skip
    show(summary, arguments.out)
    if arguments.json:
        emit(summary)
    return 0
