from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bertsmith.common.errors import InputError
from bertsmith.reports.curves import series, thin
from bertsmith.reports.html import write_pictures, write_report

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
    "nested": {"deep_surprise": [1, 2]},
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
] + [
    {
        "step": 50,
        "held_out": {"masked_lm_loss": 6.2, "masked_lm_accuracy": 0.2, "masked_lm_targets": 9},
    }
]


def test_a_report_has_the_figures(tmp_path) -> None:
    page = write_report(run_folder(tmp_path, RECORDS, SUMMARY)).read_text("utf-8")
    for figure in (
        "31.4%",
        "5.5%",
        "3.210",
        "24.8",
        "1,234",
        "surprise",
        "shown",
        "nested: deep surprise",
    ):
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
    assert "No step is logged yet" in page
    folder = run_folder(tmp_path, RECORDS, None)
    with (folder / "metrics.jsonl").open("a") as stream:
        stream.write('{"step": 100, "masked_lm_l')
    page = write_report(folder).read_text()
    assert "<svg" in page
    assert "Held-out part at step 50" in page
    assert "20.0%" in page


def test_what_is_no_run(tmp_path) -> None:
    with pytest.raises(InputError, match="not a run"):
        write_report(tmp_path)


def test_charts_follow_the_page(tmp_path) -> None:
    """Text in the page's own colour, baselines dashed and named, names of one chart its own."""
    page = write_report(run_folder(tmp_path, RECORDS, SUMMARY)).read_text()
    assert "currentColor" in page
    assert "#123456" not in page
    assert "unigram entropy</text>" in page
    names = re.findall(r'<clipPath id="(\w+)"', page)
    assert len(names) == len(set(names)) > 0
    assert write_report(tmp_path).read_text() == page


@pytest.mark.parametrize(
    "summary",
    [
        {},
        {"held_out": None, "baselines": None, "warnings": None, "blanks": None},
        {"held_out": {"masked_lm_loss": None, "perplexity": "x"}, "baselines": []},
        {"blanks": [{}, {"text": 1, "guesses": [["a"], 3, ["b", "c"]]}, 7], "warnings": "text"},
    ],
)
def test_whatever_a_summary_lacks(tmp_path, summary: dict) -> None:
    assert "Settings" in write_report(run_folder(tmp_path, RECORDS, summary)).read_text()


def test_a_damaged_summary(tmp_path) -> None:
    folder = run_folder(tmp_path, RECORDS, None)
    (folder / "summary.json").write_text("{")
    with pytest.raises(InputError, match=r"summary\.json"):
        write_report(folder)


def test_long_curves_are_thinned_and_gaps_are_left_out(tmp_path) -> None:
    points = [(step, float(step % 2)) for step in range(10_000)]
    short = thin(points)
    assert len(short) <= 800
    assert sum(value for _, value in short) / len(short) == pytest.approx(0.5, abs=0.01)
    assert thin(points[:800]) == points[:800]
    records = [{"step": 1, "loss": None}, {"step": 2, "loss": float("nan")}, {"step": 3, "loss": 1}]
    assert series(records, "loss") == [(3, 1)]


def test_pictures_are_files_of_their_own(tmp_path) -> None:
    folder = run_folder(tmp_path, RECORDS, SUMMARY)
    paths = write_pictures(folder, tmp_path / "pictures")
    names = {path.name for path in paths}
    assert names == {"masked-lm-loss.svg", "masked-lm-accuracy.svg", "learning-rate.svg"}
    for path in paths:
        assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert "#123456" not in path.read_text()


def test_settings_that_differ_come_first_the_rest_is_folded(tmp_path) -> None:
    from bertsmith.common.settings import to_toml
    from bertsmith.tasks.settings import TaskSettings

    folder = run_folder(tmp_path, RECORDS, SUMMARY)
    text = to_toml(TaskSettings(doc_stride=64, strict=True), "Settings")
    (folder / "config.toml").write_text(text)
    page = write_report(folder).read_text()
    shown, folded = page[page.index("Settings</h2>") :].split("<details>")
    assert "doc_stride = 64  # default: 128\nstrict" not in shown
    assert "strict = true  # default: false\ndoc_stride = 64  # default: 128" in shown
    assert "n_best" not in shown
    assert "n_best = 20\n" in folded
