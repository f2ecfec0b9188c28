"""Readers under libFuzzer: inputs are bred by the lines of ours that they reach.

``python -m tests.fuzz.guided READER RUNS FOLDER`` ends with status 0 where no input made a reader do
anything but give a result or refuse it, took over 10 s or 1 GiB.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import atheris
import torch
from safetensors.torch import save

with atheris.instrument_imports(include=["bertsmith"]):
    from bertsmith.checkpoints.stored import read_pickle, read_safetensors
    from bertsmith.checkpoints.tensorflow.sstable import read_table as read_index
    from bertsmith.checkpoints.tensorflow.sstable import table_bytes
    from bertsmith.common.settings import of_recipe
    from bertsmith.corpus.formats import read_documents
    from bertsmith.corpus.manifest import Manifest
    from bertsmith.corpus.settings import CorpusSettings
    from bertsmith.corpus.sources import Source
    from bertsmith.model.config import BertConfig
    from bertsmith.tasks.ner.conll import read_columns
    from bertsmith.tasks.settings import TaskSettings
    from bertsmith.tasks.squad.examples import read_squad
    from bertsmith.tasks.tables.read import read_table
    from bertsmith.text.tokenizer import Tokenizer
    from bertsmith.train.log import read_metrics

from tests.fuzz import test_config, test_own_files, test_settings, test_tasks, test_texts
from tests.fuzz.inputs import answer
from tests.fuzz.models import PIECES


class Reader(NamedTuple):
    """A reader: the file it is given, what is done with it, and a file to begin with."""

    file: str
    read: Callable[[Path], object]
    seed: bytes


def documents(kind: str) -> Callable[[Path], object]:
    """Reads all of a text input."""

    def read(file: Path) -> object:
        source = Source(str(file), kind, file.stat().st_size)
        return [lines for _, lines in read_documents(source, CorpusSettings())]

    return read


def made(save: Callable[[Path], object]) -> bytes:
    """What is saved to a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made"
        save(file)
        return file.read_bytes()


TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.zeros(1, dtype=torch.int64)}
READERS = {
    "text": Reader("a.txt", documents("text"), test_texts.TEXT),
    "json-lines": Reader("a.jsonl", documents("jsonl"), test_texts.LINES),
    "manifest": Reader("manifest.json", lambda file: Manifest.read(file.parent), b'{"version": 2}'),
    "config": Reader("config.json", BertConfig.from_json, json.dumps(test_config.VALID).encode()),
    "vocabulary": Reader("vocab.txt", Tokenizer.load, "\n".join(PIECES).encode()),
    "tokenizer": Reader("tokenizer.json", lambda file: Tokenizer.load(file.parent), b"{}"),
    "recipe": Reader("a.toml", lambda file: of_recipe(TaskSettings, file), test_settings.VALID[1]),
    "tsv": Reader("a.tsv", lambda file: read_table(file, TaskSettings()), test_tasks.TSV),
    "csv": Reader("a.csv", lambda file: read_table(file, TaskSettings()), test_tasks.CSV),
    "squad": Reader(
        "a.json", lambda file: read_squad([file], "train", strict=False),
        json.dumps(test_tasks.SQUAD).encode(),
    ),
    "conll": Reader(
        "a.txt", lambda file: read_columns(file, "utf-8", whole=True), test_tasks.CONLL
    ),
    "log": Reader(
        "metrics.jsonl", read_metrics, "\n".join(map(json.dumps, test_own_files.RECORDS)).encode()
    ),
    "safetensors": Reader("a.safetensors", read_safetensors, save(TENSORS)),
    "pickle": Reader("a.bin", read_pickle, made(lambda file: torch.save(TENSORS, file))),
    "tensorflow": Reader(
        "a.index", lambda file: list(read_index(file)), table_bytes([(b"a", b"1"), (b"ab", b"2")])
    ),
}  # fmt: skip


def main(name: str, runs: str, place: str) -> None:
    """Fuzz one reader; ends the process."""
    reader, folder = READERS[name], Path(place)
    corpus = folder / "seeds"
    corpus.mkdir(parents=True)
    (corpus / "seed").write_bytes(reader.seed)
    file = folder / reader.file

    def once(data: bytes) -> None:
        file.write_bytes(data)
        answer(lambda: reader.read(file))

    limits = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=4096", "-seed=1"]
    words = [str(corpus), f"-runs={runs}", f"-artifact_prefix={folder}/", *limits]
    atheris.Setup([sys.argv[0], *words], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
