"""A model as an ONNX graph that ONNX Runtime runs, compared with the model before it is written.

Inputs are named as transformers names them (input_ids, attention_mask, token_type_ids), batch and
length are free. Any model will do: an encoder, a pre-trained model, a fine-tuned one.

  bertsmith export run/model --out onnx
  bertsmith export cola/model --out onnx --int8 --data glue/CoLA

DIR is made, or replaced as a whole, only when the graph says what the model says; of a user's own
files in it all stay. Needs the packages onnx and onnxruntime: pip install onnx onnxruntime.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bertsmith.cli import common
from bertsmith.common.errors import SettingsError

if TYPE_CHECKING:
    from bertsmith.export.run import Exported


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith export``."""
    parser.add_argument("model", type=common.path, metavar="MODEL", help="a model of any layout")
    parser.add_argument(
        "--out", required=True, type=common.path, metavar="DIR", help="folder to write"
    )
    parser.add_argument(
        "--int8", action="store_true",
        help="write model_int8.onnx, too, and say what 8 bits change in output, score and speed",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=common.path, metavar="PATH",
        help="data of a fine-tuned model's task, to score both graphs on",
    )  # fmt: skip
    common.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Export and show how far the graph is from the model."""
    from bertsmith.common.console import emit

    try:
        from bertsmith.export.run import export
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "onnxruntime"):
            raise
        raise SettingsError(
            f"the package {error.name} is not installed", mend="pip install onnx onnxruntime"
        ) from None
    done = export(arguments.model, arguments.out, arguments.int8, arguments.data)
    _show(done, arguments.out)
    if arguments.json:
        emit(_as_dict(done, arguments.out))
    return 0


def _as_dict(done: Exported, out: Path) -> dict[str, Any]:
    result = {"out": str(out), **dataclasses.asdict(done)}
    if done.int8 is not None:
        result["int8"]["verdict"] = done.int8.verdict
    return result


def _show(done: Exported, out: Path) -> None:
    from bertsmith.common.console import note, table
    from bertsmith.doctor.chart import counted, megabytes

    rows = [
        ("class", done.architecture),
        ("outputs", ", ".join(done.outputs)),
        ("size", megabytes(done.bytes)),
        ("largest difference from the model", f"{done.difference:.1e}"),
    ]
    table("graph", ("fact", "value"), rows)
    if done.int8 is not None:
        small, speed = done.int8, done.int8.speed
        pairs = [
            ("size", megabytes(done.bytes), megabytes(small.bytes)),
            (
                f"8 texts of {counted(speed.length, 'token')}",
                f"{speed.float_ms:.1f} ms",
                f"{speed.int8_ms:.1f} ms",
            ),
        ]
        if small.float_score is not None and small.int8_score is not None:
            pairs.append((small.metric, f"{small.float_score:.4f}", f"{small.int8_score:.4f}"))
        table("int8", ("", "float32", "int8"), pairs)
        note(
            f"outputs change by {small.largest_change:.2g} at most, {small.mean_change:.2g} on "
            f"average; int8 is {speed.median:.2f} times as fast ({speed.low:.2f}-{speed.high:.2f}, "
            f"quartiles of 15 pairs, {counted(speed.threads, 'thread')})"
        )
        note(small.verdict)
    note(f"written: {out}")
