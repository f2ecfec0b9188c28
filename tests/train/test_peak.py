from __future__ import annotations

import time

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from bertsmith.model.config import preset
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.train.peak import matmul_peak, pretraining_flops


def test_the_count_by_hand() -> None:
    """One layer, H 2, I 3, V 5; sequences of 2 and 4 tokens; 3 masked."""
    forward = (
        6 * (8 * 4 + 4 * 2 * 3) + 4 * 2 * (4 + 16) + 3 * (2 * 4 + 2 * 2 * 5) + 2 * (2 * 4 + 4 * 2)
    )
    shape = {"layers": 1, "hidden": 2, "intermediate": 3, "vocabulary": 5}
    assert pretraining_flops(**shape, lengths=[2, 4], masked=3) == 3 * forward


def test_the_count_is_that_of_the_products_made() -> None:
    """Against torch's own counter, over the model's forward and backward pass."""
    lengths = [40, 40, 64, 64]  # of whole buckets, so that attention pads nothing
    config = preset("tiny", 1000)
    model = BertForPreTraining(config).eval()
    zeros = np.zeros(sum(lengths), np.int64)
    batch = PackedBatch.from_arrays(zeros + 1, zeros, np.array(lengths))
    with FlopCounterMode(display=False) as counter:
        scores, pairs = model(batch, torch.arange(20))
        (scores.sum() + pairs.sum()).backward()
    assert counter.get_total_flops() == pretraining_flops(
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        intermediate=config.intermediate_size,
        vocabulary=config.vocab_size,
        lengths=lengths,
        masked=20,
    )


def test_the_peak_is_measured_in_the_time_given() -> None:
    started = time.perf_counter()
    peak = matmul_peak(torch.device("cpu"), torch.float32, seconds=0.2)
    assert 1e8 < peak < 1e15
    assert time.perf_counter() - started < 10
