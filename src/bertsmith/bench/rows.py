"""The rows: the same work done by several sides, each named by the function that sets it up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

OURS, LIMIT = "bertsmith", "limit"
_OURS, _PEERS = "bertsmith.bench.ours", "bertsmith.bench.peers"
_VOCABULARY = 30522


@dataclass(frozen=True)
class Side:
    """One way to do the work of a row.

    Attributes:
        factory: ``module:function`` that gives a :class:`~bertsmith.bench.work.Work`.
        arguments: what it is called with, JSON values; its ``folder`` comes on top.
        verb: the process begins as that verb of the bertsmith command does; empty for other tools.
    """

    factory: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    verb: str = ""


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        name: what it is called.
        group: the table it is in.
        unit: of what times are given: a step, a text.
        what: the work, for the reader of the table.
        sides: by name; the others are compared with the first one.
        needs_data: whether it reads ``--data``.
        on_request: whether it runs only when it is named.
        part_of: the side whose work contains that of the first one, to say which part it is.
    """

    name: str
    group: str
    unit: str
    what: str
    sides: Mapping[str, Side]
    needs_data: bool = False
    on_request: bool = False
    part_of: str = ""


@dataclass(frozen=True)
class Choices:
    """What a user may choose.

    Attributes:
        data: folder of GLUE's data sets.
        text: file that a corpus is made of; None for made text.
        corpus_mb: megabytes of made text.
        resume_tokens: tokens of the corpus of the run that is resumed.
    """

    data: Path | None = None
    text: Path | None = None
    corpus_mb: float = 16.0
    resume_tokens: int = 10_000_000

    @property
    def glue(self) -> str | None:
        """The folder with SST-2, MRPC and QNLI: ``data`` or the ``glue`` in it."""
        if self.data is None:
            return None
        inner = self.data / "glue"
        return str((inner if inner.is_dir() else self.data).absolute())


def catalogue(choices: Choices) -> dict[str, Row]:
    """All rows by name, in the order in which they run."""
    rows = [
        *_pretraining(), *_finetuning(choices), *_prediction(choices), *_corpus(choices),
        *_startup(choices), *_self_test(),
    ]  # fmt: skip
    return {row.name: row for row in rows}


def _pretraining() -> list[Row]:
    # Shape of the model, sequences a step, their length, and steps a round: about a second's work.
    shapes = {
        "pretrain-tiny-128": (2, 128, 32, 128, 8),
        "pretrain-mini-128": (4, 256, 32, 128, 2),
        "pretrain-mini-512": (4, 256, 8, 512, 2),
        "pretrain-base-128": (12, 768, 8, 128, 1),
        "pretrain-base-512": (12, 768, 2, 512, 1),
    }
    return [
        _pretraining_row(name, "pre-training", (layers, hidden, _VOCABULARY), *work)
        for name, (layers, hidden, *work) in shapes.items()
    ]


def _pretraining_row(
    name: str,
    group: str,
    model: tuple[int, int, int],
    sequences: int,
    length: int,
    steps: int,
) -> Row:
    layers, hidden, vocabulary = model
    shape = {
        "layers": layers, "hidden": hidden, "vocabulary": vocabulary,
        "sequences": sequences, "length": length, "steps": steps,
    }  # fmt: skip
    peer = f"{_PEERS}.pretraining:step"
    sides = {
        OURS: Side(f"{_OURS}.pretraining:step", shape, verb="pretrain"),
        "transformers-sdpa": Side(peer, {**shape, "attention": "sdpa"}),
        "transformers-eager": Side(peer, {**shape, "attention": "eager"}),
        LIMIT: _limit(),
    }
    what = (
        f"one optimizer step, {layers} layers of {hidden}, vocabulary {vocabulary:,}, "
        f"{sequences} full sequences of {length}, 15 % masked, dropout 0.1, clipping, AdamW"
    )
    return Row(name, group, "step", what, sides)


def _limit() -> Side:
    return Side("bertsmith.bench.limit:limit")


def _finetuning(choices: Choices) -> list[Row]:
    rows = []
    for task, folder in (("sst2", "SST-2"), ("mrpc", "MRPC"), ("qnli", "QNLI")):
        given = {"task": task, "data": choices.glue, "batch": 32, "batches": 8, "longest": 128}
        peer = f"{_PEERS}.finetuning:step"
        sides = {
            OURS: Side(f"{_OURS}.finetuning:step", given, verb="finetune"),
            "transformers-128": Side(peer, {**given, "pad_to": 128}),
            "transformers-longest": Side(peer, {**given, "pad_to": 0}),
            LIMIT: _limit(),
        }
        what = (
            f"one optimizer step on 32 examples of {folder} of at most 128 tokens, MiniLM-L6; "
            "transformers pads to 128 or to the longest of the batch"
        )
        rows.append(Row(f"finetune-{task}", "fine-tuning", "step", what, sides, needs_data=True))
    return rows


