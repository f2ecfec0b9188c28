"""The lengths of a corpus's sentences."""

from __future__ import annotations

import numpy as np

from bertsmith.corpus.folder import SHARDS
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, counted, percent
from bertsmith.doctor.shards import Part

# The most that fits between [CLS] and [SEP] in the 512 positions of the published models.
LONGEST = 510
# Text that was split well has none; above one in a hundred, something is no sentence.
MANY = 0.01


def lengths(part: Part) -> Observations:
    """How long the sentences are, and which a model has to cut."""
    each = np.concatenate([np.diff(shard.sentence_offsets) for shard in part.shards])
    if not len(each):
        return
    middle, longest = int(np.median(each)), int(each.max())
    yield Fact(
        "sentence length",
        {"median": middle, "longest": longest},
        f"{middle:,} tokens in the middle, {longest:,} the longest",
    )
    cut = int((each > LONGEST).sum())
    if cut:
        share = cut / len(each)
        yield Finding(
            Grade.WARNING if share > MANY else Grade.NOTE,
            f"{counted(cut, 'sentence is', 'sentences are')} longer than {LONGEST} tokens "
            f"({percent(share)}), which 512 positions can not hold whole",
            SHARDS,
            "is the text laid out as --format says, and in the --language that was given?"
            if share > MANY
            else "",
        )
