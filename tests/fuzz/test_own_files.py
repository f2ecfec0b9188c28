"""What bertsmith wrote itself and reads again: corpora, checkpoints, logs, records of runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertsmith.common.errors import SettingsError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.reports.html import write_report
from bertsmith.tasks.settings import TaskSettings
from bertsmith.train.folder import RunFolder
from bertsmith.train.log import METRICS, MetricsLog, read_metrics
from bertsmith.train.source import Source
from bertsmith.train.state import Snapshot, load_state, save_state
from tests.fuzz.inputs import answer, damaged, fuzzed, odd_json
from tests.fuzz.test_models import changed

RECORDS: list[dict[str, Any]] = [
    {"step": 1, "loss": 2.5, "learning_rate": 0.1, "peak_share": None},
    {"step": 2, "held_out": {"loss": 2.0, "accuracy": 0.5}},
    {"step": 2, "warning": "The loss had spikes."},
    {"step": 3, "spike": {"batch": 2, "loss": 9.0}},
    {"step": 4, "loss": 1.5},
]
SUMMARY = {
    "task": "pre-training", "steps": 4, "held_out": {"loss": 2.0}, "verdict": "It learned.",
    "warnings": ["A warning."], "baselines": {"a": 0.5}, "examples": [{"text": "a", "found": ["b"]}],
}  # fmt: skip
SETTINGS = PretrainSettings(steps=4)
SOURCES = {"corpus": Source("corpus", {"train": "3 documents", "vocabulary": "9 pieces"})}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    text = "\n\n".join(f"The cat {n} sat.\nIt was {n} of them." for n in range(40))
    (root / "text.txt").write_text(text)
    build_corpus([str(root / "text.txt")], root / "made", CorpusSettings(vocab_size=100, workers=1))
    return root / "made"


@fuzzed(150)
@given(data=st.data())
def test_a_manifest(corpus: Path, data: st.DataObject) -> None:
    """Refused, or nothing in it is another than was."""
    file = corpus / "manifest.json"
    whole = file.read_bytes()
    before = Manifest.read(corpus)
    kinds = damaged(whole) | odd_json(json.loads(whole))
    with changed(file, data.draw(kinds)):
        found = answer(lambda: Manifest.read(corpus), file)
        assert found is None or found == before


@fuzzed(150)
@given(data=st.data())
def test_a_shard(corpus: Path, data: st.DataObject) -> None:
    """Damage that no checksum is asked about: refused, or sound arrays of the same kinds."""
    (file,) = (corpus / "shards").glob("*.train.arrow")
    whole = file.read_bytes()
    made = data.draw(damaged(whole))
    made = (made + whole[len(made) :])[: len(whole)]
    with changed(file, made):
        found = answer(lambda: Corpus.open(corpus, "train", verify=False), file)
        if found is not None:
            ends = [found.document(number) for number in range(found.documents)]
            assert all(one.tokens.dtype in (np.uint16, np.uint32) for one in ends)
            assert sum(len(one.tokens) for one in ends) == found.tokens
        if made != whole:
            assert answer(lambda: Corpus.open(corpus, "train", verify=True), file) is None


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    root = tmp_path_factory.mktemp("checkpoints")
    return save_state(root, 7, Snapshot.of(model, optimizer), {"tokens": 5, "best": None}, keep=1)


@pytest.mark.parametrize("name", ["state.json", "model.safetensors", "optimizer.safetensors"])
@fuzzed(100)
@given(data=st.data())
def test_a_checkpoint(checkpoint: Path, name: str, data: st.DataObject) -> None:
    """Refused, or nothing in it is another than was."""
    file = checkpoint / name
    before = load_state(checkpoint)
    whole = file.read_bytes()
    kinds = damaged(whole)
    if file.suffix == ".json":
        kinds |= odd_json(json.loads(whole))
    made = data.draw(kinds)
    with changed(file, made):
        found = answer(lambda: load_state(checkpoint), checkpoint)
    if found is not None:
        assert (found.step, found.extra) == (before.step, before.extra)
        assert all(torch.equal(found.weights[name], one) for name, one in before.weights.items())
        assert file.suffix == ".json" or made == whole


@fuzzed(200)
@given(st.data())
def test_a_log(place: Path, data: st.DataObject) -> None:
    """Refused with its line, or each whole line is a record that a report can show."""
    run = place / "logged"
    run.mkdir(exist_ok=True)
    lines = [json.dumps(one).encode() for one in RECORDS]
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] = data.draw(damaged(lines[at]) | odd_json(RECORDS[at]))
    (run / METRICS).write_bytes(b"\n".join(lines) + b"\n")
    (run / "config.toml").write_text("steps = 4\n")
    (run / "summary.json").write_bytes(data.draw(odd_json(SUMMARY)))
    answer(lambda: write_report(run), run)
    found = answer(lambda: read_metrics(run / METRICS), run / METRICS)
    if found is not None:
        answer(lambda: MetricsLog(run, 2).close(), run / METRICS)
        assert all(one["step"] <= 2 for one in read_metrics(run / METRICS))
    shutil.rmtree(run / "tensorboard", ignore_errors=True)


@pytest.mark.parametrize("name", ["run.json", "summary.json", "config.toml"])
@fuzzed(100)
@given(data=st.data())
def test_a_run(place: Path, name: str, data: st.DataObject) -> None:
    """A run goes on with the settings and sources it began with, or is refused."""
    run = place / "run"
    shutil.rmtree(run, ignore_errors=True)
    with_checkpoint = RunFolder.open(run, SETTINGS, SOURCES, keep=1)
    with_checkpoint.write_summary(SUMMARY)
    with_checkpoint.close()
    whole = (run / name).read_bytes()
    kinds = damaged(whole)
    if name.endswith(".json"):
        kinds |= odd_json(json.loads(whole))
    (run / name).write_bytes(data.draw(kinds))
    found = answer(lambda: RunFolder.open(run, SETTINGS, SOURCES, keep=1), run)
    if found is not None:
        assert found.record["corpus_parts"] == SOURCES["corpus"].parts
        answer(found.finished_summary, run / "summary.json")
        found.close()


def test_seeds_that_no_generator_takes_are_refused() -> None:
    for seed in (-1, 2**31, 2**64):
        with pytest.raises(SettingsError, match="split_seed must be from 0 to 2147483647"):
            TaskSettings(split_seed=seed)
