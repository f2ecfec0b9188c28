"""Several runs in a folder: nothing that lies there is overwritten by other runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from bertsmith.cli.main import main
from bertsmith.common.errors import SettingsError
from bertsmith.common.settings import to_toml
from bertsmith.finetune.group import open_group
from bertsmith.finetune.settings import FinetuneSettings

ONE = FinetuneSettings(task="cola")
THREE = dataclasses.replace(ONE, restarts=3)
GLUE = dataclasses.replace(ONE, task="glue")


def files(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.mark.parametrize(
    ("there", "asked", "reason"),
    [
        (ONE, THREE, "holds a single run"),
        (ONE, GLUE, "holds a single run"),
        (GLUE, THREE, "task was glue and is cola"),
        (THREE, dataclasses.replace(THREE, epochs=5.0), "epochs was 3.0 and is 5.0"),
        (THREE, dataclasses.replace(THREE, restarts=2), "restarts was 3 and is 2"),
        (GLUE, dataclasses.replace(GLUE, seed=1), "seed was 0 and is 1"),
        (THREE, dataclasses.replace(ONE, search="paper"), "search was none and is paper"),
    ],
)
def test_other_runs_stay_as_they_are(
    tmp_path: Path, there: FinetuneSettings, asked: FinetuneSettings, reason: str
) -> None:
    (tmp_path / "config.toml").write_text(to_toml(there, ""))
    (tmp_path / "summary.json").write_text("{}")
    before = files(tmp_path)
    with pytest.raises(SettingsError, match=reason):
        open_group(tmp_path, asked)
    assert files(tmp_path) == before


def test_what_is_no_run_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(SettingsError, match="something that is not a run"):
        open_group(tmp_path, THREE)
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="something that is not a run"):
        open_group(tmp_path / "file", THREE)


def test_the_same_runs_and_more_of_them_go_on(tmp_path: Path) -> None:
    for settings in (THREE, THREE, dataclasses.replace(THREE, restarts=4)):
        open_group(tmp_path / "out", settings)
        assert (tmp_path / "out" / "config.toml").read_text().count(
            f"restarts = {settings.restarts}"
        ) == 1
    open_group(tmp_path / "out", dataclasses.replace(THREE, restarts=4), "latest")


def test_nothing_to_resume_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no run to resume"):
        open_group(tmp_path / "out", GLUE, "latest")
    with pytest.raises(SettingsError, match="no checkpoint in common"):
        open_group(tmp_path / "out", THREE, "step-00000010")
    assert not (tmp_path / "out").exists()


def test_resume_takes_the_settings_of_the_run(
    model: Path, cola: Path, tmp_path: Path, capsys
) -> None:
    """As the refusal of other settings advises."""
    command = ["finetune", "cola", "--model", str(model), "--data", str(cola)]
    out = ["--out", str(tmp_path / "out")]
    assert main([*command, *out, "--resume"]) == 2
    assert "no run to resume" in capsys.readouterr().err
    assert main([*command, *out, "--epochs", "0.5", "--restarts", "2"]) == 0
    assert main([*command, *out]) == 2
    assert "use --resume" in capsys.readouterr().err
    assert main([*command, *out, "--resume"]) == 0
    assert "finished run of these settings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"), [("learning_rate", 1e-3), ("batch_size", 8), ("epochs", 6.0)]
)
def test_a_search_does_not_pass_over_what_is_asked_for(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"--search decides {name}"):
        FinetuneSettings(search="paper", **{name: value})


@pytest.mark.parametrize(
    "name", ["learning_rate", "epochs", "max_gradient_norm", "weight_decay", "lora_alpha"]
)
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_numbers_are_finite(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"{name} must be a finite number"):
        FinetuneSettings(**{name: value})
