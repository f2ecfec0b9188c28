"""Settings of a pre-training run."""

from __future__ import annotations

from dataclasses import dataclass

from bertsmith.common.errors import SettingsError
from bertsmith.common.settings import require, require_finite, setting
from bertsmith.model.config import PRESETS
from bertsmith.pretrain.masking import Masking
from bertsmith.train.optimizers import OPTIMIZERS
from bertsmith.train.parallel import LAYOUTS

_BUDGET, _MODEL, _DATA, _OPTIMIZER, _RUN = (
    "budget (one of them)",
    "model",
    "pre-training data",
    "optimizer",
    "the run",
)


@dataclass(frozen=True)
class PretrainSettings:
    """Everything that decides the result of a run, beside the corpus."""

    steps: int = setting(0, "length of the run in steps", unit="steps", group=_BUDGET)
    tokens: int = setting(0, "length of the run in tokens", unit="tokens", group=_BUDGET)
    minutes: float = setting(
        0.0, "length of the run in time; the result then depends on the speed of the machine",
        unit="minutes", group=_BUDGET,
    )  # fmt: skip

    preset: str = setting(
        "tiny", "size of the model: layers and hidden size of the published models",
        choices=tuple(PRESETS), group=_MODEL,
    )  # fmt: skip
    dropout: float = setting(0.1, "dropout in all the paper's places", group=_MODEL)
    hidden_act: str = setting(
        "gelu", "activation: gelu is the erf form, gelu_new the tanh form",
        choices=("gelu", "gelu_new"), group=_MODEL,
    )  # fmt: skip

    batch_size: int = setting(256, "global batch", unit="sequences", group=_DATA)
    lengths: tuple[int, ...] = setting(
        (128, 512), "sequence length of each phase, special tokens included (repeat the flag)",
        unit="tokens", group=_DATA,
    )  # fmt: skip
    length_shares: tuple[float, ...] = setting(
        (0.9, 0.1), "share of the budget of each phase (repeat the flag)", group=_DATA
    )
    next_sentence: bool = setting(True, "train next-sentence prediction", group=_DATA)
    short_probability: float = setting(
        0.1, "share of the pairs with a random shorter target length", group=_DATA
    )
    mask_unit: str = setting(
        "token", "what is masked together", choices=("token", "word", "span"), group=_DATA
    )
    mask_rate: float = setting(0.15, "share of the tokens to predict", group=_DATA)
    mask_share: float = setting(0.8, "share of those shown as [MASK]", group=_DATA)
    random_share: float = setting(0.1, "share of those shown as a random token", group=_DATA)
    max_predictions: int = setting(
        0, "most tokens to predict in a sequence, 0 for no limit", unit="tokens", group=_DATA
    )

    optimizer: str = setting(
        "adamw", "bert-adam is the 2018 code's Adam, without bias correction; lamb is for batches "
        "of thousands", choices=OPTIMIZERS, group=_OPTIMIZER,
    )  # fmt: skip
    learning_rate: float = setting(1e-4, "peak learning rate", group=_OPTIMIZER)
    warmup: float = setting(0.01, "share of the budget with a rising rate", group=_OPTIMIZER)
    weight_decay: float = setting(
        0.01, "decoupled weight decay, on all but biases and LayerNorm", group=_OPTIMIZER
    )
    max_gradient_norm: float = setting(1.0, "gradients are clipped to this norm", group=_OPTIMIZER)

    seed: int = setting(0, "seed of data order, masks, first weights and dropout", group=_RUN)
    precision: str = setting(
        "auto", "of the matrix products; auto is bfloat16 on GPUs that have it, else float32",
        choices=("auto", "float32", "bfloat16"), group=_RUN,
    )  # fmt: skip
    micro_tokens: int = setting(
        0, "most tokens through the model at once, 0 to choose from the memory; changes rounding "
        "and which dropout masks are drawn", unit="tokens", group=_RUN,
    )  # fmt: skip
    compile: str = setting(
        "auto", "fuse the small operations with torch.compile: auto does on GPUs, for ddp and "
        "500 steps or more; on a CPU there is nothing to gain", choices=("auto", "no"), group=_RUN,
    )  # fmt: skip
    batch_workers: int = setting(
        0, "processes that make batches, 1 for a thread of the run; 0 for a thread on a CPU, four "
        "for each GPU", unit="processes", group=_RUN, changeable=True,
    )  # fmt: skip
    parallel: str = setting(
        "ddp", "in a run of several processes: ddp has the whole model in each, fsdp a share of "
        "weights, gradients and moments", choices=LAYOUTS, group=_RUN, changeable=True,
    )  # fmt: skip
    log_every: int = setting(10, "steps between records in metrics.jsonl", unit="steps", group=_RUN)
    evaluate_every: int = setting(
        0, "steps between held-out evaluations, 0 for twenty a run", unit="steps", group=_RUN
    )
    evaluate_sequences: int = setting(
        1024, "most held-out sequences to evaluate on", unit="sequences", group=_RUN
    )
    checkpoint_every: int = setting(500, "steps between checkpoints", unit="steps", group=_RUN)
    keep_checkpoints: int = setting(3, "checkpoints kept", unit="checkpoints", group=_RUN)

    def __post_init__(self) -> None:
        require_finite(self)
        self._check_budget()
        for name in (
            "batch_size",
            "log_every",
            "checkpoint_every",
            "keep_checkpoints",
            "evaluate_sequences",
        ):
            require(
                getattr(self, name) >= 1, f"{name} must be at least 1", value=getattr(self, name)
            )
        require(0 <= self.seed < 1 << 31, "seed must be from 0 to 2147483647", value=self.seed)
        require(self.learning_rate > 0, "learning_rate must be above 0", value=self.learning_rate)
        for name in ("dropout", "short_probability", "warmup"):
            require(
                0 <= getattr(self, name) < 1, f"{name} must be in [0, 1)", value=getattr(self, name)
            )
        for name in (
            "micro_tokens",
            "evaluate_every",
            "max_predictions",
            "weight_decay",
            "batch_workers",
        ):
            require(
                getattr(self, name) >= 0, f"{name} must not be negative", value=getattr(self, name)
            )
        require(0 < self.mask_rate <= 1, "mask_rate must be in (0, 1]", value=self.mask_rate)
        shares = (self.mask_share, self.random_share)
        require(
            min(shares) >= 0 and sum(shares) <= 1 + 1e-9,
            "mask_share and random_share must not be negative nor exceed 1 together", value=shares,
        )  # fmt: skip
        self._check_phases()

    def _check_budget(self) -> None:
        budgets = {name: getattr(self, name) for name in ("steps", "tokens", "minutes")}
        given = [name for name, value in budgets.items() if value]
        require(min(budgets.values()) >= 0, "a budget must not be negative", value=budgets)
        if len(given) > 1:
            raise SettingsError(
                f"the run has more than one budget: {', '.join(given)}",
                mend="give one of --steps, --tokens and --minutes",
            )
        if not given:
            raise SettingsError(
                "the run has no budget", mend="give one of --steps, --tokens and --minutes"
            )

    def _check_phases(self) -> None:
        require(
            len(self.lengths) == len(self.length_shares) > 0,
            "lengths and length_shares must be as many",
            value=(list(self.lengths), list(self.length_shares)),
            mend="--lengths 128 --length-shares 1 is a run of one phase",
        )
        require(
            abs(sum(self.length_shares) - 1) < 1e-6 and min(self.length_shares) > 0,
            "length_shares must be above 0 and add up to 1", value=list(self.length_shares),
        )  # fmt: skip
        require(
            all(8 <= length <= 512 for length in self.lengths),
            "lengths must be from 8 to 512 tokens", value=list(self.lengths),
        )  # fmt: skip

    @property
    def masking(self) -> Masking:
        """The masking rule."""
        return Masking(
            self.mask_rate,
            self.mask_unit,
            self.mask_share,
            self.random_share,
            self.max_predictions,
        )
