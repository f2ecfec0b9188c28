"""Fine-tuning runs: they learn, they are kept and resumed, and others read what they write."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from bertsmith.checkpoints.directory import load_task_model
from bertsmith.common.errors import InputError, SettingsError
from bertsmith.finetune.model import new_model, optimizer_of, rate_scale
from bertsmith.finetune.prepare import Prepared, prepare
from bertsmith.finetune.repeats import finetune, plan_runs
from bertsmith.finetune.run import _Run, finetune_once
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.predict.evaluate import evaluate
from bertsmith.reports.html import write_report
from bertsmith.tasks.outputs import model_outputs
from bertsmith.tasks.registry import make_task
from bertsmith.train import session

SETTINGS = FinetuneSettings(
    task="cola", epochs=6, batch_size=16, learning_rate=2e-3, checkpoint_every=20, log_every=1
)


def prepared(model: Path, data: Path, settings: FinetuneSettings = SETTINGS) -> Prepared:
    return prepare(make_task("cola", settings), model, data, settings.max_length)


@pytest.fixture(scope="module")
def run(model: Path, cola: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    finetune(prepared(model, cola), out, SETTINGS)
    return out


def test_a_run_learns_and_writes_what_it_promises(run: Path) -> None:
    summary = json.loads((run / "summary.json").read_text())
    assert summary["learned"] is True
    assert summary["score"] > 0.9
    assert summary["score"] > summary["baselines"]["matthews"]
    low, high = summary["interval"]
    assert low <= summary["score"] <= high
    assert summary["data"]["train"]["examples"] == 200
    assert json.loads((run / "metrics.json").read_text())["figures"]["dev"]["matthews"] > 0.9
    lines = (run / "predictions" / "CoLA.tsv").read_text().splitlines()
    assert lines[0] == "index\tprediction"
    assert [line.split("\t")[0] for line in lines[1:]] == [str(at) for at in range(30)]
    assert {line.split("\t")[1] for line in lines[1:]} == {"0", "1"}
    page = (run / "report.html").read_text()
    assert "Confusion on dev" in page
    assert "matthews on dev" in page


def test_transformers_reads_the_model(run: Path, model: Path, cola: Path) -> None:
    ours = load_task_model(run / "model").model
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(run / "model").eval()
    assert theirs.config.id2label == {0: "0", 1: "1"}
    dev = prepared(model, cola).dev[0].encoded.features
    outputs = model_outputs(ours, dev, ours.spec, 1000)
    for feature, output in zip(dev[:10], outputs[:10], strict=True):
        ids, segments = feature.sequences[0]
        inputs = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([segments])}
        with torch.inference_mode():
            np.testing.assert_allclose(output, theirs(**inputs).logits[0].numpy(), atol=1e-5)
    pipe = transformers.pipeline("text-classification", model=str(run / "model"))
    assert pipe("the film is great .")[0]["label"] == "1"


def test_a_model_of_transformers_is_evaluated(run: Path, cola: Path, tmp_path: Path) -> None:
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(run / "model")
    theirs.save_pretrained(tmp_path / "theirs")
    load_task_model(run / "model").tokenizer.save(tmp_path / "theirs")
    scored = evaluate(tmp_path / "theirs", cola, {}, "cola", tmp_path / "out")
    known = json.loads((run / "metrics.json").read_text())["figures"]["dev"]
    assert scored[0].figures == known
    written = (tmp_path / "out" / "predictions" / "CoLA.tsv").read_bytes()
    assert written == (run / "predictions" / "CoLA.tsv").read_bytes()


SCORES = (0.1, 0.9, 0.5, 0.4, 0.3, 0.2)  # an evaluation every 13 steps


def scored(monkeypatch: pytest.MonkeyPatch, scores: tuple[float, ...]) -> None:
    """Let dev have these scores, then its own."""
    kind, left = type(make_task("cola", SETTINGS)), iter(scores)
    real = kind.score

    def made(self, part, predictions):
        figures = real(self, part, predictions)
        return {**figures, "matthews": next(left, figures["matthews"])}

    monkeypatch.setattr(kind, "score", made)
    monkeypatch.setattr("bertsmith.tasks.interval._SAMPLES", 1)


def test_the_best_model_is_kept_not_the_last(
    model: Path, cola: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score on dev is made to fall after the second epoch: the model of that epoch stays."""
    whole = prepared(model, cola)
    with monkeypatch.context() as patch:
        scored(patch, SCORES)
        summary = finetune_once(whole, tmp_path / "six", SETTINGS)
    assert summary["kept_step"] == 26
    scored(monkeypatch, SCORES)
    two = dataclasses.replace(SETTINGS, patience=2)
    summary = finetune_once(whole, tmp_path / "patient", two)
    assert (summary["kept_step"], summary["steps"]) == (26, 52)


