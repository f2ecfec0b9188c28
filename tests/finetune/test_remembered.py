"""What a model remembers of how its training data were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.finetune.prepare import prepare
from bertsmith.finetune.repeats import finetune
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.predict.evaluate import evaluate
from bertsmith.tasks.record import read_record
from bertsmith.tasks.registry import make_task

HEADER = "text\ta\tb\tlabel\n"


def test_labels_of_choices_are_those_of_training(model: Path, tmp_path: Path) -> None:
    settings = FinetuneSettings(task="choose", choice_columns=("a", "b"), epochs=0.1)
    data = tmp_path / "data.tsv"
    rows = [f"the plot was\tgreat\tdull {at}\t{at % 2}\n" for at in range(20)]
    data.write_text(HEADER + "".join(rows))
    prepared = prepare(make_task("choose", settings), model, data, 0)
    finetune(prepared, tmp_path / "run", settings)
    record = read_record(tmp_path / "run" / "model")
    assert record is not None
    assert record.settings.choice_labels == "number"
    other = tmp_path / "other.tsv"
    other.write_text(HEADER + "the plot was\tgreat\tdull\tA\nthe cast is\tcold\twarm\tB\n")
    with pytest.raises(InputError, match="look like letters"):
        evaluate(tmp_path / "run" / "model", other, {})
    [judged] = evaluate(tmp_path / "run" / "model", other, {"choice_labels": "letter"})
    assert [one.label for one in judged.part.examples] == [0, 1]
