"""The same weights give the same numbers as transformers' BertForPreTraining."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

from bertsmith.checkpoints.names import from_hugging_face, pretraining_table, to_hugging_face
from bertsmith.model.config import PRESETS, BertConfig, parameter_count, preset
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining

TOLERANCE = 1e-5


def pair_of_models(config: BertConfig) -> tuple[BertForPreTraining, transformers.BertModel]:
    torch.manual_seed(1)
    theirs = transformers.BertForPreTraining(transformers.BertConfig(**config.to_mapping())).eval()
    with torch.no_grad():
        for weight in theirs.parameters():  # no bias is 0 and no LayerNorm 1: all must matter
            weight.add_(0.05 * torch.randn_like(weight))
    ours = BertForPreTraining(config).eval()
    ours.load_state_dict(
        from_hugging_face(theirs.state_dict(), pretraining_table(config.num_hidden_layers))
    )
    return ours, theirs


def ragged(config: BertConfig, lengths: list[int], seed: int = 0) -> tuple[PackedBatch, np.ndarray]:
    rng = np.random.default_rng(seed)
    ids = [rng.integers(1, config.vocab_size, n).tolist() for n in lengths]
    segments = [(np.arange(n) >= rng.integers(0, n + 1)).astype(int).tolist() for n in lengths]
    batch = PackedBatch.from_sequences(list(zip(ids, segments, strict=True)))
    masked = np.flatnonzero(rng.random(batch.token_count) < 0.2)
    return batch, masked if len(masked) else np.array([0])


def padded(batch: PackedBatch) -> dict[str, torch.Tensor]:
    shape = (len(batch), batch.max_length)
    names = ("input_ids", "token_type_ids", "attention_mask")
    inputs = {name: torch.zeros(shape, dtype=torch.long) for name in names}
    for row, (a, z) in enumerate(zip(batch.offsets[:-1], batch.offsets[1:], strict=True)):
        inputs["input_ids"][row, : z - a] = batch.token_ids[a:z]
        inputs["token_type_ids"][row, : z - a] = batch.segment_ids[a:z]
        inputs["attention_mask"][row, : z - a] = 1
    return inputs


RAGGED = np.random.default_rng(5).integers(1, 129, 12).tolist()
SHAPES = {
    "tiny": (2, 128, 2, 512, "gelu", RAGGED),
    "deeper, tanh form": (4, 64, 4, 96, "gelu_new", [1, 2, 64, 128, 5, 5]),
    "one token": (1, 32, 2, 64, "gelu", [1]),
    "equal lengths": (2, 96, 3, 100, "relu", [17] * 4),
    "long": (1, 64, 1, 128, "gelu", [512, 30, 300]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_hidden_states_logits_losses_and_every_gradient(name: str) -> None:
    layers, width, heads, inner, act, lengths = SHAPES[name]
    config = BertConfig(
        vocab_size=211, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=inner, hidden_act=act, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    ours, theirs = pair_of_models(config)
    batch, masked = ragged(config, lengths)
    rng = np.random.default_rng(9)
    words = torch.from_numpy(rng.integers(0, config.vocab_size, len(masked)))
    follows = torch.from_numpy(rng.integers(0, 2, len(batch)))
    inputs = padded(batch)
    real = inputs["attention_mask"].bool()

    logits, next_logits = ours(batch, torch.from_numpy(masked))
    masked_loss = F.cross_entropy(logits, words, reduction="sum") / len(masked)
    next_loss = F.cross_entropy(next_logits, follows, reduction="sum") / len(batch)
    (masked_loss + next_loss).backward()

    out = theirs(**inputs, output_hidden_states=True)
    their_logits = out.prediction_logits[real][masked]
    their_masked = F.cross_entropy(their_logits, words)
    their_next = F.cross_entropy(out.seq_relationship_logits, follows)
    labels = torch.full(real.shape, -100)
    flat = torch.full((batch.token_count,), -100)
    flat[masked] = words
    labels[real] = flat
    their_sum = theirs(**inputs, labels=labels, next_sentence_label=follows).loss
    (their_masked + their_next).backward()

    close = {"rtol": TOLERANCE, "atol": TOLERANCE}
    torch.testing.assert_close(ours.encode(batch), out.hidden_states[-1][real], **close)
    torch.testing.assert_close(logits, their_logits, **close)
    torch.testing.assert_close(next_logits, out.seq_relationship_logits, **close)
    torch.testing.assert_close(masked_loss, their_masked, **close)
    torch.testing.assert_close(next_loss, their_next, **close)
    torch.testing.assert_close(masked_loss + next_loss, their_sum, **close)

    gradients = {key: weight.grad for key, weight in ours.named_parameters()}
    named = to_hugging_face(gradients, pretraining_table(config.num_hidden_layers))
    their_gradients = {key: weight.grad for key, weight in theirs.named_parameters()}
    assert named.keys() == their_gradients.keys()
    for key, gradient in their_gradients.items():
        torch.testing.assert_close(named[key], gradient, **close, msg=lambda m, k=key: f"{k}: {m}")
        # Small gradients must agree too, down to those that are 0 but for rounding: of key biases,
        # and of queries and keys where a sequence has one token.
        assert (named[key] - gradient).norm() <= 1e-4 * gradient.norm() + 1e-7, key


@pytest.mark.parametrize("name", PRESETS)
def test_parameter_counts(name: str) -> None:
    config = preset(name, 30522)
    with torch.device("meta"):
        theirs = transformers.BertForPreTraining(transformers.BertConfig(**config.to_mapping()))
    encoder = sum(weight.numel() for weight in theirs.bert.parameters())
    assert parameter_count(config) == encoder
    assert parameter_count(config, heads=True) == theirs.num_parameters()


def test_published_parameter_counts() -> None:
    assert parameter_count(preset("base", 30522)) == 109_482_240
    assert parameter_count(preset("large", 30522)) == 335_141_888


def test_parameter_count_is_that_of_the_module() -> None:
    config = preset("tiny", 1000)
    model = BertForPreTraining(config)
    assert sum(weight.numel() for weight in model.parameters()) == parameter_count(config, True)
