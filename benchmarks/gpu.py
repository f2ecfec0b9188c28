"""BERT on one GPU: right, and how fast beside transformers? A few minutes, one table.

    python benchmarks/gpu.py --out gpu.json

First the same model on the processor and on the GPU: losses and gradients in float32 and bfloat16,
and a short training with dropout, twice. Then base and large with 128 and 512 tokens, pre-training
and prediction, in bfloat16: bertsmith as its command runs (layers compiled where torch can), and
transformers with SDPA, compiled as a whole. All sequences are full: padding would only cost the
other side. Sides take turns in every round; figures are medians with their least and most. "Of the
peak" is the operations of the tokens (no recomputation) over the time, over the rate of the fastest
square product in bfloat16, measured by the same script. Memory is what a side holds and needs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertsmith.bench.ours.pretraining import packed
from bertsmith.bench.peers.pretraining import inputs
from bertsmith.bench.shapes import FullBatch, full_batches
from bertsmith.model.compiled import can_compile, compile_layers
from bertsmith.model.config import BertConfig, preset
from bertsmith.model.encoder import Encoder
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.objective import pretraining_sums
from bertsmith.train.loop import Trainer
from bertsmith.train.memory import choose_micro_tokens
from bertsmith.train.optimizers import build_optimizer
from bertsmith.train.peak import encoder_flops, matmul_peak, pretraining_flops

RATE = 1e-4
RAGGED = [1, 17, 128, 64, 63, 90, 2, 512, 33]
VOCABULARY = 30522


@dataclass(frozen=True)
class Row:
    """What one side of one shape reached.

    Attributes:
        work: pretraining or prediction.
        model: preset.
        length: tokens a sequence.
        side: bertsmith or transformers.
        tokens: a second, in each round.
        of_peak: median share of the peak.
        memory: bytes, those of the weights and moments counted in; 0 on a processor.
        why_not: what kept the side from running, empty where it ran.
    """

    work: str
    model: str
    length: int
    side: str
    tokens: list[float]
    of_peak: float
    memory: int
    why_not: str = ""


def half(device: torch.device) -> AbstractContextManager[Any]:
    """Matrix products in bfloat16."""
    return torch.autocast(device.type, torch.bfloat16)


def wait(device: torch.device) -> None:
    """Until all that was asked of the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


# --- Right? -----------------------------------------------------------------------------------


