"""The official output files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertsmith.common.files import write_json
from bertsmith.tasks.squad.answers import Answer, SquadPrediction


def write_answers(folder: Path, predictions: Sequence[SquadPrediction]) -> list[Path]:
    """``predictions.json`` (id -> text), ``nbest_predictions.json`` and, for version 2.0,
    ``null_odds.json`` (id -> score), as run_squad.py and the official scorers have them."""
    files: dict[str, dict[str, Any]] = {
        "predictions.json": {one.id: one.text for one in predictions},
        "nbest_predictions.json": {
            one.id: [_entry(answer, chance) for answer, chance in one.ranked] for one in predictions
        },
    }
    if any(one.null_odds is not None for one in predictions):
        files["null_odds.json"] = {one.id: one.null_odds for one in predictions}
    for name, content in files.items():
        write_json(folder / name, content)
    return [folder / name for name in files]


def _entry(answer: Answer, chance: float) -> dict[str, Any]:
    return {
        "text": answer.text,
        "probability": chance,
        "start_logit": answer.start_logit,
        "end_logit": answer.end_logit,
    }
