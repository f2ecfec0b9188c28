"""BERT as a tool: from raw text to a vocabulary, a corpus, an encoder and fine-tuned models.

model = bertsmith.load("run/model")
model.fill("The [MASK] sat on the mat.")
model.embed(["a text", "another one"])
bertsmith.load("fine_tuned/model").predict(["a text", "another one"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertsmith.predict.load import load as load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    # torch takes a second to import: only those who load a model wait for it.
    if name == "load":
        from bertsmith.predict.load import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
