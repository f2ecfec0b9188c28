"""The numbers in the weights: types, NaN, layers that are all the same, layers that stand twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bertsmith.checkpoints.names import TIED_COPIES
from bertsmith.checkpoints.weights import QUANTISED, WEIGHT_TYPES
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, counted, some

# A model without segments has a table of zeros here, which does no harm.
_MAY_BE_CONSTANT = ("bert.embeddings.token_type_embeddings.weight",)
_RETRAIN = "take an earlier checkpoint, or the file from its source again"


@dataclass(frozen=True)
class _Range:
    """Least and greatest number of a tensor; NaN where one is in it."""

    low: float
    high: float

    @classmethod
    def of(cls, tensor: Tensor) -> _Range:
        low, high = torch.aminmax(tensor.float())
        return cls(float(low), float(high))

    @property
    def finite(self) -> bool:
        return abs(self.low) < float("inf") and abs(self.high) < float("inf")

    @property
    def constant(self) -> bool:
        return self.low == self.high


def numbers(tensors: Mapping[str, Tensor], where: str) -> Observations:
    """Examine every tensor.

    Args:
        tensors: by Hugging Face's names.
        where: the weight file, for findings.
    """
    once = {name: one for name, one in tensors.items() if not _is_copy(name, tensors)}
    total = sum(one.numel() for one in once.values())
    yield Fact("parameters", total, f"{total:,}")
    yield from _types(tensors, where)
    ranges = {
        name: _Range.of(one)
        for name, one in tensors.items()
        if one.dtype in WEIGHT_TYPES and one.numel()
    }
    bad = [name for name, one in ranges.items() if not one.finite]
    if bad:
        yield Finding(
            Grade.BROKEN, f"{counted(len(bad), 'tensor')} with NaN or infinity: {some(bad)}",
            where, _RETRAIN,
        )  # fmt: skip
    yield from _constant(tensors, ranges, where)
    yield from _twice(once, ranges, where)
    yield from _untrained(ranges, where)


def same_numbers(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are the same in shape, type and numbers."""
    return a.dtype == b.dtype and a.dtype in WEIGHT_TYPES and torch.equal(a, b)


def _is_copy(name: str, tensors: Mapping[str, Tensor]) -> bool:
    """Whether a tensor is a parameter that other programs store a second time."""
    original = tensors.get(TIED_COPIES.get(name, ""))
    return original is not None and same_numbers(tensors[name], original)


def _types(tensors: Mapping[str, Tensor], where: str) -> Observations:
    kinds: dict[str, list[str]] = {}
    for name, one in tensors.items():
        kinds.setdefault(str(one.dtype).removeprefix("torch."), []).append(name)
    text = ", ".join(
        f"{kind} ({len(names)} tensors)" if len(kinds) > 1 else kind
        for kind, names in kinds.items()
    )
    yield Fact("stored as", {kind: len(names) for kind, names in kinds.items()}, text)
    others = [name for name, one in tensors.items() if one.dtype not in WEIGHT_TYPES]
    if others:
        yield Finding(
            Grade.BROKEN,
            f"{counted(len(others), 'tensor does', 'tensors do')} not hold plain floating point "
            f"numbers: {some(others)}",
            where,
            QUANTISED,
        )
    elif len(kinds) > 1:
        yield Finding(Grade.NOTE, f"the weights are of several types: {text}", where)


def _constant(
    tensors: Mapping[str, Tensor], ranges: Mapping[str, _Range], where: str
) -> Observations:
    """Matrices of one number carry nothing; so does a LayerNorm that multiplies by 0."""
    dead = [
        name
        for name, one in ranges.items()
        if one.constant
        and tensors[name].numel() > 1
        and name not in _MAY_BE_CONSTANT
        and (tensors[name].ndim > 1 or (one.low == 0 and name.endswith("LayerNorm.weight")))
    ]
    if dead:
        values = {f"{ranges[name].low:g}" for name in dead}
        what = f"all numbers are {values.pop()}" if len(values) == 1 else "all numbers are the same"
        yield Finding(
            Grade.BROKEN,
            f"{what} in {counted(len(dead), 'tensor')}: {some(dead)}",
            where,
            "the weights were lost when they were made or converted: take them from their source",
        )


def _twice(tensors: Mapping[str, Tensor], ranges: Mapping[str, _Range], where: str) -> Observations:
    """Matrices with the same content under different names."""
    first: dict[tuple[object, ...], str] = {}
    pairs = []
    for name, tensor in tensors.items():
        if name not in ranges or ranges[name].constant or tensor.ndim < 2:
            continue
        if not ranges[name].finite:
            continue
        key = (tuple(tensor.shape), ranges[name].low, ranges[name].high)
        other = first.setdefault(key, name)
        if other != name and same_numbers(tensors[other], tensor):
            pairs.append(f"{name} is {other}")
    if pairs:
        yield Finding(
            Grade.WARNING,
            f"{counted(len(pairs), 'matrix is', 'matrices are')} the same as another: "
            f"{some(pairs, 2)}",
            where,
            "if layers were not copied on purpose, take the weights from their source",
        )


def _untrained(ranges: Mapping[str, _Range], where: str) -> Observations:
    """Training moves every LayerNorm and every bias away from where they begin."""
    start = [
        (one.low, one.high) == ((1.0, 1.0) if name.endswith("LayerNorm.weight") else (0.0, 0.0))
        for name, one in ranges.items()
        if name.startswith("bert.encoder.") and name.endswith(("LayerNorm.weight", ".bias"))
    ]
    if start and all(start):
        yield Finding(
            Grade.WARNING,
            "the encoder was never trained: every LayerNorm is 1 and every bias 0, as they begin",
            where,
            "bertsmith pretrain trains one",
        )
