"""The command itself: real processes, real tools, little work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bertsmith.bench.results import read_results
from bertsmith.bench.rounds import rotated
from bertsmith.bench.rows import Choices
from bertsmith.bench.run import pick
from bertsmith.cli.main import main
from bertsmith.common.errors import SettingsError

MIB = 1 << 20


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "bertsmith", "bench", *map(str, words)],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Both rows of the self-test, two rounds."""
    file = tmp_path_factory.mktemp("bench") / "results.json"
    done = run("self-test", "--rounds", 2, "--out", file, "--json")
    assert json.loads(done.stdout) == json.loads(file.read_text())
    assert "self-test-predict: vectors of made texts; 6 texts" in done.stderr
    return file


def test_every_side_does_every_round(results: Path) -> None:
    rows = read_results(results)
    assert list(rows) == ["self-test-pretrain", "self-test-predict"]
    assert list(rows["self-test-predict"]["sides"]) == [
        "bertsmith", "onnxruntime", "limit",
    ]  # fmt: skip
    for row in rows.values():
        assert row["rounds"] == 2
        assert row["machine"]["versions"]["transformers"]
        assert row["command"].startswith("bertsmith bench self-test --rounds 2")
        for name, side in row["sides"].items():
            assert len(side["round_seconds"]) == 2, name
            assert min(side["round_seconds"]) > 0, name
            assert 20 * MIB < side["memory"] < 4096 * MIB, name
        assert len(row["sides"]["limit"]["rates"]) == 2


def test_the_sides_do_the_same_work(results: Path) -> None:
    """As many parameters are trained; the vectors are the same, padding or not."""
    rows = read_results(results)
    assert rows["self-test-pretrain"]["disagreement"] == 0
    assert 0 <= rows["self-test-predict"]["disagreement"] < 1e-5
    pretrain = rows["self-test-pretrain"]["sides"]
    assert [pretrain[name]["tokens"] for name in ("bertsmith", "transformers-sdpa")] == [48, 48]
    assert pretrain["transformers-sdpa"]["attention"] == "sdpa"
    predict = rows["self-test-predict"]["sides"]
    assert predict["bertsmith"]["tokens"] == predict["onnxruntime"]["tokens"]


def test_a_tool_that_is_not_installed_is_named_and_other_rows_stay(
    results: Path, tmp_path: Path
) -> None:
    before = read_results(results)
    mine = tmp_path / "results.json"
    kept = {"format": 1, "rows": [before["self-test-predict"]]}
    mine.write_text(json.dumps(kept))
    (tmp_path / "transformers.py").write_text(
        "raise ModuleNotFoundError('none', name='transformers')"
    )
    words = ("self-test", "--rounds", 1, "--out", mine)
    done = run(*words, PYTHONPATH=str(tmp_path))
    assert "self-test-predict: measured before" in done.stderr
    after = read_results(mine)
    assert after["self-test-predict"] == before["self-test-predict"]
    sides = after["self-test-pretrain"]["sides"]
    assert sides["transformers-sdpa"] == {"missing": "transformers"}
    assert len(sides["bertsmith"]["round_seconds"]) == 1
    assert "self-test-pretrain: without transformers-sdpa: transformers is not" in done.stderr


def test_the_table_of_a_results_file(results: Path, capsys) -> None:
    assert main(["bench", "--table", str(results)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("## self-test\n")
    assert out.count("\n| self-test-") == 2


def test_only_our_sides_have_what_the_command_sets(tmp_path: Path) -> None:
    """The command lets waiting threads sleep soon; other tools run as their users run them."""
    script = tmp_path / "said.py"
    script.write_text(
        "import os\n"
        "from bertsmith.bench.work import Work\n"
        "from bertsmith.cli import main\n"
        "kept = []\n"
        "main.keep_freed_memory = lambda: kept.append(True)\n"
        "def tell(folder):\n"
        "    spins = os.environ.get('GOMP_SPINCOUNT')\n"
        "    return Work(lambda: None, facts={'spins': spins, 'kept': len(kept)})\n"
        "def begin(verb):\n"
        "    from bertsmith.cli.main import settle\n"
        "    settle(verb)\n"
        "if __name__ == '__main__':\n"
        "    import json, pathlib\n"
        "    from bertsmith.bench.rounds import measure\n"
        "    from bertsmith.bench.rows import Row, Side\n"
        "    from bertsmith.cli.bench import _environment\n"
        "    from bertsmith.common.cores import share_cores\n"
        "    share_cores()\n"
        "    verbs = {'pretrain': 'pretrain', 'corpus': 'corpus', 'other': ''}\n"
        "    sides = {name: Side('said:tell', verb=verb) for name, verb in verbs.items()}\n"
        "    row = Row('row', 'group', 'unit', 'what', sides)\n"
        f"    folder = pathlib.Path({str(tmp_path)!r}) / 'sides'\n"
        "    found = measure(row, 1, folder, _environment(), 'said:begin')\n"
        "    print(json.dumps({name: (one['spins'], one['kept']) for name, one in found.items()}))\n"
    )
    given = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False,
        env={**given, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert int(said["pretrain"][0]) < 300_000
    assert int(said["corpus"][0]) < 300_000
    assert {name: kept for name, (_, kept) in said.items()} == {
        "pretrain": 1, "corpus": 0, "other": 0,
    }  # fmt: skip
    assert said["other"][0] is None


def test_a_side_that_dies_is_shown_with_its_last_words(tmp_path: Path) -> None:
    from bertsmith.bench.process import SideProcess
    from bertsmith.bench.rows import Side
    from bertsmith.common.errors import BertsmithError

    side = Side("bertsmith.bench.limit:limit", {"sizes": "none"})
    with pytest.raises(BertsmithError, match=r"'broken' ended with status 1:(?s:.)*TypeError"):
        SideProcess("broken", side, tmp_path / "side", dict(os.environ), "")


def test_each_round_begins_with_another_side() -> None:
    assert [rotated(["a", "b", "c"], number) for number in range(4)] == [
        ["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"],
    ]  # fmt: skip
    assert rotated([], 3) == []


def test_rows_are_picked_by_name_and_group(tmp_path: Path) -> None:
    with_data = Choices(data=tmp_path)
    assert [row.name for row in pick(["predict-one", "corpus"], with_data)] == [
        "predict-one", "corpus", "batches",
    ]  # fmt: skip
    everything = [row.name for row in pick([], with_data)]
    assert "startup-billion" not in everything
    assert "self-test-predict" not in everything
    assert {"finetune-qnli", "startup-resume"} <= set(everything)
    assert "startup-billion" not in [row.name for row in pick(["startup"], with_data)]
    assert [row.name for row in pick(["startup-billion"], with_data)] == ["startup-billion"]
    assert not [row for row in pick([], Choices()) if row.needs_data]
    with pytest.raises(SettingsError, match="predict-many, predict-one"):
        pick(["prediction"], Choices())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pretrain-tiny-218"], "did you mean 'pretrain-tiny-128'?"),
        (["startup-help", "--rounds", "0"], "rounds must be above 0"),
        (["--table", "FILE"], "this is no results file"),
        (["startup-help", "--out", "FILE"], "this is no results file"),
    ],
)
def test_what_is_refused(tmp_path: Path, capsys, words: list[str], message: str) -> None:
    file = tmp_path / "odd.json"
    file.write_text("[]")
    assert main(["bench", *(str(file) if word == "FILE" else word for word in words)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert file.read_text() == "[]"
