"""Is dropout here the dropout there? Loss, gradient and outputs of one batch over many draws.

    python benchmarks/dropout.py --data DATA

Both models have the same weights and see the same 16 sentences of CoLA; only the masks differ.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from finetuning import ROWS, padded, read, their_model

from bertsmith.finetune.model import new_model
from bertsmith.finetune.objective import task_sums
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.tasks.batch import TaskBatch

_SENTENCES, _SHARPER = 16, 20.0  # a new layer's outputs are too small to differ


def gradient_norm(model: torch.nn.Module) -> float:
    """The global norm of what backward() left."""
    found = [one.grad.norm() for one in model.parameters() if one.grad is not None]
    return float(torch.stack(found).norm())


def main() -> None:
    """Print means with their standard errors, and the ratio of the outputs' spreads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--draws", type=int, default=500)
    arguments = parser.parse_args()
    settings = FinetuneSettings(learning_rate=5e-5, task="cola", seed=0)
    prepared = read(ROWS["cola"], arguments.data, settings)
    features = list(prepared.train.encoded.features[:_SENTENCES])
    ours, _ = new_model(prepared.model, prepared.head, settings)
    theirs = their_model(prepared, settings)
    with torch.no_grad():
        for layer in (ours.head, theirs.classifier):
            layer.weight.mul_(_SHARPER)
    batch, inputs = TaskBatch.of(features, prepared.head), padded(features, "classes")
    figures: dict[str, tuple[list[float], list[float]]] = {"loss": ([], []), "gradient": ([], [])}
    outputs: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for draw in range(arguments.draws):
        torch.manual_seed(draw)
        ours.zero_grad()
        loss = task_sums(ours, batch).losses["task"] / _SENTENCES
        loss.backward()
        theirs.zero_grad()
        other = theirs(**inputs)
        other.loss.backward()
        for side, (value, model) in enumerate(((loss, ours), (other.loss, theirs))):
            figures["loss"][side].append(value.item())
            figures["gradient"][side].append(gradient_norm(model))
        with torch.no_grad():
            outputs[0].append(ours(batch.packed).numpy())
            outputs[1].append(other.logits.detach().numpy())
    for name, sides in figures.items():
        shown = [f"{np.mean(one):.4f} ({np.std(one) / len(one) ** 0.5:.4f})" for one in sides]
        print(f"{name}: {shown[0]} here, {shown[1]} there")
    spreads = [np.stack(side).std(0) for side in outputs]
    ratio = spreads[0] / spreads[1]
    print(f"spread of outputs: ratio {ratio.mean():.3f} ({ratio.std() / ratio.size**0.5:.3f})")


if __name__ == "__main__":
    main()
