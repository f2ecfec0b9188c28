import numpy as np
import pytest
import torch

from bertsmith.common.errors import InputError
from bertsmith.model.layout import plan_layout
from bertsmith.model.packed import PackedBatch


def test_positions_and_offsets() -> None:
    batch = PackedBatch.from_sequences([([7, 8, 9], [0, 0, 1]), ([5], [0]), ([1, 2], [1, 1])])
    assert batch.token_ids.tolist() == [7, 8, 9, 5, 1, 2]
    assert batch.segment_ids.tolist() == [0, 0, 1, 0, 1, 1]
    assert batch.positions.tolist() == [0, 1, 2, 0, 0, 1]
    assert batch.lengths.tolist() == [3, 1, 2]
    assert batch.offsets.tolist() == [0, 3, 4, 6]
    assert (len(batch), batch.token_count, batch.max_length) == (3, 6, 3)
    assert all(one.dtype == torch.int64 for one in (batch.token_ids, batch.offsets))


def test_slice_is_the_batch_of_the_slice() -> None:
    rows = [([n] * n, [0] * n) for n in (4, 2, 7, 1)]
    part = PackedBatch.from_sequences(rows).slice_sequences(1, 3)
    whole = PackedBatch.from_sequences(rows[1:3])
    for name in ("token_ids", "segment_ids", "positions", "lengths", "offsets"):
        assert torch.equal(getattr(part, name), getattr(whole, name))
    assert part.max_length == 7
    with pytest.raises(InputError):
        part.slice_sequences(1, 1)


def test_moving_keeps_everything() -> None:
    batch = PackedBatch.from_sequences([([1, 2], [0, 1]), ([3], [0])])
    assert batch.to("cpu") is batch
    moved = batch.to("meta")
    assert moved.device.type == "meta"
    assert (moved.max_length, moved.token_count, len(moved)) == (2, 3, 2)


@pytest.mark.parametrize(
    ("lengths", "problem"),
    [([], "at least one"), ([3, 0], "sequence 1 of the batch is empty"), ([2], "fit together")],
)
def test_bad_lengths(lengths: list[int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        PackedBatch.from_arrays(np.ones(3, int), np.zeros(3, int), np.array(lengths, int))


def test_segments_of_another_length() -> None:
    with pytest.raises(InputError, match="sequence 0 has 2 token ids and 1 segment ids"):
        PackedBatch.from_sequences([([1, 2], [0])])


def test_check_names_what_is_wrong() -> None:
    batch = PackedBatch.from_sequences([([1, 9, 3], [0, 1, 0])])
    batch.check(10, 3, 2)
    with pytest.raises(InputError, match="3 tokens, but the model has 2 positions"):
        batch.check(10, 2, 2)
    with pytest.raises(InputError, match=r"token id .* 9 entries \(got 9\)"):
        batch.check(9, 3, 2)
    with pytest.raises(InputError, match="segment id"):
        batch.check(10, 3, 1)


def test_read_only_arrays_are_taken() -> None:
    ids = np.arange(3)
    ids.flags.writeable = False
    assert PackedBatch.from_arrays(ids, ids * 0, np.array([3])).token_ids.tolist() == [0, 1, 2]


@pytest.mark.parametrize("lengths", [[7, 7], [1], [3, 9, 9, 8, 100, 1]])
def test_layout_goes_there_and_back(lengths: list[int]) -> None:
    heads, tokens = 2, sum(lengths)
    layout = plan_layout(lengths, heads, torch.device("cpu"))
    rows = torch.arange(tokens * 3 * heads)
    assert torch.equal(rows[layout.fill][layout.empty], rows)
    rows = torch.arange(tokens * heads + 1)
    assert torch.equal(rows[layout.fill_out][layout.empty_out], rows[:-1])


def test_layout_wastes_little() -> None:
    lengths = np.random.default_rng(0).integers(1, 200, 50).tolist()
    layout = plan_layout(lengths, 1, torch.device("cpu"))
    assert sum(bucket.count for bucket in layout.buckets) == 50
    assert len(layout.fill_out) < 1.1 * sum(lengths)
