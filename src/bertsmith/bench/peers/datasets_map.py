"""A corpus built by datasets.map, with as many processes and the same tokenizer."""

from __future__ import annotations

import importlib
import itertools
import shutil
from pathlib import Path
from typing import Any

from bertsmith.bench.models import published
from bertsmith.bench.sources import source
from bertsmith.bench.work import Work
from bertsmith.bench.worker import largest_process
from bertsmith.common.cores import cores


def build(folder: str, text: str | None, megabytes: float) -> Work:
    """Lines of text -> ids in an Arrow file; each round anew."""
    datasets: Any = importlib.import_module("datasets")
    transformers: Any = importlib.import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(published()))
    file = source(Path(folder), text, megabytes)
    numbers = itertools.count()
    workers = cores()

    def encode(batch: dict[str, list[str]]) -> dict[str, Any]:
        return {"input_ids": tokenizer(batch["text"], add_special_tokens=False)["input_ids"]}

    def go() -> None:
        cache = Path(folder) / f"cache-{next(numbers)}"
        lines = datasets.Dataset.from_text(str(file), cache_dir=str(cache))
        lines.map(
            encode, batched=True, num_proc=workers if workers > 1 else None,
            remove_columns=["text"], load_from_cache_file=False,
        )  # fmt: skip
        shutil.rmtree(cache)

    return Work(go, memory=largest_process)
