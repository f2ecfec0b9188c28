"""Pre-training batches made from a corpus, and the steps on them."""

from __future__ import annotations

import itertools
from pathlib import Path

from bertsmith.bench.made import made_corpus
from bertsmith.bench.ours.pretraining import RATE, new_trainer
from bertsmith.bench.work import Work
from bertsmith.corpus.corpus import Corpus
from bertsmith.model.config import preset
from bertsmith.pretrain.batches import Batches
from bertsmith.pretrain.masking import Masking

_TOKENS, _SEQUENCES, _LENGTH = 2_000_000, 32, 128
_MASKING = Masking(rate=0.15, unit="token", mask_share=0.8, random_share=0.1, most=0)


def make(folder: str, batches: int) -> Work:
    """Batches of 32 pairs of 128 tokens; every round makes the same ones."""
    source, _ = _batches(Path(folder))

    def go() -> None:
        for number in range(batches):
            source.batch(number)

    tokens = sum(source.batch(number).tokens for number in range(batches))
    return Work(go, count=batches, tokens=tokens)


def step(folder: str, steps: int) -> Work:
    """Steps of the preset mini on such batches, which are made beforehand."""
    source, vocabulary = _batches(Path(folder))
    trainer = new_trainer(preset("mini", vocabulary), _LENGTH)
    made = [source.batch(number) for number in range(steps)]
    numbers = itertools.count()

    def go() -> None:
        for batch in made:
            trainer.step(next(numbers), batch, RATE)

    return Work(go, count=steps, tokens=sum(one.tokens for one in made))


def _batches(folder: Path) -> tuple[Batches, int]:
    corpus = Corpus.open(made_corpus(folder / "corpus", _TOKENS))
    tokenizer = corpus.tokenizer()
    source = Batches(
        corpus, tokenizer, batch_size=_SEQUENCES, max_length=_LENGTH, short_probability=0.1,
        masking=_MASKING, pairs=True, seed=0,
    )  # fmt: skip
    return source, tokenizer.size
