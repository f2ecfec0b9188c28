"""Text of a corpus, or of a batch that a pre-training run was trained on.

  bertsmith corpus show run --batch 1234
  bertsmith corpus show corpus --document 17
  bertsmith corpus show corpus --document 0 --part held_out

A batch is made again from the run's settings and its corpus. Batches are counted from 0, as in
messages about spikes: step 1235 used batch 1234. What a model had to predict stands in < and >
behind what it saw: [MASK]<word>, other<word>, word<word>. Numbers of documents are those that
--document takes. An input folder of the name show is given as ./show to bertsmith corpus.
"""

from __future__ import annotations

import argparse
from typing import Any

from bertsmith.cli import common
from bertsmith.common.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith corpus show``."""
    parser.add_argument(
        "path", type=common.path, metavar="RUN-OR-CORPUS", help="run or corpus folder"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--batch", type=int, metavar="N", help="of a run, counted from 0")
    what.add_argument("--document", type=int, metavar="N", help="counted from 0")
    parser.add_argument(
        "--part", choices=("train", "held_out"), default="train", help="of the corpus (document)"
    )
    parser.add_argument(
        "--length", type=int, metavar="TOKENS",
        help="sequence length of the batch's phase, where the budget does not tell it",
    )  # fmt: skip
    common.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show a document or a batch."""
    from bertsmith.common.console import emit

    is_run = (arguments.path / "config.toml").exists()
    found, lines = (
        _document(arguments, is_run) if arguments.batch is None else _batch(arguments, is_run)
    )
    if arguments.json:
        emit(found)
        return 0
    for line in lines:
        # A lone surrogate in a user's text must not make the output fail.
        print(line.encode("utf-8", "backslashreplace").decode("utf-8"))
    return 0


def _document(arguments: argparse.Namespace, is_run: bool) -> tuple[dict[str, Any], list[str]]:
    from bertsmith.corpus.corpus import Corpus
    from bertsmith.corpus.show import document, origin_text
    from bertsmith.pretrain.show import Run

    folder = Run.open(arguments.path).corpus.folder if is_run else arguments.path
    corpus = Corpus.open(folder, arguments.part)
    found = document(corpus, arguments.document, corpus.tokenizer())
    sentences = found["sentences"]
    head = f"{origin_text(found)}: {len(sentences):,} sentences, {found['tokens']:,} tokens"
    return found, [head, "", *sentences]


def _batch(arguments: argparse.Namespace, is_run: bool) -> tuple[dict[str, Any], list[str]]:
    from bertsmith.corpus.show import origin
    from bertsmith.pretrain.show import Run, show_batch

    if not is_run:
        raise InputError(
            "a batch is of a run, and the folder is not one", file=arguments.path,
            mend="give the --out of a bertsmith pretrain, or --document for a corpus",
        )  # fmt: skip
    run = Run.open(arguments.path)
    found = show_batch(run, arguments.batch, arguments.length)
    numbers = sorted({n for one in found["sequences"] for n in one["documents"] if n is not None})
    found["documents"] = {str(number): origin(run.corpus, number) for number in numbers}
    return found, _lines(found)


def _lines(found: dict[str, Any]) -> list[str]:
    from bertsmith.corpus.show import origin_text

    sequences = found["sequences"]
    lines = [
        f"batch {found['batch']}: {len(sequences):,} sequences of at most {found['length']} "
        f"tokens, {found['tokens']:,} tokens, {found['targets']['masked_lm']:,} to predict"
    ]
    for number, one in enumerate(sequences):
        first, second = one["documents"]
        if second is None:
            where = f"document {first}"
        elif one["next_sentence"] == "random":
            where = f"B is random; A of document {first}, B of document {second}"
        else:
            where = f"B is next; document {first}"
        lines += ["", f"sequence {number}: {where}; {one['masked']} to predict", one["text"]]
    return [*lines, "", *(origin_text(one) for one in found["documents"].values())]
