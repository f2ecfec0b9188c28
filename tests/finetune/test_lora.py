"""LoRA: adapters are the same as peft's, alone and merged."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file

from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.finetune.model import new_model
from bertsmith.finetune.prepare import prepare
from bertsmith.finetune.run import finetune_once
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.model.lora import merged
from bertsmith.tasks.outputs import model_outputs
from bertsmith.tasks.registry import make_task

SETTINGS = FinetuneSettings(
    task="cola", epochs=6, batch_size=16, learning_rate=1e-2, lora_rank=4, lora_alpha=8.0
)


@pytest.fixture(scope="module")
def run(model: Path, cola: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("lora") / "run"
    finetune_once(prepare(make_task("cola", SETTINGS), model, cola, 0), out, SETTINGS)
    return out


def test_the_encoder_itself_does_not_change(run: Path, model: Path) -> None:
    before, after = (load_file(one / "model.safetensors") for one in (model, run / "model"))
    changed = {
        name for name in after if name in before and not torch.equal(after[name], before[name])
    }
    assert changed == {
        f"bert.encoder.layer.{number}.attention.self.{name}.weight"
        for number in range(2)
        for name in ("query", "value")
    }


def test_peft_loads_the_adapter_onto_the_same_model(run: Path, model: Path, cola: Path) -> None:
    base = transformers.AutoModelForSequenceClassification.from_pretrained(model, num_labels=2)
    theirs = peft.PeftModel.from_pretrained(base, run / "adapter").eval()
    whole = transformers.AutoModelForSequenceClassification.from_pretrained(run / "model").eval()
    features = prepare(make_task("cola", SETTINGS), model, cola, 0).dev[0].encoded.features[:20]
    for one in features:
        ids, segments = one.sequences[0]
        inputs = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([segments])}
        with torch.inference_mode():
            np.testing.assert_allclose(
                theirs(**inputs).logits.numpy(), whole(**inputs).logits.numpy(), atol=1e-5
            )


def test_merged_is_the_same_model(model: Path, cola: Path) -> None:
    whole = prepare(make_task("cola", SETTINGS), model, cola, 0)
    adapted, _ = new_model(model, whole.head, SETTINGS)
    plain, _ = new_model(model, whole.head, dataclasses.replace(SETTINGS, lora_rank=0))
    features = whole.dev[0].encoded.features[:20]

    def outputs(one) -> np.ndarray:
        return np.stack(model_outputs(one, features, whole.head, 1000))

    np.testing.assert_allclose(outputs(adapted), outputs(plain), atol=1e-6)  # B is 0 at first
    with torch.no_grad():
        for layer in adapted.encoder.layers:
            layer.lora.query_b.normal_()
            layer.lora.value_b.normal_()
    assert np.abs(outputs(adapted) - outputs(plain)).max() > 1e-3
    np.testing.assert_allclose(outputs(merged(adapted)), outputs(adapted), atol=1e-5)
    assert merged(plain) is plain
    learns = {name for name, weights in adapted.named_parameters() if weights.requires_grad}
    assert all(".lora." in name or name.startswith("head.") for name in learns)


def test_what_does_not_go_together(model: Path, cola: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--freeze-layers"):
        dataclasses.replace(SETTINGS, freeze_layers=1)
    transformers.BertForMaskedLM.from_pretrained(model).save_pretrained(tmp_path)
    head = prepare(make_task("cola", SETTINGS), model, cola, 0).head
    with pytest.raises(ModelError, match="no pooler"):
        new_model(tmp_path_with_tokenizer(tmp_path, model), head, SETTINGS)


def tmp_path_with_tokenizer(folder: Path, model: Path) -> Path:
    for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"):
        (folder / name).write_bytes((model / name).read_bytes())
    return folder
