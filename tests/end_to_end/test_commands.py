"""The commands as a user meets them: results, errors, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.conftest import sentences

TRAIN = [
    "--steps", 300, "--preset", "tiny", "--lengths", 48, "--length-shares", 1, "--batch-size", 16,
    "--learning-rate", "2e-3", "--warmup", 0.1, "--dropout", 0,
]  # fmt: skip


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory, bertsmith) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    bertsmith("pretrain", corpus, "--out", out, *TRAIN)
    return out


def test_a_run_learns_and_says_so(run: Path) -> None:
    summary = json.loads((run / "summary.json").read_text())
    held_out, baselines = summary["held_out"], summary["baselines"]
    assert summary["learned"] is True
    assert held_out["masked_lm_accuracy"] > 2 * baselines["most_frequent_token_accuracy"]
    assert held_out["masked_lm_loss"] < baselines["unigram_entropy"] - 0.5
    # A document talks of one animal: whether B is about the same one is learnt soon.
    assert held_out["next_sentence_accuracy"] > 0.7
    assert summary["steps"] == 300
    assert 5 <= len(summary["blanks"]) <= 8
    names = {path.name for path in run.iterdir()}
    assert {"config.toml", "metrics.jsonl", "checkpoints", "model", "report.html"} <= names


def test_the_report_needs_no_network(run: Path) -> None:
    page = (run / "report.html").read_text()
    assert "<svg" in page
    assert "http://" not in page
    assert "https://" not in page


def test_transformers_opens_the_model(run: Path) -> None:
    transformers = pytest.importorskip("transformers")
    for kind in (transformers.AutoModelForPreTraining, transformers.AutoModelForMaskedLM):
        _, info = kind.from_pretrained(run / "model", output_loading_info=True)
        assert not info["missing_keys"]
        assert not info["mismatched_keys"]


def test_blanks_are_those_of_transformers(run: Path, bertsmith) -> None:
    transformers = pytest.importorskip("transformers")
    import torch

    text = "a cat [MASK] in garden near [MASK] on most days ."
    done = bertsmith("fill", run / "model", text, "--json")
    ours = json.loads(done.stdout)
    tokenizer = transformers.AutoTokenizer.from_pretrained(run / "model")
    model = transformers.AutoModelForMaskedLM.from_pretrained(run / "model").eval()
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        chances = model(**inputs).logits.softmax(-1)[0]
    places = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    assert len(ours["blanks"]) == len(places) == 2
    for blank, place in zip(ours["blanks"], places, strict=True):
        for answer in blank:
            assert answer["probability"] == pytest.approx(
                float(chances[place, answer["id"]]), abs=1e-5
            )
    assert ours["blanks"][0][0]["token"] in ("purrs", "barks", "moos", "sings", "hunts")


def test_blanks_of_a_file(run: Path, bertsmith, tmp_path) -> None:
    place = "in barn near garden on most days ."
    text = f"a dog [MASK] {place}\na [MASK] sings {place}\n"
    (tmp_path / "lines.txt").write_text(text)
    done = bertsmith("fill", run / "model", "--file", tmp_path / "lines.txt", "--top", 2)
    first, answers, second, _ = done.stdout.splitlines()
    assert (first, second) == tuple(text.split("\n")[:2])
    assert answers.split()[0] == "barks"
    assert answers.count("%") == 2
    piped = bertsmith("fill", run / "model", "--file", "-", "--json", input="the [MASK] moos .")
    assert len(json.loads(piped.stdout)["blanks"][0]) == 5


def test_one_document_trains_without_next_sentence(tmp_path, bertsmith) -> None:
    """Case C01: said, and trained without next-sentence prediction."""
    text = sentences(60).replace("\n\n", "\n")
    (tmp_path / "one.txt").write_text(text)
    corpus = tmp_path / "corpus"
    bertsmith("corpus", tmp_path / "one.txt", "--out", corpus, "--vocab-size", 150, "--workers", 1)
    flags = [*TRAIN]
    flags[1] = 5
    done = bertsmith("pretrain", corpus, "--out", tmp_path / "run", *flags)
    assert "without next-sentence prediction" in done.stderr
    record = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[0])
    assert "masked_lm_loss" in record
    assert "next_sentence_loss" not in record


def mistakes() -> list[tuple[str, list[object], str]]:
    return [
        ("no such verb", ["pretrian"], "did you mean pretrain?"),
        ("no such flag", ["pretrain", "CORPUS", "--out", "OUT", "--step", "5"], "did you mean --steps?"),
        ("no such input", ["corpus", "/nowhere.txt", "--out", "OUT"], "no such file"),
        ("empty input", ["corpus", "EMPTY", "--out", "OUT"], "no text"),
        ("wrong bytes", ["corpus", "LATIN", "--out", "OUT"], "offset 4 (0xe9)"),
        ("no such corpus", ["pretrain", "/nowhere", "--out", "OUT", "--steps", "1"], "no such corpus"),
        ("no budget", ["pretrain", "CORPUS", "--out", "OUT"], "give one of --steps"),
        ("two budgets", ["pretrain", "CORPUS", "--out", "OUT", "--steps", "1", "--minutes", "1"], "more than one budget"),
        ("unknown preset", ["pretrain", "CORPUS", "--out", "OUT", "--steps", "1", "--preset", "tinny"], "did you mean 'tiny'?"),
        ("not a number", ["pretrain", "CORPUS", "--out", "OUT", "--steps", "many"], "takes a whole number"),
        ("unknown recipe", ["pretrain", "CORPUS", "--out", "OUT", "--recipe", "quickstrat"], "did you mean 'quickstart'?"),
        ("unknown key", ["pretrain", "CORPUS", "--out", "OUT", "--recipe", "RECIPE"], "did you mean 'learning_rate'?"),
        ("phases", ["pretrain", "CORPUS", "--out", "OUT", "--steps", "1", "--lengths", "128"], "must be as many"),
        ("nothing to resume", ["pretrain", "CORPUS", "--out", "OUT", "--resume", "--steps", "1"], "no run to resume"),
        ("output in use", ["pretrain", "CORPUS", "--out", "FULL", "--steps", "1"], "not a run"),
        ("no such model", ["fill", "/nowhere", "a [MASK]"], "no such model"),
        ("no blank", ["fill", "MODEL", "a cat"], "no blank"),
        ("no run", ["report", "/nowhere"], "not a run"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"), [(m[1], m[2]) for m in mistakes()], ids=[m[0] for m in mistakes()]
)
def test_mistakes(words, message: str, corpus, run, bertsmith, tmp_path) -> None:
    """Each ends with one clear message, status 2, no traceback, and nothing written."""
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "latin.txt").write_bytes(b"caf\xc3\xa9\n".replace(b"f\xc3", b"fe"))
    (tmp_path / "latin.txt").write_bytes(b"cafe\xe9 au lait\n")
    (tmp_path / "recipe.toml").write_text("steps = 1\nlearning_rat = 1e-3\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("mine")
    known = {
        "CORPUS": corpus, "MODEL": run / "model", "OUT": tmp_path / "out", "FULL": tmp_path / "full",
        "EMPTY": tmp_path / "empty.txt", "LATIN": tmp_path / "latin.txt",
        "RECIPE": tmp_path / "recipe.toml",
    }  # fmt: skip
    done = bertsmith(*[known.get(word, word) for word in words], check=False)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in (tmp_path / "full").iterdir()) == ["thesis.doc"]


def test_other_settings_in_a_run_folder_are_refused(corpus, run, bertsmith) -> None:
    done = bertsmith("pretrain", corpus, "--out", run, *TRAIN, "--seed", 9, check=False)
    assert done.returncode == 2
    assert "seed was 0 and is 9" in done.stderr
    again = bertsmith("pretrain", corpus, "--out", run, *TRAIN)
    assert "nothing is left to do" in again.stderr


def test_a_written_config_is_a_recipe(corpus, run, bertsmith, tmp_path) -> None:
    out = tmp_path / "again"
    bertsmith("pretrain", corpus, "--out", out, "--recipe", run / "config.toml", "--steps", 3)
    old, new = ((folder / "config.toml").read_text() for folder in (run, out))
    assert old.replace("steps = 300", "steps = 3") == new


def test_not_a_number_ends_the_run(corpus, bertsmith, tmp_path) -> None:
    """Case R05: a learning rate that blows up ends with step and batch, status 2."""
    flags = [*TRAIN, "--max-gradient-norm", "1e30"]
    flags[flags.index("2e-3")] = "1e30"
    done = bertsmith("pretrain", corpus, "--out", tmp_path / "run", *flags, check=False)
    assert done.returncode == 2
    assert "not a finite number" in done.stderr
    assert "batch" in done.stderr
    for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)


def test_help_teaches(bertsmith) -> None:
    done = bertsmith("--help")
    assert "quickstart" in done.stdout
    for verb in ("corpus", "pretrain", "fill", "report", "quickstart"):
        assert "--" in bertsmith(verb, "--help").stdout
    assert bertsmith("--version").stdout.strip()


def test_quickstart_on_the_users_own_text(bertsmith, tmp_path) -> None:
    """Old text that is not UTF-8: the mend that the message names is one that the command takes."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(4):
        text = sentences(30, seed=number).replace("garden", "caf\u00e9").replace("\n\n", "\n")
        (folder / f"{number}.txt").write_bytes(text.encode("latin-1"))
    words = ["quickstart", folder, "--out", tmp_path / "out", "--steps", 4]
    refused = bertsmith(*words, check=False)
    assert refused.returncode == 2
    assert "--encoding" in refused.stderr
    done = bertsmith(*words, "--encoding", "latin-1", "--json")
    summary = json.loads(done.stdout)
    assert summary["steps"] == 4
    assert summary["learned"] is False
    assert "did not learn" in done.stderr
