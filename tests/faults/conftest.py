"""A small corpus, a small model and a task, made once."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import sentences
from tests.faults.command import Warm, record

CORPUS = ("--vocab-size", 150, "--workers", 1, "--shard-mb", 0.005, "--held-out-percent", 10)
PRETRAIN = (
    "--steps", 20, "--preset", "tiny", "--lengths", 32, "--length-shares", 1, "--batch-size", 4,
    "--checkpoint-every", 4, "--keep-checkpoints", 2, "--evaluate-every", 10, "--log-every", 1,
    "--evaluate-sequences", 8,
)  # fmt: skip
FINETUNE = (
    "--epochs", 1, "--batch-size", 4, "--checkpoint-every", 4, "--keep-checkpoints", 2,
    "--evaluate-every", 8, "--log-every", 1, "--learning-rate", "1e-3",
)  # fmt: skip


@pytest.fixture(scope="session")
def bertsmith() -> Iterator[Warm]:
    warm = Warm()
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, bertsmith: Warm) -> Path:
    """``text.txt``, its ``corpus``, a finished ``run``, ``CoLA`` and a finished ``tuned`` run."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text(sentences(120))
    bertsmith("corpus", folder / "text.txt", "--out", folder / "corpus", *CORPUS).done()
    bertsmith("pretrain", folder / "corpus", "--out", folder / "run", *PRETRAIN).done()
    _write_task(folder / "CoLA")
    bertsmith(*finetuning(folder, folder / "tuned")).done()
    return folder


def pretraining(made: Path, out: Path, *more: object) -> tuple[object, ...]:
    """The words of the pre-training of ``made``."""
    return ("pretrain", made / "corpus", "--out", out, *PRETRAIN, *more)


def finetuning(made: Path, out: Path, *more: object) -> tuple[object, ...]:
    """The words of the fine-tuning of ``made``."""
    where = ("--model", made / "run" / "model", "--data", made / "CoLA", "--out", out)
    return ("finetune", "cola", *where, *FINETUNE, *more)


Unfinished = Callable[[str], Path]


@pytest.fixture
def unfinished(made: Path, tmp_path: Path) -> Unfinished:
    """Makes a copy of a finished run as it was after its last checkpoint but one."""

    def copy(name: str) -> Path:
        out = tmp_path / name
        shutil.copytree(made / name, out)
        (out / "summary.json").unlink()
        shutil.rmtree(max((out / "checkpoints").iterdir()))
        return out

    return copy


@pytest.fixture(autouse=True)
def _recorded(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test leaves a line in the record, so that what ran is known."""
    yield
    record(test=request.node.nodeid)


def _write_task(folder: Path) -> None:
    rng = random.Random(1)
    folder.mkdir()
    for part, count in (("train", 80), ("dev", 20)):
        lines = []
        for _ in range(count):
            label = rng.randint(0, 1)
            lines.append(f"made\t{label}\t\ta {('cat', 'dog')[label]} in {rng.choice('abc')} .\n")
        (folder / f"{part}.tsv").write_text("".join(lines))
