"""A corpus built by bertsmith."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

from bertsmith.bench.models import published
from bertsmith.bench.sources import source
from bertsmith.bench.work import Work
from bertsmith.bench.worker import largest_process
from bertsmith.common.cores import cores
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.settings import CorpusSettings


def build(folder: str, text: str | None, megabytes: float) -> Work:
    """Text -> ids on disk, with all that a build finds out on the way; each round anew."""
    file = source(Path(folder), text, megabytes)
    settings = CorpusSettings(vocab=str(published()), workers=cores())
    numbers = itertools.count()

    def go() -> None:
        out = Path(folder) / f"corpus-{next(numbers)}"
        build_corpus([str(file)], out, settings)
        shutil.rmtree(out)

    about = (
        f"{file.stat().st_size / 1e6:.1f} MB of text, {cores()} processes; memory of the largest"
    )
    return Work(go, about=about, memory=largest_process)