def _prediction(choices: Choices) -> list[Row]:
    many = {"model": None, "data": choices.glue, "texts": 512, "longest": 256}
    one = {**many, "texts": 32}
    return [
        Row(
            "predict-many", "prediction", "text",
            "mean of the last layer's vectors, texts of mixed lengths, all at hand, MiniLM-L6",
            {
                OURS: Side(f"{_OURS}.prediction:many", many, verb="embed"),
                "transformers-pipeline": Side(f"{_PEERS}.prediction:pipeline", many),
                "transformers-batches": Side(f"{_PEERS}.prediction:batches", many | {"batch": 32}),
                "sentence-transformers": Side(f"{_PEERS}.sentences:encode", many),
                "onnxruntime": Side(f"{_PEERS}.onnx:sorted_batches", many | {"batch": 32}),
                LIMIT: _limit(),
            },
            needs_data=True,
        ),
        Row(
            "predict-one", "prediction", "text", "the same, one text at a time: latency",
            {
                OURS: Side(f"{_OURS}.prediction:one", one, verb="embed"),
                "transformers": Side(f"{_PEERS}.prediction:batches", one | {"batch": 1}),
                "onnxruntime": Side(f"{_PEERS}.onnx:sorted_batches", one | {"batch": 1}),
                LIMIT: _limit(),
            },
            needs_data=True,
        ),
    ]  # fmt: skip


def _corpus(choices: Choices) -> list[Row]:
    text = None if choices.text is None else str(choices.text.absolute())
    given = {"text": text, "megabytes": choices.corpus_mb}
    return [
        Row(
            "corpus", "corpus", "corpus",
            "text to ids on disk, tokenizer given, a process a core",
            {
                OURS: Side(f"{_OURS}.corpus:build", given, verb="corpus"),
                "datasets": Side(f"{_PEERS}.datasets_map:build", given),
            },
        ),
        Row(
            "batches", "corpus", "batch",
            "a pre-training batch of 32 pairs of 128 tokens from a corpus of 2 million tokens; "
            "the collator of transformers only masks sequences that are given",
            {
                OURS: Side(f"{_OURS}.batches:make", {"batches": 100}, verb="pretrain"),
                "transformers-collator": Side(f"{_PEERS}.collator:collate", {"batches": 100}),
                "mini-step": Side(f"{_OURS}.batches:step", {"steps": 2}, verb="pretrain"),
            },
            part_of="mini-step",
        ),
    ]  # fmt: skip


def _startup(choices: Choices) -> list[Row]:
    place, group, unit = f"{_OURS}.startup", "startup", "start"

    def resumed(name: str, tokens: int, on_request: bool) -> Row:
        what = f"start of a resumed run until its first step is made, corpus of {tokens:,} tokens"
        side = Side(f"{place}:resume", {"tokens": tokens})
        return Row(name, group, unit, what, {OURS: side}, on_request=on_request)

    return [
        Row(
            "startup-help", group, unit, "bertsmith --help, beside a Python that does nothing",
            {OURS: Side(f"{place}:usage"), "python": Side(f"{place}:nothing")},
        ),
        Row(
            "startup-fill", group, unit, "one blank filled by a tiny model, in a new process",
            {OURS: Side(f"{place}:fill"), "transformers": Side(f"{_PEERS}.startup:fill")},
        ),
        resumed("startup-resume", choices.resume_tokens, False),
        resumed("startup-billion", 1_000_000_000, True),
    ]  # fmt: skip


def _self_test() -> list[Row]:
    """Rows of little work, to see that the sides run on a machine."""
    limit = Side("bertsmith.bench.limit:limit", {"sizes": [64], "seconds": 0.01})
    some = {"model": {"layers": 1, "hidden": 32}, "data": None, "texts": 6, "longest": 32}
    pretrain = _pretraining_row("self-test-pretrain", "self-test", (1, 32, 200), 3, 16, 1)
    sides = {name: pretrain.sides[name] for name in (OURS, "transformers-sdpa")}
    predict = {
        OURS: Side(f"{_OURS}.prediction:many", some, verb="embed"),
        "onnxruntime": Side(f"{_PEERS}.onnx:sorted_batches", some | {"batch": 4}),
    }
    return [
        replace(pretrain, sides={**sides, LIMIT: limit}, on_request=True),
        Row(
            "self-test-predict", "self-test", "text", "vectors of made texts",
            {**predict, LIMIT: limit}, on_request=True,
        ),
    ]  # fmt: skip
