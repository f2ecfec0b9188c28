"""Settings of tasks: how data are read, encoded and decided on."""

from __future__ import annotations

from dataclasses import dataclass

from bertsmith.common.settings import require, require_finite, setting
from bertsmith.model.layers import LAYERS

_TABLE, _TEXT, _ANSWERS, _ENTITIES = (
    "columns of your own tables",
    "sequences",
    "question answering (squad, answer)",
    "tagging (ner, tag)",
)


@dataclass(frozen=True)
class TaskSettings:
    """What decides features, predictions and scores, beside model and data."""

    max_length: int = setting(
        0, "most tokens a sequence, special tokens included; 0 for the task's own",
        unit="tokens", group=_TEXT,
    )  # fmt: skip
    strict: bool = setting(False, "refuse malformed rows also in training", group=_TEXT)

    text_column: str = setting("text", "column of the text, or of the first text", group=_TABLE)
    pair_column: str = setting("", "column of the second text, if any", group=_TABLE)
    label_column: str = setting("label", "column of the label or value", group=_TABLE)
    id_column: str = setting("", "column of ids; row numbers where it is empty", group=_TABLE)
    label_separator: str = setting(
        "", "several labels a row, set apart by this: multi-label classification", group=_TABLE
    )
    question_column: str = setting("question", "column of the question", group=_TABLE)
    context_column: str = setting("context", "column of the text with the answer", group=_TABLE)
    answer_column: str = setting("answer", "column of the answer", group=_TABLE)
    choice_columns: tuple[str, ...] = setting(
        (), "columns of the choices (repeat the flag)", group=_TABLE
    )
    choice_labels: str = setting(
        "auto", "what the labels of choices are: number (from 0), letter (from A), text of the "
        "choice, or column; auto is what fits most rows of the training file, and is kept with "
        "the model", choices=("auto", "column", "number", "letter", "text"), group=_TABLE,
    )  # fmt: skip
    header: bool = setting(True, "the first row of a TSV or CSV file names the columns; without "
        "it columns are called 1, 2, ...", group=_TABLE)  # fmt: skip
    quoting: bool = setting(
        True, "CSV quoting rules for .csv files (TSV files have none)", group=_TABLE
    )
    encoding: str = setting("utf-8", "how the bytes of a table spell characters", group=_TABLE)
    dev_percent: float = setting(
        10.0, "share of the training rows made into dev where there is none", unit="percent",
        group=_TABLE,
    )  # fmt: skip
    split_seed: int = setting(0, "seed of that split", group=_TABLE)

    doc_stride: int = setting(
        128, "a window starts this many tokens after the one before", unit="tokens", group=_ANSWERS
    )
    max_query_length: int = setting(64, "most tokens of a question", unit="tokens", group=_ANSWERS)
    n_best: int = setting(20, "answers kept a question", unit="answers", group=_ANSWERS)
    max_answer_length: int = setting(30, "most tokens of an answer", unit="tokens", group=_ANSWERS)

    feature_layers: str = setting(
        "none", "do not fine-tune: a BiLSTM over these layers of the frozen encoder (the paper's "
        "table 7; a learning rate of about 1e-3 suits it)", choices=("none", *LAYERS),
        group=_ENTITIES,
    )  # fmt: skip
    document_context: bool = setting(
        False, "fill sequences with the sentences around (the paper's maximal document context)",
        group=_ENTITIES,
    )  # fmt: skip

    def __post_init__(self) -> None:
        require_finite(self)
        require(
            self.max_length == 0 or 8 <= self.max_length <= 512,
            "max_length must be 0 or from 8 to 512 tokens", value=self.max_length,
        )  # fmt: skip
        for name in ("doc_stride", "max_query_length", "n_best", "max_answer_length"):
            require(
                getattr(self, name) >= 1, f"{name} must be at least 1", value=getattr(self, name)
            )
        require(
            0 <= self.split_seed < 1 << 31, "split_seed must be from 0 to 2147483647",
            value=self.split_seed,
        )  # fmt: skip
        require(
            0 < self.dev_percent < 100, "dev_percent must lie between 0 and 100",
            value=self.dev_percent,
        )  # fmt: skip