class Killed(BaseException):
    """As sudden as a signal."""


@pytest.mark.parametrize("patience", [0, 2])
def test_r01_resume_is_bit_for_bit(
    run: Path,
    model: Path,
    cola: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: int,
) -> None:
    """R01: killed inside a later epoch and started again: same losses, same weights, dropout on."""
    settings = dataclasses.replace(SETTINGS, patience=patience)
    whole = prepared(model, cola)
    steps = finetune_once(whole, tmp_path / "whole", settings)["steps"]
    assert steps > 30  # the last checkpoint and two evaluations lie before the kill
    kill_at(monkeypatch, steps - 5)
    with pytest.raises(Killed):
        finetune_once(whole, tmp_path / "broken", settings)
    monkeypatch.undo()
    summary = finetune_once(whole, tmp_path / "broken", settings)

    def losses(name: str) -> list[tuple]:
        lines = map(json.loads, (tmp_path / name / "metrics.jsonl").read_text().splitlines())
        return [(one["step"], one.get("loss"), one.get("held_out")) for one in lines]

    assert losses("broken") == losses("whole")
    weights = [
        load_file(tmp_path / one / "model" / "model.safetensors") for one in ("broken", "whole")
    ]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[1])
    known = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert {**summary, "seconds": 0} == {**known, "seconds": 0}


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    real = session.Session._step

    def dying(self, number, batch, bar):
        if number == step:
            raise Killed
        real(self, number, batch, bar)

    monkeypatch.setattr(session.Session, "_step", dying)


