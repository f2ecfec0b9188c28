from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.reports.html import write_report

SUMMARY = {
    "task": "pre-training",
    "verdict": "the model <b>learnt</b>",
    "learned": True,
    "held_out": {"masked_lm_accuracy": 0.314, "masked_lm_loss": 3.21, "perplexity": 24.8},
    "baselines": {"most_frequent_token_accuracy": 0.055, "unigram_entropy": 6.6},
    "blanks": [
        {"text": "a [MASK] <script>alert(1)</script>", "answer": "x", "guesses": [["y", 0.5]]}
    ],
    "warnings": ["1 < 2"],
    "seconds": 12.5,
    "counts": {"tokens_cut": 1234},
    "surprise": "shown",
}


def run_folder(tmp_path: Path, records: list[dict], summary: dict | None) -> Path:
    (tmp_path / "config.toml").write_text('name = "<i>"\n')
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    if summary is not None:
        (tmp_path / "summary.json").write_text(json.dumps(summary))
    return tmp_path


RECORDS = [
    {
        "step": step,
        "masked_lm_loss": 7 - step / 50,
        "masked_lm_accuracy": step / 300,
        "learning_rate": 1e-3,
    }
    for step in range(1, 100)
] + [{"step": 50, "held_out": {"masked_lm_loss": 6.2, "masked_lm_accuracy": 0.2}}]


def test_a_report_has_the_figures(tmp_path) -> None:
    page = write_report(run_folder(tmp_path, RECORDS, SUMMARY)).read_text()
    for figure in ("31.4%", "5.5%", "3.210", "24.8", "1,234", "surprise", "shown"):
        assert figure in page
    assert page.count("<svg") == 3


def test_text_is_escaped_and_nothing_is_fetched(tmp_path) -> None:
    page = write_report(run_folder(tmp_path, RECORDS, SUMMARY)).read_text()
    assert "<script>" not in page
    assert "<b>learnt" not in page
    assert "&lt;i&gt;" in page
    assert not re.search(r"https?://", page)
    assert not re.search(r"<(link|img|iframe)", page)


def test_in_the_middle_of_a_run(tmp_path) -> None:
    page = write_report(run_folder(tmp_path, [], None)).read_text()
    assert "not come to its end" in page
    folder = run_folder(tmp_path, RECORDS, None)
    with (folder / "metrics.jsonl").open("a") as stream:
        stream.write('{"step": 100, "masked_lm_l')
    assert "<svg" in write_report(folder).read_text()


def test_what_is_no_run(tmp_path) -> None:
    with pytest.raises(InputError, match="not a run"):
        write_report(tmp_path)
