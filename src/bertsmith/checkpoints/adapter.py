"""LoRA adapters in the layout of the ``peft`` library."""

from __future__ import annotations

from pathlib import Path

import torch

from bertsmith.checkpoints.architectures import table_of
from bertsmith.checkpoints.checksums import write_tensors
from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.common.files import write_json
from bertsmith.model.lora import LoraDelta
from bertsmith.model.task import BertForTask, Kind

_TASKS: dict[Kind, str | None] = {
    "classes": "SEQ_CLS",
    "labels": "SEQ_CLS",
    "value": "SEQ_CLS",
    "tokens": "TOKEN_CLS",
    "span": "QUESTION_ANS",
    "choice": None,
}


def save_adapter(folder: Path, model: BertForTask, base: Path) -> None:
    """Write ``adapter_config.json`` and ``adapter_model.safetensors``, atomically.

    ``peft.PeftModel.from_pretrained`` puts them onto the model in ``base``, as ``transformers``
    opens it for the task.

    Args:
        folder: where to.
        model: a model with adapters.
        base: the directory of the encoder that it started from.
    """
    tensors, rank, alpha = {}, 0, 0.0
    for number, layer in enumerate(model.encoder.layers):
        delta = layer.lora
        assert isinstance(delta, LoraDelta)
        rank = len(delta.query_a)
        alpha = delta.scale * rank
        place = f"base_model.model.bert.encoder.layer.{number}.attention.self"
        for name in ("query", "value"):
            tensors[f"{place}.{name}.lora_A.weight"] = getattr(delta, f"{name}_a")
            tensors[f"{place}.{name}.lora_B.weight"] = getattr(delta, f"{name}_b")
    names = table_of(model)
    for kind in ("weight", "bias"):
        tensors[f"base_model.model.{names[f'head.{kind}'][0]}"] = getattr(model.head, kind)
    config = {
        "peft_type": "LORA",
        "task_type": _TASKS[model.spec.kind],
        "base_model_name_or_path": str(base),
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "target_modules": ["query", "value"],
        "modules_to_save": [names["head.weight"][0].split(".")[0]],
        "inference_mode": True,
    }
    with atomic_folder(folder) as part, torch.no_grad():
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        write_tensors(part / "adapter_model.safetensors", whole)
        write_json(part / "adapter_config.json", config)
