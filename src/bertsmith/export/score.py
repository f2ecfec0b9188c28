"""The score of a graph on data of its task."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bertsmith.common.console import Bar
from bertsmith.common.errors import InputError
from bertsmith.export.session import OnnxSession, padded
from bertsmith.model.task import BertForTask
from bertsmith.predict.evaluate import read_labelled
from bertsmith.tasks.task import Feature, Output
from bertsmith.text.tokenizer import Tokenizer

_BATCH = 16


def scores(
    folder: Path,
    model: BertForTask,
    tokenizer: Tokenizer,
    data: Path,
    sessions: dict[str, OnnxSession],
) -> tuple[str, dict[str, float]]:
    """The task's figure, and its value for each of several graphs of one model.

    The first part of the data that has labels is scored; what the model tuned at training is used.

    Args:
        folder: the model's directory, which remembers the task.
        model: the model.
        tokenizer: its tokenizer.
        data: what ``--data`` names.
        sessions: graphs by name.

    Raises:
        ModelError: the model does not remember its task.
        InputError: the data are malformed or have no labels.
    """
    ready = read_labelled(folder, model, tokenizer, data, {})
    parts = [one for one in ready.parts if one.part.labelled]
    if not parts:
        raise InputError("the data has no labels to score", file=data)
    one, found = parts[0], {}
    with Bar("scoring", len(one.encoded.features) * len(sessions)) as bar:
        for name, session in sessions.items():
            outputs = onnx_outputs(session, one.encoded.features, model.spec.kind, bar)
            decided = ready.task.decide(one.part, one.encoded, outputs, model.spec, ready.tuned)
            found[name] = float(ready.task.score(one.part, decided)[ready.task.metric] or 0.0)
    return ready.task.metric, found


def onnx_outputs(
    session: OnnxSession, features: list[Feature], kind: str, bar: Bar
) -> list[Output]:
    """The outputs for each feature, in the shapes of our own models."""
    order = sorted(range(len(features)), key=lambda one: (features[one].tokens, one))
    found: list[Output] = [np.empty(0, np.float32)] * len(features)
    for start in range(0, len(order), _BATCH):
        some = order[start : start + _BATCH]
        if kind == "choice":  # items may have different numbers of choices
            for one in some:
                got = session.run(padded(features[one].sequences, len(features[one].sequences)))
                found[one] = got["logits"][0]
        else:
            got = session.run(padded([features[one].sequences[0] for one in some]))
            for row, one in enumerate(some):
                length = len(features[one].sequences[0][0])
                if kind == "span":
                    both = (got["start_logits"][row], got["end_logits"][row])
                    found[one] = np.stack(both, axis=-1)[:length]
                else:
                    logits = got["logits"][row]
                    found[one] = logits[:length] if kind == "tokens" else logits
        bar.advance(len(some))
    return found
