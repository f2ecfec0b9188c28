"""A pre-trained encoder and a task's data -> fine-tuned model, scores, official output files.

  bertsmith finetune cola --model run/model --data glue/CoLA --out cola
  bertsmith finetune classify --model run/model --data reviews.csv --text-column review \\
      --label-column stars --out stars
  bertsmith finetune glue --model run/model --data glue/ --out glue_runs

MODEL is any BERT in the common layout (config.json, model.safetensors, tokenizer), DATA a file or a
folder with training, dev and test files. An interrupted command goes on when it is run again.
"""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from bertsmith.cli import common
from bertsmith.common.settings import add_flags
from bertsmith.finetune.settings import FinetuneSettings

if TYPE_CHECKING:
    from bertsmith.train.processes import Processes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith finetune``."""
    from bertsmith.tasks.registry import descriptions

    lines = [f"  {name}: {text}" for name, text in descriptions().items()]
    parser.epilog = "\n".join(["tasks:", *lines, "  glue: all GLUE tasks found in a folder"])
    parser.add_argument("task", metavar="TASK", help="see below")
    parser.add_argument(
        "--model", required=True, type=common.path, metavar="DIR", help="model directory"
    )
    parser.add_argument(
        "--data", required=True, type=common.path, metavar="PATH", help="file or folder"
    )
    parser.add_argument("--out", required=True, type=common.path, metavar="RUN", help="run folder")
    parser.add_argument(
        "--resume",
        nargs="?",
        const="latest",
        metavar="CHECKPOINT",
        help="go on with the run in RUN, from its latest whole checkpoint or from the one named; "
        "settings come from RUN/config.toml",
    )
    common.add_recipe(parser, FinetuneSettings)
    common.add_json(parser)
    names = [field.name for field in dataclasses.fields(FinetuneSettings) if field.name != "task"]
    add_flags(parser, FinetuneSettings, names)


def run(arguments: argparse.Namespace) -> int:
    """Fine-tune and show the result."""
    from bertsmith.common.console import emit
    from bertsmith.train.processes import joined

    if arguments.resume and arguments.recipe is None:
        arguments.recipe = common.settings_of_run(arguments.out)
    settings = common.settings(arguments, FinetuneSettings)
    with joined() as processes:
        run_all = _glue if settings.task == "glue" else _single
        summary = run_all(arguments, settings, processes)
    if arguments.json:
        emit(summary)
    return 0


def _single(
    arguments: argparse.Namespace, settings: FinetuneSettings, processes: Processes
) -> dict[str, Any]:
    from bertsmith.finetune.model import check_layers
    from bertsmith.finetune.prepare import prepare, show_data
    from bertsmith.finetune.repeats import finetune, show_runs
    from bertsmith.finetune.summary import show
    from bertsmith.tasks.registry import make_task

    task = make_task(settings.task, settings)
    check_layers(arguments.model, settings)  # before any data is read
    prepared = prepare(task, arguments.model, arguments.data, settings.max_length)
    show_data(prepared)
    summary = finetune(prepared, arguments.out, settings, arguments.resume, processes)
    show_runs(summary)
    show(summary, arguments.out)
    return summary


def _glue(
    arguments: argparse.Namespace, settings: FinetuneSettings, processes: Processes
) -> dict[str, Any]:
    from bertsmith.finetune.glue import finetune_glue, show

    summary = finetune_glue(
        arguments.model, arguments.data, arguments.out, settings, arguments.resume, processes
    )
    show(summary, arguments.out)
    return summary
