"""All GLUE tasks of a folder."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from bertsmith.common.errors import SettingsError
from bertsmith.common.settings import read_recipe
from bertsmith.finetune.glue import finetune_glue
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.reports.html import write_report

SETTINGS = FinetuneSettings(task="glue", epochs=0.2, batch_size=16, log_every=1)


def test_the_folder_has_a_report_a_summary_and_a_recipe(
    model: Path, cola: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    finetune_glue(model, cola.parent, out, SETTINGS)
    assert read_recipe(FinetuneSettings, out / "config.toml")["epochs"] == 0.2
    summary = json.loads((out / "summary.json").read_text())
    [row] = summary["table_1"]
    ours = summary["tasks"]["cola"]["figures"]["dev"]["matthews"]
    assert (row["title"], row["figure"], row["ours"]) == ("CoLA", "matthews", ours)
    assert (row["base"], row["large"]) == (52.1, 60.5)
    page = (out / "report.html").read_text()
    assert '<a href="cola/report.html">report</a>' in page
    assert (out / "cola" / "report.html").exists()
    assert "<td>52.1</td><td>60.5</td>" in page
    assert summary["verdict"] in page
    assert "No step is logged yet" not in page
    assert write_report(out).read_text() == page


def test_settings_are_checked_before_any_data_is_read(model: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="has 2 layers to freeze"):
        finetune_glue(
            model, tmp_path / "none", tmp_path, dataclasses.replace(SETTINGS, freeze_layers=3)
        )
