"""Dev scores of bertsmith beside those of a plain transformers loop, on the same data and settings.

    python benchmarks/finetuning.py --data DATA --out results.jsonl cola mrpc rte
    python benchmarks/finetuning.py --out results.jsonl --table

Each (row, side, seed) is one line of the results file; those that are there are not run again. Both
sides begin with the same weights and the same new layer, and see the same batches. The plain loop
pads to the longest text of a batch; dropout is on in both, so that their scores differ as two seeds
differ. Seconds are those of the processor, of all threads together: run it with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from bertsmith.bench.models import published
from bertsmith.checkpoints.architectures import describe, table_of
from bertsmith.checkpoints.names import to_hugging_face
from bertsmith.finetune.batches import FeatureBatches
from bertsmith.finetune.model import new_model
from bertsmith.finetune.prepare import Prepared, prepare
from bertsmith.finetune.run import finetune_once
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.tasks.registry import make_task
from bertsmith.tasks.task import IGNORE, Feature
from bertsmith.train.schedule import linear_with_warmup


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table: a task, its data, how much of it, and settings."""

    task: str
    data: str
    train: int = 0  # rows of the training part, 0 for all
    settings: tuple[tuple[str, Any], ...] = ()


ROWS = {
    "cola": Row("cola", "glue/CoLA"),
    "cola-4000-no-dropout": Row("cola", "glue/CoLA", 4000, (("dropout", 0.0),)),
    "mrpc": Row("mrpc", "glue/MRPC"),
    "rte": Row("rte", "glue/RTE"),
    "stsb": Row("stsb", "glue/STS-B"),
    "sst2-5000": Row("sst2", "glue/SST-2", 5000),
    "mnli-3000": Row("mnli", "glue/MNLI", 3000),
    "qnli-3000": Row("qnli", "glue/QNLI", 3000),
    "xquad-en": Row("squad", "squad/xquad/xquad.en.json"),
    "squad2-slice": Row("squad", "squad/squad2-slice"),
    "conll2003-3000": Row("ner", "ner/conll2003", 3000),
    "codah": Row("swag", "swag/codah"),
}


def read(row: Row, data: Path, settings: FinetuneSettings) -> Prepared:
    """The data of a row, its training part cut to the first rows."""
    prepared = prepare(
        make_task(row.task, settings), published(), data / row.data, settings.max_length
    )
    if row.train:
        part = prepared.train.part
        part.examples = part.examples[: row.train]
        kept = [one for one in prepared.train.encoded.features if one.example < row.train]
        prepared.train.encoded.features = kept
    prepared.test = []
    return prepared


def ours(prepared: Prepared, settings: FinetuneSettings) -> dict[str, float | None]:
    """Figures of bertsmith after the last epoch, as the plain loop has them."""
    last = dataclasses.replace(settings, evaluate_every=10**9, checkpoint_every=10**9)
    with tempfile.TemporaryDirectory() as folder:
        summary = finetune_once(prepared, Path(folder) / "run", last)
    return summary["figures"][prepared.dev[0].part.name]


def plain(prepared: Prepared, settings: FinetuneSettings) -> dict[str, float | None]:
    """Figures of a loop over transformers' model."""
    model = their_model(prepared, settings)
    features, head = prepared.train.encoded.features, prepared.head
    batches = FeatureBatches(features, head, settings.batch_size, settings.seed)
    steps = round(settings.epochs * batches.steps_an_epoch)
    optimizer = their_optimizer(model, settings)
    torch.manual_seed(settings.seed)
    for step in range(steps):
        rate = linear_with_warmup((step + 0.5) / steps, settings.warmup)
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate
        loss = model(**padded(list(batches.batch(step).features), head.kind)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_gradient_norm)
        optimizer.step()
    outputs = their_outputs(model.eval(), prepared)
    task, dev = prepared.task, prepared.dev[0]
    tuned = task.tune(dev.part, dev.encoded, outputs, head)
    return task.score(dev.part, task.decide(dev.part, dev.encoded, outputs, head, tuned))


def their_model(prepared: Prepared, settings: FinetuneSettings) -> torch.nn.Module:
    """transformers' model with our first weights."""
    first, _ = new_model(prepared.model, prepared.head, settings)
    described = describe(first)
    config = transformers.BertConfig.from_pretrained(
        prepared.model,
        num_labels=prepared.head.outputs,
        problem_type=described.get("problem_type"),
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
    )
    model = getattr(transformers, described["architectures"][0])(config)
    state = to_hugging_face(first.state_dict(), table_of(first))
    model.load_state_dict({name: tensor.clone() for name, tensor in state.items()}, strict=False)
    return model.train()


def their_optimizer(model: torch.nn.Module, settings: FinetuneSettings) -> torch.optim.Optimizer:
    """AdamW with the usual two groups."""
    plain_ones = [
        p for name, p in model.named_parameters() if "LayerNorm" in name or "bias" in name
    ]
    known = {id(p) for p in plain_ones}
    decayed = [p for p in model.parameters() if id(p) not in known]
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": plain_ones, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, eps=1e-6)


