"""Runs that do not learn as they should, made with the real command: each is said, a good one not."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from bertsmith.cli import corpus_show
from bertsmith.cli.main import Parser

pytestmark = pytest.mark.processes

FLAGS = [
    "--preset", "tiny", "--lengths", 32, "--length-shares", 1, "--dropout", 0,
    "--evaluate-every", 1000, "--evaluate-sequences", 64,
]  # fmt: skip
SYLLABLES = [one + other for one in "bdfgklmnprst" for other in "aeiou"]


def found(run: Path, stderr: str) -> list[str]:
    """The warnings of a run, which are the same in the summary, the report and on the screen."""
    summary = json.loads((run / "summary.json").read_text())
    page = (run / "report.html").read_text()
    assert page.count('class="warning"') == len(summary["warnings"])
    for text in summary["warnings"]:
        assert f"warning: {text}" in stderr
    return summary["warnings"]


def log(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def logged(run: Path) -> list[str]:
    return [record["warning"] for record in log(run) if "warning" in record]


def make(bertsmith: Any, folder: Path, text: str, *flags: object) -> Path:
    (folder / "text.txt").write_text(text)
    bertsmith(
        "corpus", folder / "text.txt", "--out", folder / "corpus", "--workers", 1,
        "--format", "sentences", "--vocab-size", 500, "--min-frequency", 1, *flags,
    )  # fmt: skip
    return folder / "corpus"


def test_a_good_run_has_no_warning(corpus: Path, bertsmith, tmp_path) -> None:
    done = bertsmith(
        "pretrain", corpus, "--out", tmp_path / "run", *FLAGS, "--steps", 420,
        "--learning-rate", 2e-3, "--warmup", 0.05, "--batch-size", 8,
    )  # fmt: skip
    assert found(tmp_path / "run", done.stderr) == []
    assert logged(tmp_path / "run") == []
    assert not any("spike" in record for record in log(tmp_path / "run"))
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["learned"] is True
    assert summary["held_out_overlap"]["windows"] > 50


def test_stuck_for_want_of_a_rate(corpus: Path, bertsmith, tmp_path) -> None:
    """Too low a rate: nothing moves, and later nothing can."""
    done = bertsmith(
        "pretrain", corpus, "--out", tmp_path / "run", *FLAGS, "--steps", 420,
        "--learning-rate", 1e-9, "--warmup", 0.01, "--batch-size", 8,
    )  # fmt: skip
    zero, stuck = found(tmp_path / "run", done.stderr)
    assert "the weights need" in zero
    assert "no better than a guess that ignores the context" in stuck
    assert logged(tmp_path / "run") == [zero, stuck]


def test_pairs_that_tell_their_document(bertsmith, tmp_path) -> None:
    """Two documents, each with its own mark in every sentence: a B with another mark is random."""
    rng = random.Random(0)
    words = ["".join(rng.choices(SYLLABLES, k=3)) for _ in range(60)]
    documents = [
        "\n".join(" ".join([mark, rng.choice(words)] * 3) for _ in range(400))
        for mark in ("left", "right")
    ]
    made = make(bertsmith, tmp_path, "\n\n".join(documents) + "\n", "--held-out-percent", 0)
    done = bertsmith(
        "pretrain", made, "--out", tmp_path / "run", *FLAGS, "--steps", 300,
        "--learning-rate", 1e-3, "--warmup", 0.1, "--batch-size", 16,
    )  # fmt: skip
    texts = [one for one in found(tmp_path / "run", done.stderr) if "told from a random one" in one]
    assert len(texts) == 1
    assert logged(tmp_path / "run") == texts
    assert float(re.search(r"in ([\d.]+)% of the pairs", texts[0])[1]) >= 98


def test_a_held_out_part_that_was_seen(bertsmith, tmp_path) -> None:
    """No two documents are equal: of each pair the first word differs."""
    rng = random.Random(1)
    bodies = [[rng.choices(SYLLABLES, k=12) for _ in range(6)] for _ in range(100)]
    documents = [
        "\n".join(" ".join(line) for line in [[f"start{turn}", *body[0][1:]], *body[1:]])
        for body in bodies
        for turn in range(2)
    ]
    rng.shuffle(documents)
    made = make(
        bertsmith, tmp_path, "\n\n".join(documents) + "\n", "--held-out-percent", 10,
        "--deduplicate",
    )  # fmt: skip
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["duplicates_dropped"] == 0
    done = bertsmith(
        "pretrain", made, "--out", tmp_path / "run", *FLAGS, "--steps", 3, "--batch-size", 8
    )
    texts = [one for one in found(tmp_path / "run", done.stderr) if "stand in the training" in one]
    assert logged(tmp_path / "run") == texts
    assert float(texts[0].split("%")[0]) > 50


def test_damaged_text_makes_spikes_and_can_be_seen(bertsmith, tmp_path, capsys) -> None:
    rng = random.Random(2)
    line = "one two three four five six seven eight nine ten eleven twelve"
    documents = ["\n".join([line] * 6) for _ in range(200)]
    junk = ["".join(rng.choices("0123456789abcdef#~", k=30)) for _ in range(64)]
    documents.insert(90, "\n".join(junk))
    made = make(bertsmith, tmp_path, "\n\n".join(documents) + "\n", "--held-out-percent", 0)
    run = tmp_path / "run"
    done = bertsmith(
        "pretrain", made, "--out", run, *FLAGS, "--steps", 200, "--no-next-sentence",
        "--learning-rate", 2e-3, "--warmup", 0.1, "--batch-size", 4,
    )  # fmt: skip
    (text,) = [one for one in found(run, done.stderr) if "spike" in one]
    spikes = [record["spike"] for record in log(run) if "spike" in record]
    first = spikes[0]["batch"]
    assert text.endswith(f"to look at the text: bertsmith corpus show {run} --batch {first}")
    assert [one.split(":")[0] for one in logged(run)] == ["the loss had a spike"]
    assert ">spike</text>" in (run / "report.html").read_text()
    parser = Parser(prog="bertsmith corpus show")
    corpus_show.add_arguments(parser)
    # A later one may be of a sound batch, after the step of a damaged one did harm.
    corpus_show.run(parser.parse_known([str(run), "--batch", str(first)]))
    assert "document 90" in capsys.readouterr().out  # the damaged one


@pytest.mark.parametrize("words", [["--batch", "x"], []])
def test_what_is_not_understood(words: list[str], tmp_path) -> None:
    parser = Parser(prog="bertsmith corpus show")
    corpus_show.add_arguments(parser)
    with pytest.raises(SystemExit) as ended:
        parser.parse_known([str(tmp_path), *words])
    assert ended.value.code == 2
