"""Scores of a fine-tuned model beside what they have to beat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.predict.test_lines import made

from bertsmith.cli.main import main
from bertsmith.common.errors import InputError, ModelError, SettingsError
from bertsmith.predict.evaluate import evaluate, show

ROWS = [("red fox", "yes"), ("fox runs", "yes"), ("far", "no"), ("red", "yes"), (" ", "no")]


def rows(path: Path, *, labelled: bool = True) -> Path:
    lines = [f"{text}\t{label}" if labelled else text for text, label in ROWS]
    path.write_text("\n".join(["text\tlabel" if labelled else "text", *lines]) + "\n")
    return path


def test_a_file_is_called_by_its_name_beside_baseline_and_interval(tmp_path: Path, capsys) -> None:
    model, out = made(tmp_path / "model", "classify"), tmp_path / "out"
    [judged] = evaluate(model, rows(tmp_path / "reviews.tsv"), {}, None, out)
    assert judged.part.name == "reviews"
    assert judged.baseline == {"accuracy": 0.6, "macro_f1": pytest.approx(0.375)}
    assert judged.interval is not None
    low, high = judged.interval
    assert low <= judged.figures["accuracy"] <= high  # type: ignore[operator]
    assert (low, high) != (judged.figures["accuracy"],) * 2
    written = json.loads((out / "metrics.json").read_text())
    assert written["baselines"] == {"reviews": judged.baseline}
    assert written["intervals"] == {"reviews": [low, high]}
    assert (out / "predictions" / "reviews.csv").exists()
    show([judged], out)
    shown = capsys.readouterr().err
    assert f"95 % bootstrap interval of accuracy over its examples {low:.4f}-{high:.4f}" in shown
    assert "0.6000" in shown
    assert "reviews: 1 examples with an empty text" in shown


def test_predictions_are_not_lost(tmp_path: Path, capsys) -> None:
    model = made(tmp_path / "model", "classify")
    data = rows(tmp_path / "new.tsv", labelled=False)
    with pytest.raises(InputError, match="the predictions would be lost") as caught:
        evaluate(model, data, {})
    assert caught.value.mend
    assert "--out" in caught.value.mend
    judged = evaluate(model, data, {}, None, tmp_path / "out")
    show(judged, tmp_path / "out")
    assert f"predictions: {tmp_path / 'out' / 'predictions'}" in capsys.readouterr().err
    assert len((tmp_path / "out" / "predictions" / "new.csv").read_text().splitlines()) == 6
    folder = tmp_path / "both"
    folder.mkdir()
    rows(folder / "dev.tsv"), rows(folder / "test.tsv", labelled=False)
    show(evaluate(model, folder, {}), None)
    assert "test: 5 predictions; it has no labels to score; they are not kept" in " ".join(
        capsys.readouterr().err.split()
    )


def test_json_has_what_the_table_shows(tmp_path: Path, capsys) -> None:
    model, out = made(tmp_path / "model", "classify"), tmp_path / "out"
    data = rows(tmp_path / "reviews.tsv")
    command = ["evaluate", str(model), "--data", str(data), "--out", str(out), "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    [judged] = evaluate(model, data, {})
    assert judged.interval is not None
    assert found == {
        "figures": {"reviews": judged.figures},
        "baselines": {"reviews": {"accuracy": 0.6, "macro_f1": pytest.approx(0.375)}},
        "metric": "accuracy",
        "intervals": {"reviews": list(judged.interval)},
    }
    assert json.loads((out / "metrics.json").read_text()) == {"task": "classify", **found}


@pytest.mark.parametrize("task", ["squad", "choose", "ner", "regress"])
def test_a_task_that_the_head_is_not_for_is_refused(tmp_path: Path, task: str) -> None:
    model = made(tmp_path / "model", "classify")
    (model / "task.json").unlink()
    with pytest.raises(ModelError, match=f"the model gives classes, {task} needs"):
        evaluate(model, rows(tmp_path / "a.tsv"), {}, task)


def test_the_name_of_a_task_is_spelled_in_any_way(tmp_path: Path) -> None:
    model, data = made(tmp_path / "model", "classify"), rows(tmp_path / "a.tsv")
    assert len(evaluate(model, data, {}, "Classify")) == 1
    with pytest.raises(ModelError, match="the model is one for classify"):
        evaluate(model, data, {}, "regress")
    with pytest.raises(SettingsError, match="this is a file"):
        evaluate(model, data, {}, None, data)
