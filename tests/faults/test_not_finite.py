"""A loss that is not a number: the run stops at the step, and nothing of before is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.command import Warm, files
from tests.faults.conftest import finetuning, pretraining

pytestmark = pytest.mark.processes

WILD = ("--learning-rate", "1e30", "--max-gradient-norm", "1e30", "--checkpoint-every", 1)


@pytest.mark.parametrize("kind", ["run", "tuned"])
def test_a_rate_that_blows_up(kind: str, made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    words = {"run": pretraining, "tuned": finetuning}[kind]
    out = tmp_path / "wild"
    ended = bertsmith(*words(made, out, *WILD))
    ended.refused("step ", "batch ", "not a finite number", "--learning-rate")
    assert not (out / "summary.json").exists()
    for line in (out / "metrics.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)
    before = files(out / "checkpoints")
    assert before
    again = bertsmith(*words(made, out, *WILD))
    again.refused("not a finite number")  # from the last checkpoint: the same end
    assert files(out / "checkpoints") == before
    assert again.stderr.count("going on from step") == 1
    bertsmith(*words(made, tmp_path / "sane")).done()


def test_a_model_of_huge_weights(made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    """The weights at the beginning are finite, what comes of them is not."""
    import shutil

    from safetensors.torch import load_file, save_file

    model = tmp_path / "model"
    shutil.copytree(made / "run" / "model", model)
    tensors = load_file(model / "model.safetensors")
    for name, tensor in tensors.items():
        if "intermediate.dense.weight" in name:
            tensor.fill_(3e38)
    save_file(tensors, model / "model.safetensors", metadata={"format": "pt"})
    ended = bertsmith(*pretraining(made, tmp_path / "run", "--from", model))
    ended.refused("not a finite number")
    assert not (tmp_path / "run" / "summary.json").exists()
    for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)
