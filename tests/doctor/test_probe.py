"""The model at work."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import nn

from bertsmith.doctor import probe
from bertsmith.doctor.chart import Chart, Grade
from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data
from tests.doctor.conftest import SPECIALS, fact, only, stirred


class Leaky(nn.Module):
    """Vectors that depend on what a text is packed with."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, batch: PackedBatch) -> torch.Tensor:
        return batch.token_ids[:, None].float() + 1e-3 * len(batch)


def chart_of(observations) -> Chart:
    chart = Chart("m", "model")
    chart.add(observations)
    return chart


def test_vectors_that_depend_on_batch_mates(config: BertConfig, tokenizer: Tokenizer) -> None:
    assert not chart_of(probe.packed(stirred(Encoder(config)), tokenizer)).findings
    chart = chart_of(probe.packed(Leaky(config), tokenizer))
    assert "change with the texts around it" in only(chart, Grade.BROKEN).what


def test_a_model_that_ignores_the_text(config: BertConfig, tokenizer: Tokenizer) -> None:
    model = stirred(BertForPreTraining(config))
    assert not chart_of(probe.blanks(model, tokenizer)).findings
    with torch.no_grad():
        model.masked_lm.norm.weight.zero_()
        model.masked_lm.bias[7] += 3
    chart = chart_of(probe.blanks(model, tokenizer))
    assert "hardly depend on the text" in only(chart, Grade.WARNING).what
    assert next(iter(fact(chart, "blank")["words"])) == tokenizer.tokens[7]


def test_few_positions_are_enough(config: BertConfig, tokenizer: Tokenizer) -> None:
    short = dataclasses.replace(config, max_position_embeddings=4)
    model = stirred(BertForPreTraining(short))
    assert fact(chart_of(probe.blanks(model, tokenizer)), "blank")["words"]
    assert not chart_of(probe.packed(model.encoder, tokenizer)).findings


@pytest.mark.parametrize(
    ("name", "language"),
    [("bert-base-cased", "English"), ("bert-base-uncased", "English"),
     ("bert-base-chinese", "Chinese")],
)  # fmt: skip
def test_texts_in_the_language_of_the_vocabulary(name: str, language: str) -> None:
    found, ids = probe.texts_for(Tokenizer.load(data("vocab", name)))
    assert found == language
    assert len(ids) == 3


def test_random_pieces_for_any_other_vocabulary(tokenizer: Tokenizer) -> None:
    for one in (tokenizer, Tokenizer(SPECIALS), Tokenizer([*SPECIALS, "ꦗ", "ꦮ"])):
        found, texts = probe.texts_for(one)
        assert found is None
        assert all(ids.count(one.ids.mask) == 1 for ids in texts)
        assert texts == probe.texts_for(one)[1]
