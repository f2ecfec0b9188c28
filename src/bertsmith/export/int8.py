"""Weights of 8 bits: smaller, often faster, not the same."""

from __future__ import annotations

import logging
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertsmith.checkpoints.architectures import Model
from bertsmith.export.session import Feed, OnnxSession, padded
from bertsmith.model.task import BertForTask

_ROUNDS = 15
_TEXTS, _LENGTH = 8, 64  # of the timed batch


@dataclass(frozen=True)
class Speed:
    """Time of the float32 graph over that of the int8 graph: above 1, int8 is faster.

    Median and quartiles of pairs measured in turn, so that a busy machine hits both alike.
    """

    median: float
    low: float
    high: float
    float_ms: float
    int8_ms: float
    threads: int
    length: int = _LENGTH  # tokens of each of the timed texts


def quantise(source: Path, out: Path) -> None:
    """Dynamic quantisation of the products with weights, a scale a column.

    Weights get 7 of the 8 bits: CPUs without VNNI add pairs of products in 16 bits, which overflow
    otherwise.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    before = logging.getLogger().level
    logging.getLogger().setLevel(logging.ERROR)  # it warns of a step that changes nothing here
    try:
        quantize_dynamic(
            source, out, op_types_to_quantize=["MatMul"], per_channel=True, reduce_range=True,
            weight_type=QuantType.QInt8,
        )  # fmt: skip
    finally:
        logging.getLogger().setLevel(before)


def changes(model: Model, float32: OnnxSession, int8: OnnxSession) -> tuple[float, float]:
    """Largest and mean difference between the outputs of two graphs on the timed batch."""
    feed = _batch(model)
    one, two = float32.run(feed), int8.run(feed)
    distances = np.concatenate([np.abs(one[name] - two[name]).ravel() for name in one])
    return float(distances.max()), float(distances.mean())


def speed(model: Model, float32: OnnxSession, int8: OnnxSession, threads: int) -> Speed:
    """Time both on one batch of 8 texts of 64 tokens, or as many as the model has positions."""
    feed = _batch(model)
    pairs = []
    for number in range(_ROUNDS + 2):
        pair = (_time(float32, feed), _time(int8, feed))
        if number >= 2:  # the first ones warm caches and allocate
            pairs.append(pair)
    ratios = [one / two for one, two in pairs]
    low, median, high = statistics.quantiles(ratios, n=4)
    ms = [1000 * statistics.median(times) for times in zip(*pairs, strict=True)]
    return Speed(median, low, high, ms[0], ms[1], threads, _length(model))


def _length(model: Model) -> int:
    return min(_LENGTH, model.config.max_position_embeddings)


def _time(session: OnnxSession, feed: Feed) -> float:
    started = time.perf_counter()
    session.run(feed)
    return time.perf_counter() - started


def _batch(model: Model) -> Feed:
    config = model.config
    rng = np.random.default_rng(1)
    length = _length(model)
    ids = rng.integers(0, config.vocab_size, (_TEXTS, length)).tolist()
    choices = 2 if isinstance(model, BertForTask) and model.spec.kind == "choice" else 0
    return padded([(one, [0] * length) for one in ids], choices)
