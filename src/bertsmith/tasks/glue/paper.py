"""What BERT's paper reports for GLUE."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A column of the paper's table 1.

    Attributes:
        task: name of the task here.
        part: the part here that it is about.
        figure: what it measures.
        base: BERT base, in percent.
        large: BERT large, in percent.
    """

    task: str
    part: str
    figure: str
    base: float
    large: float


# Devlin et al., "BERT", arXiv 1810.04805 version 2 (NAACL 2019), table 1: test results of single
# models, scored by the GLUE server. F1 for QQP and MRPC, Spearman for STS-B, accuracy for the
# others (caption); the server's figure for CoLA is Matthews. WNLI is left out.
PAPER_TABLE_1 = (
    Published("mnli", "test", "accuracy", 84.6, 86.7),
    Published("mnli", "test_mismatched", "accuracy", 83.4, 85.9),
    Published("qqp", "test", "f1", 71.2, 72.1),
    Published("qnli", "test", "accuracy", 90.5, 92.7),
    Published("sst2", "test", "accuracy", 93.5, 94.9),
    Published("cola", "test", "matthews", 52.1, 60.5),
    Published("stsb", "test", "spearman", 85.8, 86.5),
    Published("mrpc", "test", "f1", 88.9, 89.3),
    Published("rte", "test", "accuracy", 66.4, 70.1),
)
PAPER_AVERAGE = (79.6, 82.1)  # base and large: the plain mean of the nine numbers above
