"""Which sequence length a step has: the phases of a run."""

from __future__ import annotations

from itertools import accumulate

from bertsmith.pretrain.settings import PretrainSettings


def phase_of(settings: PretrainSettings, begun: float) -> int:
    """The phase, counted from 0, of a step before which ``begun`` of the budget was done."""
    ends = list(accumulate(settings.length_shares))
    for phase, end in enumerate(ends):
        if begun < end - 1e-9:  # as in train/session.py
            return phase
    return len(ends) - 1