def padded(features: list[Feature], kind: str, targets: bool = True) -> dict[str, torch.Tensor]:
    """A batch as transformers takes it, padded to its longest sequence."""
    flat = [sequence for one in features for sequence in one.sequences]
    longest = max(len(ids) for ids, _ in flat)

    def fill(rows: list[list[int]], value: int = 0) -> torch.Tensor:
        return torch.tensor([row + [value] * (longest - len(row)) for row in rows])

    inputs = {
        "input_ids": fill([list(ids) for ids, _ in flat]),
        "token_type_ids": fill([list(segments) for _, segments in flat]),
        "attention_mask": fill([[1] * len(ids) for ids, _ in flat]),
    }
    if kind == "choice":
        inputs = {name: one.view(len(features), -1, longest) for name, one in inputs.items()}
    if not targets:
        return inputs
    found = [one.target for one in features]
    if kind == "span":
        inputs["start_positions"] = torch.tensor([first for first, _ in found])
        inputs["end_positions"] = torch.tensor([last for _, last in found])
    elif kind == "tokens":
        inputs["labels"] = fill([list(one) for one in found], IGNORE)
    else:
        float_kind = kind in ("labels", "value")
        inputs["labels"] = torch.tensor(found, dtype=torch.float32 if float_kind else torch.int64)
    return inputs


def their_outputs(model: torch.nn.Module, prepared: Prepared) -> list[np.ndarray]:
    """Outputs for dev in our shapes."""
    kind, found = prepared.head.kind, []
    features = prepared.dev[0].encoded.features
    with torch.inference_mode():
        for start in range(0, len(features), 32):
            some = features[start : start + 32]
            out = model(**padded(some, kind, targets=False))
            if kind == "span":
                logits = torch.stack([out.start_logits, out.end_logits], dim=-1)
            else:
                logits = out.logits
            for one, row in zip(some, logits, strict=True):
                length = len(one.sequences[0][0])
                found.append((row[:length] if kind in ("span", "tokens") else row).numpy())
    return found


def run(name: str, seed: int, side: str, data: Path) -> dict[str, Any]:
    """One line of the results."""
    row = ROWS[name]
    settings = FinetuneSettings(
        **{"learning_rate": 5e-5, **dict(row.settings), "task": row.task, "seed": seed}
    )
    prepared = read(row, data, settings)
    started = time.process_time()
    figures = {"ours": ours, "plain": plain}[side](prepared, settings)
    return {
        "row": name,
        "side": side,
        "seed": seed,
        "metric": prepared.task.metric,
        "score": figures[prepared.task.metric],
        "figures": figures,
        "seconds": round(time.process_time() - started, 1),
        "train": len(prepared.train.encoded.features),
        "dev": len(prepared.dev[0].part.examples),
        "epochs": settings.epochs,
        "threads": torch.get_num_threads(),
        "versions": {one: version(one) for one in ("bertsmith", "torch", "transformers")},
    }


def table(results: list[dict[str, Any]]) -> str:
    """The results as Markdown: medians over seeds, and all scores."""
    lines = [
        "| task | figure | bertsmith | transformers loop | seeds "
        "| processor seconds (bertsmith, loop) |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(one["row"] for one in results):
        mine = [one for one in results if one["row"] == name]
        cells, seconds = [], []
        for side in ("ours", "plain"):
            some = sorted((one for one in mine if one["side"] == side), key=lambda one: one["seed"])
            scores = [100 * one["score"] for one in some]
            listed = ", ".join(f"{score:.1f}" for score in scores)
            cells.append(f"**{statistics.median(scores):.1f}** ({listed})" if scores else "")
            times = [one["seconds"] for one in some if one["seconds"] is not None]
            seconds.append(f"{statistics.median(times):.0f}" if times else "")
        seeds = ", ".join(str(one) for one in sorted({one["seed"] for one in mine}))
        lines.append(
            f"| {name} | {mine[0]['metric']} | {cells[0]} | {cells[1]} | {seeds} "
            f"| {', '.join(seconds) if all(seconds) else ''} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, one row at a time, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="results file (JSON Lines)")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="print the table and stop")
    arguments = parser.parse_args()
    results = []
    if arguments.out.exists():
        results = [json.loads(line) for line in arguments.out.read_text().splitlines()]
    if arguments.table:
        print(table(results))
        return
    known = {(one["row"], one["side"], one["seed"]) for one in results}
    for name in arguments.rows:
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for side in ("ours", "plain"):
                if (name, side, seed) not in known:
                    result = run(name, seed, side, arguments.data)
                    with arguments.out.open("a") as stream:
                        stream.write(json.dumps(result) + "\n")
                    print(f"{name} {side} seed {seed}: {result['score']} in {result['seconds']} s")


if __name__ == "__main__":
    main()
