"""Scores and official output files of a fine-tuned model, on any data of its task.

  bertsmith evaluate cola/model --data glue/CoLA --out cola_scores

Task, labels and settings are those that the model remembers; --task names the task of a model that
another program fine-tuned.
"""

from __future__ import annotations

import argparse

from bertsmith.cli import common
from bertsmith.tasks.settings import TaskSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith evaluate``."""
    from bertsmith.common.settings import add_flags

    parser.add_argument(
        "model", type=common.path, metavar="MODEL", help="fine-tuned model directory"
    )
    parser.add_argument(
        "--data", required=True, type=common.path, metavar="PATH", help="file or folder"
    )
    parser.add_argument(
        "--out", type=common.path, metavar="DIR", help="folder for the output files"
    )
    parser.add_argument("--task", metavar="TASK", help="task of the model (default: its own)")
    common.add_json(parser)
    add_flags(parser, TaskSettings)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate and show the scores."""
    from bertsmith.common.console import emit
    from bertsmith.predict.evaluate import evaluate, show
    from bertsmith.tasks.parts import figures_of

    judged = evaluate(
        arguments.model, arguments.data, vars(arguments), arguments.task, arguments.out
    )
    show(judged, arguments.out)
    if arguments.json:
        emit(figures_of(judged))
    return 0
