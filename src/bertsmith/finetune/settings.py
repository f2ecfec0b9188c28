"""Settings of a fine-tuning run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from bertsmith.common.settings import require, setting
from bertsmith.tasks.settings import TaskSettings
from bertsmith.train.parallel import LAYOUTS

SEARCHED = ("batch_size", "learning_rate", "epochs")  # what --search tries values of
_TRAINING, _MODEL, _REPEATS, _RUN = "training", "the model", "repeats", "the run"


@dataclass(frozen=True)
class FinetuneSettings(TaskSettings):
    """Everything that decides the result of a run, beside model and data."""

    task: str = setting("", "the task", group=_TRAINING)
    epochs: float = setting(3.0, "passes over the training part", unit="epochs", group=_TRAINING)
    batch_size: int = setting(32, "batch", unit="examples", group=_TRAINING)
    learning_rate: float = setting(3e-5, "peak learning rate", group=_TRAINING)
    warmup: float = setting(0.1, "share of the steps with a rising rate", group=_TRAINING)
    weight_decay: float = setting(
        0.01, "decoupled weight decay, on all but biases and LayerNorm", group=_TRAINING
    )
    max_gradient_norm: float = setting(1.0, "gradients are clipped to this norm", group=_TRAINING)
    optimizer: str = setting(
        "stable", "stable is AdamW with bias correction; paper is the 2018 code's Adam without, "
        "whose first steps are known to spoil runs on small sets", choices=("stable", "paper"),
        group=_TRAINING,
    )  # fmt: skip
    patience: int = setting(
        0, "end the run after this many evaluations without a better dev score, 0 for never",
        unit="evaluations", group=_TRAINING,
    )  # fmt: skip

    dropout: float = setting(0.1, "dropout in all the paper's places", group=_MODEL)
    freeze_layers: int = setting(
        0, "lowest layers whose weights do not change; with them the embeddings", unit="layers",
        group=_MODEL,
    )  # fmt: skip
    lora_rank: int = setting(
        0, "train low-rank adapters of queries and values in place of the encoder (arXiv "
        "2106.09685); 0 for none", unit="rows", group=_MODEL,
    )  # fmt: skip
    lora_alpha: float = setting(16.0, "scale of the adapters, times their rank", group=_MODEL)
    lora_dropout: float = setting(0.0, "dropout of the adapters' input", group=_MODEL)
    from_scratch: bool = setting(
        False, "begin with random weights in place of the model's: what pre-training has to beat",
        group=_MODEL,
    )  # fmt: skip
    layer_decay: float = setting(
        1.0, "each layer learns at this share of the rate of the layer above", group=_MODEL
    )

    restarts: int = setting(
        1, "runs with new data order and new head; the best on dev is kept", unit="runs",
        group=_REPEATS,
    )  # fmt: skip
    search: str = setting(
        "none", "paper: batch 16 and 32, rates 5e-5, 3e-5 and 2e-5, epochs 2, 3 and 4: 18 runs "
        "(paper, appendix A.3)", choices=("none", "paper"), group=_REPEATS,
    )  # fmt: skip

    seed: int = setting(0, "seed of the new layer, data order and dropout", group=_RUN)
    precision: str = setting(
        "auto", "of the matrix products; auto is bfloat16 on GPUs that have it, else float32",
        choices=("auto", "float32", "bfloat16"), group=_RUN,
    )  # fmt: skip
    micro_tokens: int = setting(
        0, "most tokens through the model at once, 0 to choose from the memory; changes rounding "
        "and which dropout masks are drawn", unit="tokens", group=_RUN,
    )  # fmt: skip
    parallel: str = setting(
        "ddp", "in a run of several processes: ddp has the whole model in each, fsdp a share of "
        "weights, gradients and moments", choices=LAYOUTS, group=_RUN, changeable=True,
    )  # fmt: skip
    log_every: int = setting(10, "steps between records in metrics.jsonl", unit="steps", group=_RUN)
    evaluate_every: int = setting(
        0, "steps between evaluations on dev, 0 for once an epoch", unit="steps", group=_RUN
    )
    checkpoint_every: int = setting(500, "steps between checkpoints", unit="steps", group=_RUN)
    keep_checkpoints: int = setting(1, "checkpoints kept", unit="checkpoints", group=_RUN)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("batch_size", "log_every", "checkpoint_every", "keep_checkpoints", "restarts"):
            require(
                getattr(self, name) >= 1, f"{name} must be at least 1", value=getattr(self, name)
            )
        for name in ("patience", "freeze_layers", "evaluate_every", "micro_tokens", "weight_decay",
                     "lora_rank"):  # fmt: skip
            require(
                getattr(self, name) >= 0, f"{name} must not be negative", value=getattr(self, name)
            )
        for name in ("dropout", "warmup", "lora_dropout"):
            require(
                0 <= getattr(self, name) < 1, f"{name} must be in [0, 1)", value=getattr(self, name)
            )
        for name in ("epochs", "learning_rate", "max_gradient_norm"):
            require(getattr(self, name) > 0, f"{name} must be above 0", value=getattr(self, name))
        require(0 < self.layer_decay <= 1, "layer_decay must be in (0, 1]", value=self.layer_decay)
        require(0 <= self.seed < 1 << 31, "seed must be from 0 to 2147483647", value=self.seed)
        require(
            not self.lora_rank or (self.freeze_layers == 0 and self.feature_layers == "none"),
            "adapters leave the encoder as it is: --lora-rank does not go with --freeze-layers or "
            "--feature-layers",
        )
        require(
            self.search == "none" or self.restarts == 1,
            "a search has one run a setting: --search and --restarts do not go together",
        )
        for field in dataclasses.fields(self):
            require(
                self.search == "none" or field.name not in SEARCHED
                or getattr(self, field.name) == field.default,
                f"--search decides {field.name} itself", value=getattr(self, field.name),
                mend=f"leave out {', '.join(SEARCHED)}, also in a recipe; or leave out --search",
            )  # fmt: skip
