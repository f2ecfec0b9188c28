import numpy as np
import pytest
import torch
import torch.nn.functional as F

from bertsmith.common.errors import InputError
from bertsmith.model.config import BertConfig, preset
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining

CONFIG = BertConfig(
    vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=64, max_position_embeddings=600,
)  # fmt: skip


def batch_of(lengths: list[int]) -> PackedBatch:
    rng = np.random.default_rng(0)
    return PackedBatch.from_sequences(
        [(rng.integers(0, 50, n).tolist(), rng.integers(0, 2, n).tolist()) for n in lengths]
    )


def model() -> BertForPreTraining:
    torch.manual_seed(0)
    return BertForPreTraining(CONFIG)


def test_initial_weights() -> None:
    torch.manual_seed(0)
    one = BertForPreTraining(preset("tiny", 2000))
    for name, weight in one.named_parameters():
        if "norm.weight" in name:
            assert torch.all(weight == 1)
        elif weight.ndim == 1:
            assert torch.all(weight == 0)
        else:
            assert weight.abs().max() <= 0.04
    words = one.encoder.embeddings.word.weight
    # A normal distribution cut at two deviations keeps 0.8796 of its deviation.
    assert abs(words.std() - 0.8796 * 0.02) < 1e-4
    torch.manual_seed(0)
    again = BertForPreTraining(preset("tiny", 2000))
    assert all(map(torch.equal, one.parameters(), again.parameters()))


def test_v01_a_text_does_not_depend_on_its_batch_mates() -> None:
    lengths = [4, 8, 1, 130, 9, 270, 33, 5, 8, 512, 260]
    one, batch = model().eval(), batch_of(lengths)
    with torch.inference_mode():
        together = one.encode(batch)
        pooled = one.encoder.pool(together, batch)
        for row in range(len(lengths)):
            alone_batch = batch.slice_sequences(row, row + 1)
            alone = one.encode(alone_batch)
            mine = together[batch.offsets[row] : batch.offsets[row + 1]]
            assert (alone - mine).abs().max() <= 1e-5
            alone_pooled = one.encoder.pool(alone, alone_batch)
            assert (alone_pooled - pooled[row]).abs().max() <= 1e-5


def test_r05_nothing_to_predict() -> None:
    one, batch = model(), batch_of([4, 6])
    logits, next_logits = one(batch, torch.empty(0, dtype=torch.long))
    assert logits.shape == (0, 50)
    assert next_logits.shape == (2, 2)
    loss = F.cross_entropy(logits, torch.empty(0, dtype=torch.long), reduction="sum")
    assert loss == 0
    loss.backward()
    for weight in one.parameters():
        assert weight.grad is None or torch.all(weight.grad == 0)


def test_training_draws_dropout_and_evaluation_does_not() -> None:
    one, batch = model(), batch_of([9, 5])
    torch.manual_seed(1)
    first = one.encode(batch)
    assert not torch.equal(first, one.encode(batch))
    torch.manual_seed(1)
    assert torch.equal(first, one.encode(batch))
    one.eval()
    assert torch.equal(one.encode(batch), one.encode(batch))


def test_bfloat16_autocast_trains() -> None:
    one, batch = model(), batch_of([9, 5, 300])
    with torch.autocast("cpu", torch.bfloat16):
        logits, next_logits = one(batch, torch.tensor([1, 2]))
    (logits.float().sum() + next_logits.float().sum()).backward()
    assert all(torch.isfinite(weight.grad).all() for weight in one.parameters())


def test_what_does_not_fit_is_refused() -> None:
    one = model()
    with pytest.raises(InputError, match="601 tokens"):
        one.encode(batch_of([601]))
    with pytest.raises(InputError, match="token id"):
        one.encode(PackedBatch.from_sequences([([50], [0])]))
