"""Vectors of texts by ONNX Runtime, on the float32 graph that ``bertsmith export`` writes."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from bertsmith.bench.models import model_folder
from bertsmith.bench.texts import mixed
from bertsmith.bench.vectors import masked_mean, sample
from bertsmith.bench.work import Work
from bertsmith.common.cores import threads


def sorted_batches(
    folder: str,
    model: Mapping[str, int] | None,
    data: str | None,
    texts: int,
    longest: int,
    batch: int,
) -> Work:
    """So many texts at a time, sorted by length, padded to the longest one."""
    runtime: Any = importlib.import_module("onnxruntime")
    place, chosen = Path(folder) / "onnx", mixed(data, texts)
    importlib.import_module("onnx")  # the export needs it: its absence is to be named here
    _export(model_folder(model, Path(folder)), place)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads()
    session = runtime.InferenceSession(
        str(place / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = tokenizers.Tokenizer.from_file(str(place / "tokenizer.json"))
    tokenizer.enable_truncation(longest)
    tokenizer.no_padding()

    def vectors() -> tuple[list[np.ndarray], int]:
        found: list[np.ndarray] = [np.empty(0)] * len(chosen)
        encoded = [one.ids for one in tokenizer.encode_batch(chosen)]
        order = sorted(range(len(chosen)), key=lambda one: len(encoded[one]))
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            feed, lengths = _feed([encoded[one] for one in some])
            states = session.run(["last_hidden_state"], feed)[0]
            for one, vector in zip(some, masked_mean(states, lengths), strict=True):
                found[one] = vector
        return found, sum(map(len, encoded))

    def one_by_one() -> None:
        for text in chosen:
            ids = tokenizer.encode(text).ids
            feed, lengths = _feed([ids])
            masked_mean(session.run(["last_hidden_state"], feed)[0], lengths)

    def together() -> None:
        vectors()

    first, tokens = vectors()
    return Work(
        one_by_one if batch == 1 else together, count=len(chosen), tokens=tokens,
        check=sample(first), facts={"threads": threads()},
    )  # fmt: skip


def _export(model: Path, place: Path) -> None:
    command = [sys.executable, "-m", "bertsmith", "export", str(model), "--out", str(place)]
    subprocess.run(command, check=True)


def _feed(rows: list[list[int]]) -> tuple[dict[str, np.ndarray], list[int]]:
    lengths = [len(row) for row in rows]
    ids = np.zeros((len(rows), max(lengths)), np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return feed, lengths
