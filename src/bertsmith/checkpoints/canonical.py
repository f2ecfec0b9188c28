"""The many spellings of one BERT's tensor names, brought to Hugging Face's present ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# What wrappers put before the names: data parallel training, torch.compile.
_WRAPPERS = ("module.", "_orig_mod.")
# The parts of an encoder, which was saved by itself where they come first.
_ENCODER = ("embeddings.", "encoder.layer.", "pooler.")
_BUFFERS = ("bert.embeddings.position_ids", "bert.embeddings.token_type_ids")
# LayerNorm's numbers in files of 2018 and 2019.
_OLD = {"gamma": "weight", "beta": "bias"}


@dataclass(frozen=True)
class Canonical:
    """What the stored names stand for.

    Attributes:
        names: stored name -> canonical name, for every weight.
        skipped: stored name -> why it is no weight.
    """

    names: Mapping[str, str]
    skipped: Mapping[str, str]

    @property
    def renamed(self) -> dict[str, str]:
        """The names that changed."""
        return {stored: name for stored, name in self.names.items() if stored != name}


def canonical(stored: Iterable[str]) -> Canonical:
    """Find the present names of stored tensors.

    ``module.`` and ``_orig_mod.`` go; an encoder saved by itself gets its ``bert.``; ``gamma`` and
    ``beta`` become ``weight`` and ``bias``; counters that some versions stored are no weights.

    Raises:
        ValueError: two stored names stand for one; the message says which.
    """
    names: dict[str, str] = {}
    skipped: dict[str, str] = {}
    first: dict[str, str] = {}
    for one in stored:
        name = _present(one)
        if name in _BUFFERS:
            skipped[one] = "a table of counters, not a weight"
            continue
        if name in first:
            raise ValueError(f"the tensors {first[name]} and {one} stand for one weight")
        first[name] = one
        names[one] = name
    return Canonical(names, skipped)


def _present(name: str) -> str:
    stripped = True
    while stripped:
        stripped = False
        for prefix in _WRAPPERS:
            if name.startswith(prefix):
                name, stripped = name.removeprefix(prefix), True
    if name.startswith(_ENCODER):
        name = f"bert.{name}"
    head, dot, last = name.rpartition(".")
    if head.endswith("LayerNorm"):
        return f"{head}{dot}{_OLD.get(last, last)}"
    return name
