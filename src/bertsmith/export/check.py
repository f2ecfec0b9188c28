"""Does the graph say what the model says?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bertsmith.checkpoints.architectures import Model, table_of
from bertsmith.checkpoints.names import to_hugging_face
from bertsmith.common.errors import ModelError
from bertsmith.export.session import OnnxSession, Pair, padded
from bertsmith.model.next_sentence import NextSentenceBert
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.task import BertForTask

TOLERANCE = 1e-4
_CHOICES = 3


def probes(model: Model) -> list[list[Pair]]:
    """Batches that a wrong graph can not pass: one token, ragged ones, the most positions.

    Segments change within the sequences and are never equal to the mask.
    """
    config = model.config
    rng = np.random.default_rng(0)
    most = config.max_position_embeddings
    batches = ([1], [5, 5, 3], [min(one, most) for one in (2, 40, 7, 16, 1, 23)], [most, 1])

    def sequence(length: int) -> Pair:
        ids = rng.integers(0, config.vocab_size, length).tolist()
        border = int(rng.integers(0, length + 1))
        last = config.type_vocab_size - 1
        return ids, [0] * border + [last] * (length - border)

    found = [[sequence(length) for length in lengths] for lengths in batches]
    if isinstance(model, BertForTask) and model.spec.kind == "choice":
        return [batch * _CHOICES for batch in found]
    return found


def check_finite(model: Model, file: Path) -> None:
    """Raise ModelError, with the tensor's name, where a weight is NaN or infinite.

    Args:
        model: the model.
        file: where it is from, for the message.
    """
    named = to_hugging_face(model.state_dict(), table_of(model))
    bad = [name for name, one in named.items() if not torch.isfinite(one).all()]
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise ModelError(
            f"tensor {bad[0]}{more} has NaN or infinity: the model gives no numbers", file=file,
            mend="take an earlier checkpoint, or the file from its source again; bertsmith doctor "
            "names such tensors",
        )  # fmt: skip


def differences(model: Model, session: OnnxSession, file: Path) -> list[float]:
    """The largest difference in any output of a real token, for each probe.

    Args:
        model: the model.
        session: its graph.
        file: where the model is from, for messages.

    Raises:
        ModelError: the model itself gives NaN or infinity, although its weights are finite.
    """
    choices = _CHOICES if isinstance(model, BertForTask) and model.spec.kind == "choice" else 0
    result = []
    for batch in probes(model):
        theirs = session.run(padded(batch, choices))
        lengths = [len(ids) for ids, _ in batch]
        most = 0.0
        every_token, others = expected_outputs(model, batch, choices)
        for name, expected in (every_token | others).items():
            got = theirs[name]
            if name in every_token:
                got = np.concatenate([row[:n] for row, n in zip(got, lengths, strict=True)])
            if not torch.isfinite(expected).all():
                raise ModelError(
                    f"the model's own {name} has NaN or infinity: its weights are finite, but too "
                    "large to be computed with in float32", file=file,
                    mend="take an earlier checkpoint, before its training went astray",
                )  # fmt: skip
            distance = np.abs(got - expected.numpy()).max()
            most = max(most, float(distance) if np.isfinite(distance) else np.inf)
        result.append(most)
    return result


@torch.inference_mode()
def expected_outputs(
    model: Model, batch: list[Pair], choices: int
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What the packed model says: outputs of a row a token, and of a row a sequence or item."""
    packed = PackedBatch.from_sequences(batch)
    if isinstance(model, BertForPreTraining):
        words, pairs = model(packed, torch.arange(packed.token_count))
        if pairs is None:
            return {"logits": words}, {}
        return {"prediction_logits": words}, {"seq_relationship_logits": pairs}
    if isinstance(model, BertForTask):
        return _task_outputs(model, packed, choices)
    hidden = model.encoder(packed)
    if isinstance(model, NextSentenceBert):
        return {}, {"logits": model.next_sentence(model.encoder.pool(hidden, packed))}
    if model.encoder.pooler is None:
        return {"last_hidden_state": hidden}, {}
    pooled = model.encoder.pool(hidden, packed)
    return {"last_hidden_state": hidden}, {"pooler_output": pooled}


def _task_outputs(
    model: BertForTask, packed: PackedBatch, choices: int
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    logits = model(packed)
    if model.spec.kind == "span":
        return {"start_logits": logits[:, 0], "end_logits": logits[:, 1]}, {}
    if model.spec.kind == "tokens":
        return {"logits": logits}, {}
    return {}, {"logits": logits.view(-1, choices) if choices else logits}
