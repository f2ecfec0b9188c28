"""How well the vocabulary fits the text of a corpus, by the counts of its tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bertsmith.common.errors import CorpusError
from bertsmith.corpus.encode import PARTS
from bertsmith.corpus.folder import COUNTS
from bertsmith.corpus.manifest import Manifest
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations
from bertsmith.text.tokenizer import Tokenizer

# Pieces that continue a word: 6 to 14 % of English with the published vocabularies, 22 % of Spanish
# with the multilingual one; 39 to 55 % of Spanish with vocabularies of English, 80 % of Russian.
CONTINUATIONS = 0.35
# A vocabulary that was trained on the text leaves 3 % of its entries unused.
UNUSED = 0.5


def fit(manifest: Manifest, folder: Path, tokenizer: Tokenizer) -> Observations:
    """Pieces a word, and entries that are never used.

    Raises:
        CorpusError: the counts are missing or damaged.
    """
    counts = _counts(manifest, folder, tokenizer.size)
    total = max(1, int(counts.sum()))
    pieces = int(counts[tokenizer.is_continuation].sum()) / total
    yield Fact("continuations", pieces, f"{pieces:.1%} of the tokens continue a word")
    if pieces > CONTINUATIONS:
        yield Finding(
            Grade.WARNING,
            f"words fall to pieces: {pieces:.0%} of the tokens continue a word, as when the "
            "vocabulary is of another language, of another casing, or very small",
            COUNTS,
            "train a vocabulary on the text (leave out --vocab), or a larger one (--vocab-size)",
        )
    usual = np.array([not (one[:1] == "[" and one[-1:] == "]") for one in tokenizer.tokens])
    unused = float((counts[usual] == 0).mean()) if usual.any() else 0.0
    yield Fact("unused entries", unused, f"{unused:.1%} of the vocabulary never occurs")
    if unused > UNUSED:
        yield Finding(
            Grade.NOTE,
            f"{unused:.0%} of the vocabulary's entries never occur in the text: their vectors will "
            "not be trained",
            COUNTS,
            "a smaller vocabulary makes a smaller, faster model",
        )


def _counts(manifest: Manifest, folder: Path, size: int) -> np.ndarray:
    """[V] int64, occurrences of each token in the training part."""
    file = folder / COUNTS
    mend = "remove manifest.json and build the corpus again: only what is damaged is made anew"
    try:
        counts = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise CorpusError("the token counts are missing", file=file, mend=mend) from None
    except (OSError, ValueError, EOFError) as error:
        raise CorpusError(f"the token counts are damaged: {error}", file=file, mend=mend) from None
    if counts.shape != (len(PARTS), size) or counts.dtype != np.int64:
        raise CorpusError("the token counts are not of this vocabulary", file=file,
                          value=list(counts.shape), mend=mend)  # fmt: skip
    row: np.ndarray = counts[PARTS.index("train")]
    if int(row.sum()) != manifest.parts["train"]["tokens"]:
        raise CorpusError("the token counts do not add up to the manifest's tokens", file=file,
                          mend=mend)  # fmt: skip
    return row
