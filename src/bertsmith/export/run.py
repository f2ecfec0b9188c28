"""A model directory -> a folder with its ONNX graph, compared with the model before it is there."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import onnx

from bertsmith.checkpoints.architectures import Model, describe
from bertsmith.checkpoints.beside import Beside, read_beside, save_tokenizer
from bertsmith.checkpoints.card import compose_card
from bertsmith.checkpoints.checkpoint import open_checkpoint
from bertsmith.checkpoints.directory import Loaded, load_checkpoint
from bertsmith.checkpoints.locate import CONFIG
from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.checkpoints.save import CARD, described_config
from bertsmith.common.console import Bar, note
from bertsmith.common.cores import cores
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.common.files import write_text
from bertsmith.export.check import TOLERANCE, check_finite, differences
from bertsmith.export.graph import build_graph
from bertsmith.export.int8 import Speed, changes, quantise, speed
from bertsmith.export.score import scores
from bertsmith.export.session import OnnxSession
from bertsmith.model.task import BertForTask

GRAPH, INT8 = "model.onnx", "model_int8.onnx"
_MOST_BYTES = 2**31 - 2**20  # of one protobuf message


@dataclass(frozen=True)
class Int8:
    """What became of a model at 8 bits."""

    bytes: int
    largest_change: float
    mean_change: float
    speed: Speed
    metric: str = ""
    float_score: float | None = None
    int8_score: float | None = None

    @property
    def verdict(self) -> str:
        """Whether int8 is better here, in a sentence."""
        if self.speed.low <= 1:
            return f"int8 is not faster here: keep {GRAPH}"
        fall = (self.float_score or 0.0) - (self.int8_score or 0.0)
        if fall > 0:
            return f"int8 is faster here, but its {self.metric} is lower by {fall:.4f}"
        if self.float_score is None:
            return "int8 is faster here; give --data to see what it costs in score"
        return "int8 is faster here, and its score is no lower"


@dataclass(frozen=True)
class Exported:
    """What was written, and how far it is from the model."""

    architecture: str
    bytes: int
    difference: float
    outputs: list[str]
    int8: Int8 | None


def export(source: Path, out: Path, int8: bool = False, data: Path | None = None) -> Exported:
    """Write ``model.onnx`` with configuration, tokenizer and card into ``out``.

    Args:
        source: a model of any layout.
        out: the folder; it is made, or replaced as a whole, only if the graph passes.
        int8: whether to write ``model_int8.onnx``, too.
        data: data of a fine-tuned model's task, to score both graphs on.

    Raises:
        ModelError: the model is not whole, is of a kind that has no graph, is too large for one
            file, or its graph does not say what the model says.
        SettingsError: ``data`` without ``int8``, or for a model without a task; or ``out`` is the
            source.
    """
    if data is not None and not int8:
        raise SettingsError("--data is to score int8 against float32", mend="give --int8, too")
    checkpoint = open_checkpoint(source)
    if out.exists() and out.resolve() == checkpoint.folder.resolve():
        raise SettingsError("the graph would replace the model", value=str(out),
                            mend="give --out another folder")  # fmt: skip
    loaded = load_checkpoint(checkpoint)
    model = loaded.model
    note(loaded.report.as_text())
    if data is not None and not isinstance(model, BertForTask):
        raise SettingsError("the model has no task to score", value=str(source))
    check_finite(model, source)
    size = sum(4 * one.numel() for one in model.parameters())
    if size > _MOST_BYTES:
        raise ModelError("the graph would be above the 2 GiB of one ONNX file", file=source)
    try:
        with atomic_folder(out) as part:
            return _write(part, source, loaded, read_beside(checkpoint.folder), int8, data)
    except OSError as error:
        raise ModelError(f"the graph can not be written: {error}", file=out) from error


def _write(
    part: Path,
    source: Path,
    loaded: Loaded[Model],
    beside: Beside,
    int8: bool,
    data: Path | None,
) -> Exported:
    model, tokenizer = loaded.model, loaded.tokenizer
    described_config(model, tokenizer).to_json(part / CONFIG)
    save_tokenizer(part, tokenizer, model.config.max_position_embeddings, beside)
    graph = build_graph(model)
    onnx.checker.check_model(graph)
    (part / GRAPH).write_bytes(graph.SerializeToString())
    threads = cores()
    session = OnnxSession(part / GRAPH, threads)
    difference = max(differences(model, session, source))
    if not difference <= TOLERANCE:
        raise ModelError(
            f"the graph differs from the model by {difference:.2g}, more than {TOLERANCE:g}: "
            "nothing is written",
            file=source,
            mend="this is a fault of bertsmith, or weights of a size that float32 can not hold "
            "apart: please report it with the output of bertsmith doctor",
        )
    small = _int8(part, source, loaded, session, threads, data) if int8 else None
    name = describe(model)["architectures"][0]
    done = Exported(name, (part / GRAPH).stat().st_size, difference, session.outputs, small)
    write_text(part / CARD, _card(source, done))
    return done


def _int8(
    part: Path,
    source: Path,
    loaded: Loaded[Model],
    float32: OnnxSession,
    threads: int,
    data: Path | None,
) -> Int8:
    model = loaded.model
    with Bar("quantising", 1) as bar:
        quantise(part / GRAPH, part / INT8)
        bar.advance(1)
    session = OnnxSession(part / INT8, threads)
    largest, mean = changes(model, float32, session)
    found = Int8(
        (part / INT8).stat().st_size, largest, mean, speed(model, float32, session, threads)
    )
    if data is None:
        return found
    assert isinstance(model, BertForTask)
    metric, values = scores(
        source, model, loaded.tokenizer, data, {"float32": float32, "int8": session}
    )
    return dataclasses.replace(
        found, metric=metric, float_score=values["float32"], int8_score=values["int8"]
    )


def _card(source: Path, done: Exported) -> str:
    facts: dict[str, object] = {
        "source": source.name,
        "class": done.architecture,
        "outputs": ", ".join(done.outputs),
        "largest difference from the model": done.difference,
    }
    if done.int8 is not None:
        facts["int8, largest change of an output"] = done.int8.largest_change
    return compose_card(
        f"{done.architecture} as an ONNX graph",
        facts,
        front_matter={"tags": ["bert", "onnx", "bertsmith"], "library_name": "onnx"},
        text="Inputs `input_ids`, `attention_mask`, `token_type_ids`: int64, any batch, any length "
        "up to the model's positions, padded on the right.",
    )
