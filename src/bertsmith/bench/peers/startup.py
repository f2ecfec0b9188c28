"""How long transformers takes until it has filled a blank."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from bertsmith.bench.launch import Launcher
from bertsmith.bench.models import model_folder
from bertsmith.bench.work import Work

_CODE = """
import sys
from transformers import pipeline
print(pipeline("fill-mask", model=sys.argv[1])("w1 [MASK] w3 ."))
"""


def fill(folder: str) -> Work:
    """``pipeline("fill-mask")`` with the preset tiny, in a new process."""
    if importlib.util.find_spec("transformers") is None:
        raise ModuleNotFoundError("transformers", name="transformers")
    model = model_folder({"layers": 2, "hidden": 128, "heads": 1}, Path(folder))
    return Launcher(Path(folder) / "log.txt").work([sys.executable, "-c", _CODE, str(model)])
