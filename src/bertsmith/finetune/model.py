"""The model of a run: a pre-trained encoder, a new layer, and which weights learn at which rate."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import torch

from bertsmith.checkpoints.directory import load_encoder
from bertsmith.checkpoints.locate import locate
from bertsmith.checkpoints.weights import LoadReport
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.model.layers import has_layers, known_layers
from bertsmith.model.lora import add_lora
from bertsmith.model.tagger import task_model
from bertsmith.model.task import BertForTask, Head
from bertsmith.train.optimizers import build_optimizer

_LAYER = re.compile(r"encoder\.layers\.(\d+)\.")


def check_layers(folder: Path, settings: FinetuneSettings) -> None:
    """Whether the model has the layers that the settings speak of; reads its configuration only.

    Raises:
        ModelError: there is no such model.
        SettingsError: more layers are to be frozen or combined than there are.
    """
    layers = locate(folder).read_config().num_hidden_layers
    if settings.freeze_layers > layers:
        raise SettingsError(
            f"the model has {layers} layers to freeze", value=settings.freeze_layers,
            mend=f"give --freeze-layers {layers} or less",
        )  # fmt: skip
    if settings.feature_layers != "none" and not has_layers(settings.feature_layers, layers):
        raise SettingsError(
            f"no such layers in a model of {layers}", value=settings.feature_layers,
            mend=f"give --feature-layers {', '.join(known_layers(layers))}",
        )  # fmt: skip


def new_model(
    folder: Path, head: Head, settings: FinetuneSettings
) -> tuple[BertForTask, LoadReport | None]:
    """The encoder of a model directory with a new layer drawn from the run's seed.

    A pooler that the directory lacks is new, too; the report names it. There is no report where the
    settings ask for random weights.

    Raises:
        ModelError: the directory holds no whole encoder.
        SettingsError: more layers are to be frozen than there are.
    """
    check_layers(folder, settings)
    config = dataclasses.replace(
        locate(folder).read_config(),
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
    )
    torch.manual_seed(settings.seed)
    model = task_model(config, head)
    report = None if settings.from_scratch else load_encoder(folder, model.encoder).report
    for name, weights in model.named_parameters():
        depth = _depth(name, config.num_hidden_layers)
        learns = settings.freeze_layers == 0 or depth > settings.freeze_layers
        weights.requires_grad = weights.requires_grad and learns
    if settings.lora_rank:
        if report and any(name.startswith("encoder.pooler.") for name in report.new):
            raise ModelError(
                "the model has no pooler, and adapters would leave the new one at random",
                file=folder, mend="fine-tune without --lora-rank",
            )  # fmt: skip
        add_lora(model.encoder, settings.lora_rank, settings.lora_alpha, settings.lora_dropout)
    return model.train(), report


def optimizer_of(model: BertForTask, settings: FinetuneSettings) -> torch.optim.Optimizer:
    """The optimizer over the weights that learn, each layer at its own share of the rate."""
    return build_optimizer(
        {"stable": "adamw", "paper": "bert-adam"}[settings.optimizer],
        model.named_parameters(),
        settings.learning_rate,
        weight_decay=settings.weight_decay,
        rate_scale=rate_scale(model.config.num_hidden_layers, settings.layer_decay),
    )


def rate_scale(layers: int, decay: float) -> Callable[[str], float]:
    """The share of the learning rate by parameter name (layer-wise decay, arXiv 1801.06146).

    1 for pooler and task layer, ``decay`` for the top layer, a power more for each layer below,
    ``decay ** (layers + 1)`` for the embeddings.
    """
    return lambda name: decay ** (layers + 1 - _depth(name, layers))


def _depth(name: str, layers: int) -> int:
    """0 for the embeddings, 1 to ``layers`` for the layers, one more for what is above."""
    found = _LAYER.match(name)
    if found:
        return int(found[1]) + 1
    return 0 if name.startswith("encoder.embeddings.") else layers + 1
