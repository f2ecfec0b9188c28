"""Bytes that were cut, flipped or lost: named or passed over (but for settings of a model)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.command import Warm, record, result
from tests.faults.conftest import Unfinished, pretraining
from tests.torture import trials

pytestmark = pytest.mark.processes


def cut(file: Path, rng: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: rng.randrange(len(content))])


def flip(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def delete(file: Path, rng: random.Random) -> None:
    file.unlink()


Damage = Callable[[Path, random.Random], None]
DAMAGES: list[Damage] = [cut, flip, delete]
by_name = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


@by_name
@pytest.mark.parametrize("trial", range(trials(2, 20)))
def test_a_shard(damage: Damage, trial: int, made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    """Noticed before the first step, and by the doctor; building again mends it."""
    rng, corpus = random.Random(trial), tmp_path / "corpus"
    shutil.copytree(made / "corpus", corpus)
    shard = rng.choice(sorted((corpus / "shards").glob("*.train.arrow")))
    whole = shard.read_bytes()
    damage(shard, rng)
    words = list(pretraining(made, tmp_path / "run"))
    words[1] = corpus
    bertsmith(*words).refused(shard.name, "mend: ")
    assert not (tmp_path / "run").exists()
    found = bertsmith("doctor", corpus)
    assert found.status == 2
    assert shard.name in found.stderr
    record(fault=damage.__name__, of="shard", where=str(len(whole)))


@by_name
@pytest.mark.parametrize("name", ["manifest.json", "tokenizer/tokenizer.json"])
@pytest.mark.parametrize("trial", range(trials(1, 20)))
def test_the_rest_of_a_corpus(
    damage: Damage, name: str, trial: int, made: Path, bertsmith: Warm, tmp_path: Path
) -> None:
    """The manifest is refused; of a tokenizer the doctor may find what is left sound."""
    corpus = tmp_path / "corpus"
    shutil.copytree(made / "corpus", corpus)
    damage(corpus / name, random.Random(trial))
    found = bertsmith("doctor", corpus)
    assert found.status in ((2,) if name == "manifest.json" else (0, 2))
    assert "Traceback" not in found.stderr
    if found.status:
        assert Path(name).name in found.stderr or "tokenizer" in found.stderr


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_checkpoint(
    damage: Damage, name: str, made: Path, unfinished: Unfinished, bertsmith: Warm
) -> None:
    """Passed over with a warning, and the one before is used; where all are broken, refused."""
    out, rng = unfinished("run"), random.Random(name)
    (last,) = (out / "checkpoints").iterdir()
    damage(last / name, rng)
    bertsmith(*pretraining(made, out)).refused(f"{last.name}/{name}", "all checkpoints are broken")


def test_the_checkpoint_before(made: Path, bertsmith: Warm, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(made / "run", out)
    (out / "summary.json").unlink()
    first, last = sorted((out / "checkpoints").iterdir())
    flip(last / "optimizer.safetensors", random.Random(0))
    ended = bertsmith(*pretraining(made, out)).done()
    assert f"{last.name}/optimizer.safetensors" in ended.stderr
    assert f"going on from step {int(first.name[5:])}" in ended.stderr
    assert result(out) == result(made / "run")


MODEL = ["model.safetensors", "config.json", "tokenizer.json", "vocab.txt"]


@by_name
@pytest.mark.parametrize("name", MODEL)
@pytest.mark.parametrize("trial", range(trials(1, 20)))
def test_a_model(
    damage: Damage, name: str, trial: int, made: Path, bertsmith: Warm, tmp_path: Path
) -> None:
    """One message that names the model, or an answer; of other weights, no answer."""
    model = tmp_path / "model"
    shutil.copytree(made / "run" / "model", model)
    damage(model / name, random.Random(trial))
    text = "a cat [MASK] in garden ."
    ended = bertsmith("fill", model, text)
    record(fault=damage.__name__, of=name, status=ended.status)
    if ended.status:
        ended.refused(str(model))
    else:
        ended.done()
        if name == "model.safetensors":
            assert ended.stdout == bertsmith("fill", made / "run" / "model", text).stdout
