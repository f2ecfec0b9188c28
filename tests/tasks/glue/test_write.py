"""Files for the leaderboard."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.glue import write as writing
from bertsmith.tasks.glue.tasks import glue_task, zip_submission
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Part
from bertsmith.tasks.text.examples import TextExample

Write = Callable[..., Path]
SETTINGS = TaskSettings()


def part(name: str, *targets: float | str | None) -> Part[TextExample]:
    return Part(name, [TextExample(str(n), "a", "b", one) for n, one in enumerate(targets)])


@pytest.mark.parametrize("label", ["", "\t-1"])
def test_submission_of_mnli(write: Write, tmp_path: Path, label: str) -> None:
    """Case G06: words, and the index of each file from its own 0."""
    head = "index\tsentence1\tsentence2" + ("\tgold_label" if label else "") + "\n"
    folder = write({
        "test_matched.tsv": head + "".join(f"{n}\ta\tb{label}\n" for n in range(2)),
        "test_mismatched.tsv": head + "".join(f"{n}\tc\td{label}\n" for n in range(3)),
    })  # fmt: skip
    task = glue_task("mnli", SETTINGS)
    matched, mismatched = task.read(folder, training=False).test
    assert [matched.labelled, mismatched.labelled] == [False, False]
    paths = task.write(tmp_path / "out", matched, ["neutral", "neutral"])
    paths += task.write(tmp_path / "out", mismatched, ["neutral", "entailment", "contradiction"])
    assert [path.name for path in paths] == ["MNLI-m.tsv", "MNLI-mm.tsv"]
    assert paths[0].read_bytes() == b"index\tprediction\n0\tneutral\n1\tneutral\n"
    assert paths[1].read_bytes() == (
        b"index\tprediction\n0\tneutral\n1\tentailment\n2\tcontradiction\n"
    )


def test_submission_of_values(tmp_path: Path) -> None:
    """Case G04: clipped and formatted in the file, scored raw."""
    task = glue_task("stsb", SETTINGS)
    given = part("test", 4.8, 5.0, 2.4, 1.2)
    predictions = [5.7, 5.2, 2.5, 1.0]
    [path] = task.write(tmp_path, given, predictions)
    assert path.name == "STS-B.tsv"
    assert path.read_text() == "index\tprediction\n0\t5.000\n1\t5.000\n2\t2.500\n3\t1.000\n"
    figures = task.score(given, predictions)
    assert figures["pearson"] == pytest.approx(0.990753, abs=5e-7)
    assert figures["spearman"] == pytest.approx(0.8)
    assert figures["pearson_spearman"] == pytest.approx((0.990753 + 0.8) / 2, abs=5e-7)
    [path] = task.write(tmp_path, part("dev", 1.0), [-0.25])
    assert path.read_text() == "index\tprediction\n0\t0.000\n"


@pytest.mark.parametrize(
    ("name", "file", "words"),
    [
        ("cola", "CoLA.tsv", ["0", "1"]),
        ("sst2", "SST-2.tsv", ["0", "1"]),
        ("mrpc", "MRPC.tsv", ["0", "1"]),
        ("qqp", "QQP.tsv", ["0", "1"]),
        ("wnli", "WNLI.tsv", ["0", "1"]),
        ("qnli", "QNLI.tsv", ["entailment", "not_entailment"]),
        ("rte", "RTE.tsv", ["entailment", "not_entailment"]),
    ],
)
def test_names_and_label_words(tmp_path: Path, name: str, file: str, words: list[str]) -> None:
    """Case G06: words where words are required, integers elsewhere."""
    task = glue_task(name, SETTINGS)
    [path] = task.write(tmp_path, part("test", None, None), words)
    assert path == tmp_path / file
    assert path.read_text() == f"index\tprediction\n0\t{words[0]}\n1\t{words[1]}\n"
    with pytest.raises(ValueError, match="no label '2'"):
        task.write(tmp_path, part("test", None), ["2"])


def test_other_parts_are_called_by_their_names(tmp_path: Path) -> None:
    task = glue_task("mnli", SETTINGS)
    names = {"dev": "dev.tsv", "dev_mismatched": "dev_mismatched.tsv", "ax": "AX.tsv"}
    for name, file in names.items():
        [path] = task.write(tmp_path, part(name, None), ["neutral"])
        assert path == tmp_path / file


def test_own_index_is_kept(write: Write, tmp_path: Path) -> None:
    task = glue_task("qqp", SETTINGS)
    folder = write({"test.tsv": "id\tquestion1\tquestion2\n5\ta\tb\n9\tc\td\n"})
    [test] = task.read(folder, training=False).test
    [path] = task.write(tmp_path, test, ["1", "0"])
    assert path.read_text() == "index\tprediction\n5\t1\n9\t0\n"


def test_a_prediction_too_few_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        glue_task("sst2", SETTINGS).write(tmp_path, part("test", None, None), ["1"])


def test_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(writing, "warn", said.append)
    with pytest.raises(InputError, match="no file for the GLUE leaderboard"):
        zip_submission(tmp_path)
    glue_task("rte", SETTINGS).write(tmp_path, part("test", None), ["entailment"])
    glue_task("rte", SETTINGS).write(tmp_path, part("dev", None), ["entailment"])
    path = zip_submission(tmp_path)
    assert path == tmp_path / "submission.zip"
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["RTE.tsv"]
        assert archive.read("RTE.tsv") == b"index\tprediction\n0\tentailment\n"
    [text] = said
    assert "AX.tsv" in text
    assert "RTE.tsv" not in text
    before = path.read_bytes()
    assert zip_submission(tmp_path).read_bytes() == before