def small(dropout: float) -> BertConfig:
    """Two layers with heads of 64, as the published models have."""
    return BertConfig(
        vocab_size=500, num_hidden_layers=2, hidden_size=128, num_attention_heads=2,
        intermediate_size=512, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip


def ragged() -> tuple[PackedBatch, Tensor, Tensor]:
    """Sequences of very different lengths, every seventh token masked, and their labels."""
    torch.manual_seed(1)
    tokens = sum(RAGGED)
    ids = torch.randint(5, 500, (tokens,)).numpy()
    lengths = torch.tensor(RAGGED).numpy()
    positions = torch.arange(0, tokens, 7)
    batch = PackedBatch.from_arrays(ids, ids * 0, lengths)
    return batch, positions, torch.randint(5, 500, positions.shape)


def losses_and_gradients(device: torch.device, precise: bool) -> list[Tensor]:
    """Of the same weights and batch, wherever it is; on the processor, in float32."""
    torch.manual_seed(0)
    model = BertForPreTraining(small(0.0)).to(device).train()
    batch, positions, labels = ragged()
    with contextlib.nullcontext() if precise else half(device):
        words, _, pairs = model.losses(batch.to(device), positions.to(device), labels.to(device))
        assert pairs is not None
        loss = words / len(labels) + pairs.float().logsumexp(1).mean()
    found = torch.autograd.grad(loss, list(model.parameters()))
    return [one.detach().float().cpu() for one in (loss, *found)]


def apart(one: list[Tensor], other: list[Tensor]) -> float:
    """The largest relative distance of two lists of tensors, by their norms."""
    pairs = zip(one, other, strict=True)
    # Below: the gradient of the keys' biases is 0 but for rounding.
    return max(float((a - b).norm() / max(float(b.norm()), 1e-3)) for a, b in pairs)


def trained(device: torch.device, steps: int = 30) -> list[float]:
    """Losses of a short training with dropout, in bfloat16, the layers compiled where they can."""
    torch.manual_seed(0)
    model = BertForPreTraining(small(0.1)).to(device).train()
    if can_compile(device):
        compile_layers(model.encoder)
    trainer = new_trainer(model, 10**6)
    batch = packed(full_batches(500, 8, 64)[0])
    return [trainer.step(number, batch, 1e-3).loss for number in range(steps)]


def check(device: torch.device) -> bool:
    """Print what was compared, and whether all of it held."""
    expected = losses_and_gradients(torch.device("cpu"), precise=True)
    exact = apart(losses_and_gradients(device, precise=True), expected)
    rough = apart(losses_and_gradients(device, precise=False), expected)
    first, second = trained(device), trained(device)
    held = {
        f"float32 is that of the processor: {exact:.1e} apart, 1e-4 allowed": exact < 1e-4,
        f"bfloat16 is near it: {rough:.1e} apart, 5e-2 allowed": rough < 5e-2,
        f"it learns with dropout: {first[0]:.2f} to {first[-1]:.2f}": first[-1] < first[0] - 1,
        f"and again: {max(abs(a - b) for a, b in zip(first, second, strict=True)):.1e} apart": (
            max(abs(a - b) for a, b in zip(first, second, strict=True)) < 0.05
        ),
    }
    for text, holds in held.items():
        print(("ok    " if holds else "WRONG ") + text)
    return all(held.values())


# --- Fast? ------------------------------------------------------------------------------------


def new_trainer(model: BertForPreTraining, micro_tokens: int) -> Trainer[Any]:
    """The trainer of a run with default settings, in bfloat16."""
    optimizer = build_optimizer("adamw", model.named_parameters(), RATE)
    return Trainer(model, pretraining_sums, optimizer, 0, micro_tokens, 1.0, torch.bfloat16)


def ours(
    work: str, config: BertConfig, made: list[FullBatch], device: torch.device
) -> Iterator[None]:
    """Steps, or forward passes, of bertsmith."""
    length = made[0].ids.shape[1]
    numbers = count()
    batches = [packed(one) for one in made]
    if work == "pretraining":
        model = BertForPreTraining(config).to(device).train()
        if can_compile(device):
            compile_layers(model.encoder)
        trainer = new_trainer(model, choose_micro_tokens(config, length))
        while True:
            number = next(numbers)
            trainer.step(number, batches[number % len(batches)], RATE)
            yield
    encoder = Encoder(config).to(device).eval()
    if can_compile(device):
        compile_layers(encoder)
    while True:
        with torch.inference_mode(), half(device):
            encoder(batches[next(numbers) % len(batches)].packed.to(device))
        yield


def theirs(
    work: str, config: BertConfig, made: list[FullBatch], device: torch.device
) -> Iterator[None]:
    """The same with transformers: SDPA, compiled."""
    import transformers

    shape = transformers.BertConfig(
        vocab_size=config.vocab_size, num_hidden_layers=config.num_hidden_layers,
        hidden_size=config.hidden_size, num_attention_heads=config.num_attention_heads,
        intermediate_size=config.intermediate_size, attn_implementation="sdpa",
    )  # fmt: skip
    batches = [{key: value.to(device) for key, value in inputs(one).items()} for one in made]
    numbers = count()
    compiled: Callable[[Any], Any] = torch.compile if can_compile(device) else lambda model: model
    if work == "pretraining":
        plain = transformers.BertForPreTraining(shape).to(device).train()
        model = compiled(plain)
        optimizer = torch.optim.AdamW(plain.parameters(), lr=RATE, fused=True)
        while True:
            with half(device):
                loss = model(**batches[next(numbers) % len(batches)]).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            yield
    encoder = compiled(transformers.BertModel(shape).to(device).eval())
    while True:
        one = batches[next(numbers) % len(batches)]
        with torch.inference_mode(), half(device):
            encoder(one["input_ids"], one["attention_mask"], one["token_type_ids"])
        yield


SIDES = {"bertsmith": ours, "transformers": theirs}


@dataclass
class Running:
    """A side at work.

    Attributes:
        steps: makes one at each turn.
        held: bytes it holds between steps.
        peak: bytes it needs in a step, those held counted in.
    """

    steps: Iterator[None]
    held: int = 0
    peak: int = 0

    def begin(self, device: torch.device) -> None:
        """Two steps, which compile and make the moments; sets the memory."""
        before = allocated(device)
        next(self.steps)
        wait(device)
        self.held = allocated(device) - before
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        next(self.steps)
        wait(device)
        if device.type == "cuda":
            self.peak = torch.cuda.max_memory_allocated(device) - before

    def go(self, device: torch.device, seconds: float) -> float:
        """Steps a second over at least so many seconds."""
        made, started = 0, time.perf_counter()
        while not made or time.perf_counter() < started + seconds:
            next(self.steps)
            wait(device)
            made += 1
        return made / (time.perf_counter() - started)


def allocated(device: torch.device) -> int:
    """Bytes of tensors on a GPU, 0 for a processor."""
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else 0


def flops(work: str, config: BertConfig, one: FullBatch) -> float:
    """Operations of a step."""
    lengths = [one.ids.shape[1]] * len(one.ids)
    if work == "prediction":
        return encoder_flops(
            layers=config.num_hidden_layers, hidden=config.hidden_size,
            intermediate=config.intermediate_size, lengths=lengths,
        )  # fmt: skip
    return pretraining_flops(
        layers=config.num_hidden_layers, hidden=config.hidden_size,
        intermediate=config.intermediate_size, vocabulary=config.vocab_size,
        lengths=lengths, masked=len(one.labels),
    )  # fmt: skip


def compare(
    work: str, name: str, length: int, device: torch.device, peak: float,
    arguments: argparse.Namespace,
) -> list[Row]:  # fmt: skip
    """Both sides of one shape; one that fails gets a row that says why."""
    config = preset(name, arguments.vocabulary)
    made = full_batches(arguments.vocabulary, max(1, arguments.tokens // length), length)
    running, failed = {}, {}
    for side, begin in SIDES.items():
        try:
            running[side] = Running(begin(work, config, made, device))
            running[side].begin(device)
        except (RuntimeError, ImportError) as error:  # out of memory, no compiler, no package
            del running[side]
            failed[side] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    speeds: dict[str, list[float]] = {side: [] for side in running}
    for _ in range(arguments.rounds):
        for side, one in running.items():
            speeds[side].append(one.go(device, arguments.seconds))
    tokens, needed = made[0].ids.size, flops(work, config, made[0])
    rows = [
        Row(
            work, name, length, side, [speed * tokens for speed in some],
            statistics.median(some) * needed / peak, running[side].peak,
        )
        for side, some in speeds.items()
    ]  # fmt: skip
    return rows + [Row(work, name, length, side, [], 0.0, 0, why) for side, why in failed.items()]


def table(rows: list[Row]) -> str:
    """The rows as Markdown; a ratio is the median over the rounds of the ratios within one."""
    lines = [
        "| work | model | tokens | side | tokens a second (min-max) | times transformers | "
        "of the peak | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        shape = f"| {row.work} | {row.model} | {row.length} | {row.side} "
        if row.why_not:
            lines.append(f"{shape}| did not run: {row.why_not} | | | |")
            continue
        other = [
            one.tokens for one in rows
            if (one.work, one.model, one.length) == (row.work, row.model, row.length)
            and one.side == "transformers" and one.tokens
        ]  # fmt: skip
        ratio = ""
        if other and row.side != "transformers":
            ratios = [a / b for a, b in zip(row.tokens, other[0], strict=True)]
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        lines.append(
            f"{shape}| {statistics.median(row.tokens):,.0f} "
            f"({min(row.tokens):,.0f}-{max(row.tokens):,.0f}) | {ratio} | {row.of_peak:.0%} "
            f"| {row.memory / 2**30:.1f} GiB |"
        )
    return "\n".join(lines)


def main() -> int:
    """Check, measure, print and write; 1 where a check failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--models", nargs="+", default=["base", "large"], help="presets")
    parser.add_argument("--lengths", nargs="+", type=int, default=[128, 512], help="in tokens")
    parser.add_argument("--tokens", type=int, default=32768, help="in a batch")
    parser.add_argument("--vocabulary", type=int, default=VOCABULARY, help="pieces")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a side in a round")
    parser.add_argument("--minutes", type=float, default=8.0, help="no shape is begun after that")
    parser.add_argument("--out", type=Path, help="file for all figures, JSON")
    arguments = parser.parse_args()
    started = time.perf_counter()
    device = torch.device(arguments.device)
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else "a processor"
    print(f"{card}, torch {torch.__version__}")
    right = check(device)
    peak = matmul_peak(device, torch.bfloat16, seconds=2.0)
    print(f"peak of square products in bfloat16: {peak / 1e12:,.1f} TFLOP/s\n")
    rows: list[Row] = []
    for work in ("pretraining", "prediction"):
        for name in arguments.models:
            for length in arguments.lengths:
                if time.perf_counter() > started + 60 * arguments.minutes:
                    print(f"left out for time: {work} of {name}, {length} tokens")
                    continue
                found = compare(work, name, length, device, peak, arguments)
                print(f"{work} of {name}, {length} tokens: done", file=sys.stderr)
                rows += found
                if device.type == "cuda":
                    torch.cuda.empty_cache()
    print(table(rows))
    if arguments.out is not None:
        record = {
            "card": card, "torch": torch.__version__, "peak": peak, "right": right,
            "rows": [asdict(row) for row in rows],
        }  # fmt: skip
        arguments.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
