"""The official files of each GLUE task: one table that everything else reads.

Columns are found by name, since the same column stands in different places in the files of one
task. Label words are what the files say; the leaderboard wants exactly these words back, so that
no number of a class is ever written or read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bertsmith.common.errors import SettingsError, nearest

NO_GOLD = "-"  # MNLI's label where the five annotators did not agree
PLACEHOLDERS = (NO_GOLD, "-1", "")  # what stands in the place of a label that is not given
LEAST, MOST = 0.0, 5.0  # range of STS-B's scores


@dataclass(frozen=True)
class Split:
    """One file of a task.

    Attributes:
        kind: what its rows are for.
        part: name of the part.
        files: its possible names; the first one that is there counts.
        columns: names of the columns of a file without a header; empty where it has one.
        output: name of its file for the leaderboard; ``<part>.tsv`` where it is empty.
    """

    kind: Literal["train", "dev", "test"]
    part: str
    files: tuple[str, ...]
    columns: tuple[str, ...] = ()
    output: str = ""


@dataclass(frozen=True)
class Layout:
    """One task.

    Attributes:
        name: as commands know it.
        title: as the paper and the leaderboard write it.
        folders: names of its folder, upper and lower case alike.
        splits: its files.
        text: names of the column with the first text, the official one first.
        pair: names of the column with the second text; empty for single texts.
        label: names of the column with the label or value.
        labels: all label words in the order of the 2018 run_classifier.py; empty for values.
        figures: names of the figures on dev.
        metric: the one that chooses the best checkpoint.
        positive: the class that F1 is about.
        index: names of the column with the row's index; rows are counted from 0 without one.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    splits: tuple[Split, ...]
    text: tuple[str, ...]
    pair: tuple[str, ...]
    label: tuple[str, ...]
    labels: tuple[str, ...]
    figures: tuple[str, ...]
    metric: str
    positive: str | None = None
    index: tuple[str, ...] = ("index", "id")


def _splits(output: str, test_too: str = "") -> tuple[Split, ...]:
    return (
        Split("train", "train", ("train.tsv",)),
        Split("dev", "dev", ("dev.tsv",)),
        Split("test", "test", ("test.tsv", *([test_too] if test_too else ())), output=output),
    )


_SENTENCES = ("sentence1",), ("sentence2",), ("label",)
_ENTAILMENT = ("entailment", "not_entailment")
_COLA_COLUMNS = ("source", "label", "mark", "sentence")
_NLI = ("contradiction", "entailment", "neutral")

# In the order of the paper's table 1.
LAYOUTS = (
    Layout(
        "mnli", "MNLI", ("MNLI", "MultiNLI"),
        (
            Split("train", "train", ("train.tsv",)),
            Split("dev", "dev", ("dev_matched.tsv",)),
            Split("dev", "dev_mismatched", ("dev_mismatched.tsv",)),
            Split("test", "test", ("test_matched.tsv",), output="MNLI-m.tsv"),
            Split("test", "test_mismatched", ("test_mismatched.tsv",), output="MNLI-mm.tsv"),
        ),
        ("sentence1",), ("sentence2",), ("gold_label", "label"), _NLI, ("accuracy",), "accuracy",
    ),
    Layout(
        "qqp", "QQP", ("QQP",), _splits("QQP.tsv"),
        ("question1",), ("question2",), ("is_duplicate",), ("0", "1"),
        ("f1", "accuracy"), "f1", positive="1",
    ),
    Layout(
        "qnli", "QNLI", ("QNLI", "QNLIv2"), _splits("QNLI.tsv"),
        ("question",), ("sentence",), ("label",), _ENTAILMENT, ("accuracy",), "accuracy",
    ),
    Layout(
        "sst2", "SST-2", ("SST-2", "SST2"), _splits("SST-2.tsv"),
        ("sentence",), (), ("label",), ("0", "1"), ("accuracy",), "accuracy",
    ),
    Layout(
        "cola", "CoLA", ("CoLA",),
        (
            Split("train", "train", ("train.tsv",), _COLA_COLUMNS),
            Split("dev", "dev", ("dev.tsv",), _COLA_COLUMNS),
            Split("test", "test", ("test.tsv",), output="CoLA.tsv"),
        ),
        ("sentence",), (), ("label",), ("0", "1"), ("matthews", "accuracy"), "matthews",
    ),
    Layout(
        "stsb", "STS-B", ("STS-B", "STSB", "STS"), _splits("STS-B.tsv"),
        ("sentence1",), ("sentence2",), ("score",), (),
        ("pearson", "spearman", "pearson_spearman"), "pearson_spearman",
    ),
    Layout(
        "mrpc", "MRPC", ("MRPC",), _splits("MRPC.tsv", "msr_paraphrase_test.txt"),
        ("#1 String",), ("#2 String",), ("Quality",), ("0", "1"),
        ("f1", "accuracy"), "f1", positive="1",
    ),
    Layout(
        "rte", "RTE", ("RTE",), _splits("RTE.tsv"), *_SENTENCES,
        _ENTAILMENT, ("accuracy",), "accuracy",
    ),
    Layout(
        "wnli", "WNLI", ("WNLI",), _splits("WNLI.tsv"), *_SENTENCES,
        ("0", "1"), ("accuracy",), "accuracy",
    ),
)  # fmt: skip

# The diagnostic set: predicted with the model of MNLI, scored by Matthews (GLUE paper, section 4).
AX = Layout(
    "ax", "AX", ("diagnostic", "diagnostics", "AX"),
    (Split("test", "ax", ("diagnostic.tsv", "diagnostic-full.tsv"), output="AX.tsv"),),
    ("sentence1", "Premise"), ("sentence2", "Hypothesis"), ("Label", "label", "gold_label"),
    _NLI, ("matthews", "accuracy"), "matthews",
)  # fmt: skip

# The files that a submission to the leaderboard has.
SUBMISSION = tuple(
    split.output for layout in (*LAYOUTS, AX) for split in layout.splits if split.output
)


def layout_of(name: str) -> Layout:
    """The layout of the task of this name: ``sst2``, ``SST-2``, ``sts-b`` and so on.

    Raises:
        SettingsError: GLUE has no such task.
    """
    known = {layout.name: layout for layout in LAYOUTS}
    wanted = name.lower().replace("-", "").replace("_", "")
    if wanted not in known:
        close = nearest(wanted, known)
        hint = f"did you mean {close!r}? " if close else ""
        raise SettingsError(
            "GLUE has no task of that name", value=name, mend=f"{hint}known: {', '.join(known)}"
        )
    return known[wanted]