@pytest.mark.parametrize("edit", ["lower", "higher", "gone"])
def test_the_best_score_does_not_hang_on_the_log(
    model: Path, cola: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: str
) -> None:
    """Scores in a damaged log decided which model was kept after a resume."""
    whole, out = prepared(model, cola), tmp_path / "run"
    with monkeypatch.context() as patch:
        scored(patch, SCORES)
        kill_at(patch, 45)
        with pytest.raises(Killed):
            finetune_once(whole, out, SETTINGS)
    kept = (out / "model" / "model.safetensors").read_bytes()
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    for one in records:
        if "held_out" in one:
            one["held_out"]["matthews"] = -0.9 if edit == "lower" else 0.99
    records = [one for one in records if edit != "gone" or "held_out" not in one]
    (out / "metrics.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    scored(monkeypatch, SCORES[3:])
    assert finetune_once(whole, out, SETTINGS)["kept_step"] == 26
    assert (out / "model" / "model.safetensors").read_bytes() == kept


def test_a_run_out_of_patience_that_is_killed_makes_no_more_steps(
    model: Path, cola: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between its last checkpoint and its summary, it trained on."""
    whole, settings = prepared(model, cola), dataclasses.replace(SETTINGS, patience=2)
    with monkeypatch.context() as patch:
        scored(patch, SCORES)
        patch.setattr(_Run, "_finish", dying_finish)
        with pytest.raises(Killed):
            finetune_once(whole, tmp_path / "run", settings)
    scored(monkeypatch, (SCORES[3],))
    summary = finetune_once(whole, tmp_path / "run", settings)
    assert (summary["kept_step"], summary["steps"]) == (26, 52)


def dying_finish(run: _Run) -> None:
    raise Killed


def test_what_a_run_began_with_is_checked(
    run: Path, model: Path, cola: Path, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="seed was 0 and is 1"):
        finetune_once(prepared(model, cola), run, dataclasses.replace(SETTINGS, seed=1))
    other = tmp_path / "CoLA"
    other.mkdir()
    for path in cola.iterdir():
        (other / path.name).write_text(path.read_text().replace("great", "fine"))
    with pytest.raises(InputError, match="the data is not the one"):
        finetune_once(prepared(model, other), run, SETTINGS)


def test_restarts_are_compared_and_the_best_is_kept(
    model: Path, cola: Path, tmp_path: Path
) -> None:
    settings = dataclasses.replace(SETTINGS, restarts=3, epochs=6)
    summary = finetune(prepared(model, cola), tmp_path / "runs", settings)
    scores = summary["runs"]
    assert list(scores) == ["seed0", "seed1", "seed2"]
    sound = [score for name, score in scores.items() if name not in summary["degenerate_runs"]]
    assert summary["score"] == max(sound)
    assert summary["spread"]["mean"] == pytest.approx(np.mean(sound))
    if len(sound) > 1:
        assert summary["spread"]["standard_deviation"] == pytest.approx(np.std(sound, ddof=1))
    best = tmp_path / "runs" / "runs" / summary["best_run"] / "model" / "model.safetensors"
    kept = tmp_path / "runs" / "model" / "model.safetensors"
    assert kept.read_bytes() == best.read_bytes()
    page = (tmp_path / "runs" / "report.html").read_text()
    assert all(name in page for name in scores)
    assert "restarts = 3" in page
    assert write_report(tmp_path / "runs").exists()


def test_the_papers_search_is_18_runs() -> None:
    plan = plan_runs(FinetuneSettings(task="cola", search="paper"))
    assert len(plan) == len({name for name, _ in plan}) == 18
    assert {one.batch_size for _, one in plan} == {16, 32}
    assert {one.learning_rate for _, one in plan} == {5e-5, 3e-5, 2e-5}
    assert {one.epochs for _, one in plan} == {2.0, 3.0, 4.0}


def test_a_run_that_learns_nothing_is_called_degenerate(model: Path, cola: Path, tmp_path) -> None:
    settings = dataclasses.replace(SETTINGS, learning_rate=1e-9, epochs=2)
    summary = finetune(prepared(model, cola), tmp_path / "none", settings)
    assert summary["learned"] is False
    assert "degenerate" in summary["verdict"]


def test_the_baseline_does_not_warn(model: Path, cola: Path, tmp_path: Path, capsys) -> None:
    """A constant guess has no Matthews; that is not said of a model that learnt."""
    settings = dataclasses.replace(SETTINGS, evaluate_every=1000)
    summary = finetune(prepared(model, cola), tmp_path / "run", settings)
    assert summary["score"] > 0.9
    assert "all predictions are the same" not in capsys.readouterr().err


def test_frozen_layers_stay_and_the_others_learn(model: Path, cola: Path, tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, freeze_layers=1, epochs=1)
    finetune(prepared(model, cola), tmp_path / "frozen", settings)
    before = load_file(model / "model.safetensors")
    after = load_file(tmp_path / "frozen" / "model" / "model.safetensors")
    same = {name for name in after if name in before and torch.equal(after[name], before[name])}
    frozen = {name for name in after if ".embeddings." in name or ".layer.0." in name}
    assert same == frozen
    with pytest.raises(SettingsError, match="has 2 layers"):
        finetune(
            prepared(model, cola), tmp_path / "more", dataclasses.replace(settings, freeze_layers=3)
        )


def test_layers_learn_at_their_share_of_the_rate(model: Path, cola: Path) -> None:
    scale = rate_scale(2, 0.5)
    assert scale("head.weight") == scale("encoder.pooler.bias") == 1.0
    assert scale("encoder.layers.1.qkv.weight") == 0.5
    assert scale("encoder.layers.0.qkv.weight") == 0.25
    assert scale("encoder.embeddings.word.weight") == 0.125
    settings = dataclasses.replace(SETTINGS, layer_decay=0.5)
    made, _ = new_model(model, prepared(model, cola).head, settings)
    groups = optimizer_of(made, settings).param_groups
    assert sum(len(group["params"]) for group in groups) == len(list(made.parameters()))
    assert {group["rate_scale"] for group in groups} == {1.0, 0.5, 0.25, 0.125}


def test_from_scratch_takes_none_of_the_weights(model: Path, cola: Path) -> None:
    head = prepared(model, cola).head
    scratch, report = new_model(model, head, dataclasses.replace(SETTINGS, from_scratch=True))
    started, _ = new_model(model, head, SETTINGS)
    assert report is None
    assert torch.equal(scratch.head.weight, started.head.weight)
    word = "encoder.embeddings.word.weight"
    assert not torch.equal(scratch.state_dict()[word], started.state_dict()[word])


def test_i01_a_missing_pooler_is_told(model: Path, cola: Path, tmp_path: Path, capsys) -> None:
    """I01: training a classifier on a model without a pooler warns, by the names of the tensors."""
    theirs = transformers.BertForMaskedLM.from_pretrained(model)
    theirs.save_pretrained(tmp_path / "masked_lm")
    load = prepared(model, cola).tokenizer
    load.save(tmp_path / "masked_lm")
    settings = dataclasses.replace(SETTINGS, epochs=0.1)
    summary = finetune(prepared(tmp_path / "masked_lm", cola), tmp_path / "out", settings)
    assert any("pooler.dense.weight" in text for text in summary["warnings"])
    assert "no pooler" in capsys.readouterr().err
