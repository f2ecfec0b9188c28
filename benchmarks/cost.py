"""What BERT base and large cost on GPUs, by arithmetic from the shapes; nothing is measured here.

    python benchmarks/cost.py --peak 989e12 --reached 0.4 --near 450e9 --far 50e9

The schedule is the paper's (appendix A.2): as many sequences as a million batches of 256, nine
tenths of them of 128 tokens and one tenth of 512, 15 % of the tokens masked, 30,522 pieces: some 40
epochs over 3.3 billion words. The defaults are the figures of data sheets for eight H100 SXM a
machine: 989 TFLOP/s in bfloat16, 900 GB/s of NVLink both ways together, 400 Gb/s of network a GPU;
and 40 % of the peak reached, which is an assumption.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import torch

from bertsmith.model.config import BertConfig, preset
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.train.memory import activation_bytes
from bertsmith.train.peak import pretraining_flops

SEQUENCES = 256_000_000
PHASES = ((0.9, 128), (0.1, 512))
IN_A_MACHINE = 8
MICRO_TOKENS = 16_384
MAKING = (
    350_000  # tokens a second and core, assumed; tests/pretrain/test_batches.py asks for 150,000
)


@dataclass(frozen=True)
class Machines:
    """What a cluster can do.

    Attributes:
        peak: operations a second of a GPU.
        reached: share of that in training.
        near: bytes a second, one way, between the GPUs of a machine.
        far: bytes a second a GPU between machines.
    """

    peak: float
    reached: float
    near: float
    far: float


def parameters(config: BertConfig) -> int:
    """Weights of the model with its heads."""
    with torch.device("meta"):
        return sum(one.numel() for one in BertForPreTraining(config).parameters())


def flops(config: BertConfig, length: int) -> float:
    """Operations of a training step, a sequence."""
    return pretraining_flops(
        layers=config.num_hidden_layers, hidden=config.hidden_size,
        intermediate=config.intermediate_size, vocabulary=config.vocab_size,
        lengths=[length], masked=round(0.15 * length),
    )  # fmt: skip


def row(name: str, gpus: int, batch: int, machines: Machines) -> tuple[str, ...]:
    """One line of the table."""
    config = preset(name, 30_522)
    weights = parameters(config)
    band = machines.near if gpus <= IN_A_MACHINE else machines.far
    # A ring sends every gradient around twice, but for each process's own share.
    talk = 2 * 4 * weights * (gpus - 1) / gpus / band
    computing = talking = 0.0
    for share, length in PHASES:
        steps = share * SEQUENCES / batch
        computing += steps * batch * flops(config, length) / gpus / machines.peak / machines.reached
        talking += steps * talk
    tokens = SEQUENCES * sum(share * length for share, length in PHASES)
    days = (computing + talking) / 86_400
    making = tokens / (computing + talking) / gpus / MAKING
    fixed = 16 * weights  # weights, gradients, two moments, in float32
    own = min(MICRO_TOKENS, batch * 128 // gpus) * activation_bytes(config, 128) / 2
    return (
        name, f"{gpus}", f"{batch:,}", f"{days:.2f}", f"{talking / (computing + talking):.0%}",
        f"{(fixed + own) / 2**30:.1f}", f"{(fixed / gpus + own) / 2**30:.1f}", f"{making:.2f}",
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for field, default in (("peak", 989e12), ("reached", 0.4), ("near", 450e9), ("far", 50e9)):
        parser.add_argument(f"--{field}", type=float, default=default)
    machines = Machines(**vars(parser.parse_args()))
    head = (
        "model", "GPUs", "batch", "days", "of it talking", "GiB a GPU, ddp", "GiB a GPU, fsdp",
        "cores a GPU for batches",
    )  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name in ("base", "large"):
        config = preset(name, 30_522)
        for gpus in (8, 64):
            for batch in (256, 8192):
                print("| " + " | ".join(row(name, gpus, batch, machines)) + " |")
        per = ", ".join(f"{flops(config, length):.3g} of {length} tokens" for _, length in PHASES)
        print(f"<!-- {name}: {parameters(config):,} weights; operations a sequence: {per} -->")


if __name__ == "__main__":
    main()
