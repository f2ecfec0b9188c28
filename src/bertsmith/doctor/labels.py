"""The labels of a model with the head of a task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, counted, some
from bertsmith.model.task import Head

_PLACEHOLDER = re.compile(r"LABEL_\d+")


def labels(head: Head, config: Mapping[str, Any], where: str) -> Observations:
    """What the outputs are called.

    Args:
        head: the head, as understood.
        config: the keys of the configuration.
        where: its file's name.
    """
    yield Fact("task", head.kind, f"{head.kind}, {counted(head.outputs, 'output')}")
    if not head.labels:
        return
    yield Fact("labels", list(head.labels), some(head.labels, 8))
    if all(_PLACEHOLDER.fullmatch(one) for one in head.labels):
        yield Finding(
            Grade.WARNING,
            f"the labels are placeholders ({some(head.labels, 2)}): nothing says what an answer "
            "means",
            where,
            "write the real names into id2label and label2id",
        )
    twice = [label for label, count in Counter(head.labels).items() if count > 1]
    if twice:
        yield Finding(
            Grade.BROKEN, f"several outputs have one label: {some(map(repr, twice))}", where,
            "give each output its own label in id2label",
        )  # fmt: skip
    back = config.get("label2id")
    if isinstance(back, dict) and back and not twice:
        ids = {label: number for number, label in enumerate(head.labels)}
        wrong = [label for label in ids if back.get(label) != ids[label]]
        if wrong:
            yield Finding(
                Grade.WARNING,
                f"label2id does not undo id2label: {some(map(repr, wrong))}",
                where,
                "bertsmith goes by id2label; write label2id as its inverse",
            )
