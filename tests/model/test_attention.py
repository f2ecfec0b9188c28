import pytest
import torch
import torch.nn.functional as F

from bertsmith.model import attention
from bertsmith.model.attention import attend, attend_ragged
from bertsmith.model.packed import PackedBatch

LENGTHS = [3, 40, 38, 1, 41, 300, 20, 290]


def batch_of(lengths: list[int]) -> PackedBatch:
    return PackedBatch.from_sequences([([1] * n, [0] * n) for n in lengths])


def one_by_one(qkv: torch.Tensor, batch: PackedBatch) -> torch.Tensor:
    parts = []
    for part in qkv.split(batch.lengths.tolist()):
        q, k, v = part.permute(1, 2, 0, 3)
        parts.append(F.scaled_dot_product_attention(q, k, v).transpose(0, 1))
    return torch.cat(parts)


@pytest.mark.parametrize("lengths", [LENGTHS, [5], [6, 6, 6], [2, 1], [1, 1]])
@pytest.mark.parametrize(("long", "few"), [(1, 0), (256, 3), (10_000, 0)])
def test_equals_attention_on_each_sequence(
    lengths: list[int], long: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "_LONG", long)
    monkeypatch.setattr(attention, "_FEW", few)
    torch.manual_seed(0)
    batch = batch_of(lengths)
    qkv = torch.randn(batch.token_count, 3, 2, 8, requires_grad=True)
    weight = torch.randn(batch.token_count, 2, 8)
    ours = attend(qkv, batch)
    (gradient,) = torch.autograd.grad((ours * weight).sum(), qkv)
    theirs = one_by_one(qkv, batch)
    (expected,) = torch.autograd.grad((theirs * weight).sum(), qkv)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("p", [0.0, 0.4])
def test_gradient_with_dropout(p: float) -> None:
    batch = batch_of([3, 5, 1, 5])
    qkv = torch.randn(14, 3, 2, 4, dtype=torch.float64, requires_grad=True)

    def seeded(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(4)
        return attend(x, batch, p)

    assert torch.autograd.gradcheck(seeded, qkv)


def test_dropout_keeps_the_mean() -> None:
    torch.manual_seed(0)
    batch = batch_of([30, 28])
    qkv = torch.randn(58, 3, 1, 4)
    qkv[:, 2] = 1.0
    runs = torch.stack([attend(qkv, batch, 0.3) for _ in range(300)])
    assert runs.std() > 0.05
    assert abs(runs.mean() - 1) < 0.02


def test_half_precision() -> None:
    torch.manual_seed(0)
    batch = batch_of(LENGTHS)
    qkv = torch.randn(batch.token_count, 3, 2, 8)
    exact = attend(qkv, batch)
    half = qkv.bfloat16().requires_grad_()
    out = attend(half, batch, 0.1)
    assert out.dtype == torch.bfloat16
    out.sum().backward()
    torch.testing.assert_close(attend(half, batch).float(), exact, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("lengths", [LENGTHS, [5], [2, 1]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_ragged_tensors_keep_sequences_apart(lengths: list[int], dtype: torch.dtype) -> None:
    """The way of GPUs in training: the same packing, without their kernel."""
    torch.manual_seed(0)
    batch = batch_of(lengths)
    qkv = torch.randn(batch.token_count, 3, 2, 8).to(dtype).requires_grad_()
    weight = torch.randn(batch.token_count, 2, 8).to(dtype)
    parts = (part.contiguous() for part in qkv.unbind(1))
    ours = attend_ragged(*parts, batch, 0.0)
    (gradient,) = torch.autograd.grad((ours * weight).sum(), qkv)
    theirs = one_by_one(qkv, batch)
    (expected,) = torch.autograd.grad((theirs * weight).sum(), qkv)
    rounding = 1e-5 if dtype == torch.float32 else 0.02
    torch.testing.assert_close(ours, theirs, rtol=rounding, atol=rounding)
    torch.testing.assert_close(gradient, expected, rtol=rounding, atol=4 * rounding)


def test_ragged_tensors_drop_out() -> None:
    batch = batch_of([30, 28])
    q, k = torch.randn(58, 1, 4), torch.randn(58, 1, 4)
    v = torch.ones(58, 1, 4)
    torch.manual_seed(3)
    runs = torch.stack([attend_ragged(q, k, v, batch, 0.3) for _ in range(300)])
    assert runs.std() > 0.05
    assert abs(float(runs.mean()) - 1) < 0.01
    torch.manual_seed(3)
    assert torch.equal(attend_ragged(q, k, v, batch, 0.3), runs[0])
