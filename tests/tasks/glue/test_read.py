"""Made-up files in the official layouts, with all that may be wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bertsmith.common.errors import InputError, ModelError, SettingsError
from bertsmith.tasks.glue.layouts import LAYOUTS, SUBMISSION
from bertsmith.tasks.glue.tasks import find_glue, glue_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Head
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

Write = Callable[..., Path]
SETTINGS, STRICT = TaskSettings(), TaskSettings(strict=True)

MRPC = (
    'Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t10\t11\t"We won," he said.\tHe said they '
    'won.\n0\t12\t13\t"Rates rose\tRates fell.\n1\t14\t15\tIt rained.\tIt was "wet".\n0\t16\t17\t'
    'He left"\tHe stayed.\n'
)
QQP_HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
QQP = QQP_HEADER + (
    "100\t1\t2\tWho am I?\tWho is it?\t0\n"
    "101\t3\t4\tWhy?\n"
    "102\t5\t6\tHow old?\t\t1\n"
    "103\t7\t8\tWhat\tis\tit?\t1\n"
    "104\t9\t10\tWhere?\tIn which place?\t1\n"
)
MNLI_HEADER = "index\tsentence1\tsentence2"


def test_unbalanced_quotes(write: Write) -> None:
    """Case G01: four examples, all quote characters kept."""
    train = glue_task("mrpc", SETTINGS).read(write({"train.tsv": MRPC})).train
    assert train is not None
    assert [one.target for one in train.examples] == ["1", "0", "1", "0"]
    assert [(one.text, one.pair) for one in train.examples] == [
        ('"We won," he said.', "He said they won."),
        ('"Rates rose', "Rates fell."),
        ("It rained.", 'It was "wet".'),
        ('He left"', "He stayed."),
    ]
    assert train.skipped == []


def test_malformed_rows_are_skipped_in_training(write: Write) -> None:
    """Case G02: lines 3 and 5 are skipped, told with their fields, and counted."""
    folder = write({"train.tsv": QQP})
    task = glue_task("qqp", SETTINGS)
    data = task.read(folder)
    assert data.train is not None
    assert [one.id for one in data.train.examples] == ["100", "102", "104"]
    assert data.train.examples[1].pair == ""
    assert data.train.skipped == [
        f"{folder / 'train.tsv'}:3: 4 fields instead of 6",
        f"{folder / 'train.tsv'}:5: 7 fields instead of 6",
    ]
    assert data.notes[0] == "train (train.tsv): 2 skipped"
    tokenizer = Tokenizer([*SPECIAL, "how", "old", "?"])
    encoded = task.encode(data.train, tokenizer, 32, task.head(data), training=True)
    assert encoded.features[1].sequences == (([2, 5, 6, 7, 3, 3], [0, 0, 0, 0, 0, 1]),)


def test_malformed_rows_are_refused_for_prediction(write: Write) -> None:
    """Case G02: ids of predictions may not shift."""
    folder = write({"test.tsv": "id\tquestion1\tquestion2\n0\tWho?\tWhat?\n1\tWhy?\n"})
    for training in (False, True):
        with pytest.raises(InputError, match="2 fields instead of 3") as caught:
            glue_task("qqp", SETTINGS).read(folder, training=training)
        assert (caught.value.file, caught.value.line) == (str(folder / "test.tsv"), 3)
    folder = write({"dev.tsv": QQP}, "dev")
    with pytest.raises(InputError, match="4 fields instead of 6"):
        glue_task("qqp", SETTINGS).read(folder, training=False)
    assert len(glue_task("qqp", SETTINGS).read(folder).dev[0].examples) == 3


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", ["train.tsv", "dev.tsv"])
def test_strict_refuses_always(write: Write, name: str, training: bool) -> None:
    """Case G02: --strict refuses the file also in training."""
    folder = write({name: QQP, "test.tsv": "id\tquestion1\tquestion2\n"})
    task = glue_task("qqp", STRICT)
    if name == "train.tsv" and not training:
        assert task.read(folder, training=False).train is None  # it is not read at all
        return
    with pytest.raises(InputError, match="4 fields instead of 6") as caught:
        task.read(folder, training=training)
    assert caught.value.line == 3


def test_columns_are_found_by_name(write: Write) -> None:
    """Case G02: another order of columns reads the same."""
    text = "is_duplicate\tquestion2\textra\tquestion1\n1\tsecond\t-\tfirst\n"
    [dev] = glue_task("qqp", SETTINGS).read(write({"dev.tsv": text})).dev
    [one] = dev.examples
    assert (one.id, one.text, one.pair, one.target) == ("0", "first", "second", "1")


def test_cola_has_a_header_in_test_only(write: Write) -> None:
    """Case G07: 2 training rows, 1 test row, the text in the fourth column."""
    folder = write({
        "train.tsv": "gj04\t1\t\tThe cat sat.\nbc01\t0\t*\tCat the sat.\n",
        "test.tsv": "index\tsentence\n0\tBirds sing.\n",
    })  # fmt: skip
    task = glue_task("cola", SETTINGS)
    data = task.read(folder)
    assert data.train is not None
    assert [(one.text, one.target) for one in data.train.examples] == [
        ("The cat sat.", "1"), ("Cat the sat.", "0"),
    ]  # fmt: skip
    assert [(one.id, one.text, one.target) for one in data.test[0].examples] == [
        ("0", "Birds sing.", None)
    ]
    assert set(task.head(data).labels) == {"0", "1"}
    assert "CoLA has no dev file" in data.notes[-1]


def test_header_behind_a_byte_order_mark(write: Write) -> None:
    """Case G07: MRPC's files start with one."""
    train = glue_task("mrpc", SETTINGS).read(write({"train.tsv": "\ufeff" + MRPC})).train
    assert train is not None
    assert [one.target for one in train.examples] == ["1", "0", "1", "0"]


def test_score_is_a_number_and_the_model_has_one_output(write: Write) -> None:
    """Case G04: 3.800 is 3.8; values out of range or no numbers are malformed."""
    text = "index\tsentence1\tsentence2\tscore\n" + "".join(
        f"{n}\ta\tb\t{score}\n" for n, score in enumerate(["3.800", "5.1", "nan", "four", "0"])
    )
    folder = write({"train.tsv": text})
    task = glue_task("stsb", SETTINGS)
    data = task.read(folder)
    assert data.train is not None
    assert [one.target for one in data.train.examples] == [3.8, 0.0]
    assert [one.split(":")[-2:] for one in data.train.skipped] == [
        ["3", " '5.1' is not from 0 to 5"],
        ["4", " 'nan' is not from 0 to 5"],
        ["5", " 'four' is not a number"],
    ]
    assert task.head(data) == Head("value")
    assert task.head(data).outputs == 1


def test_rows_without_gold_label_are_left_out_and_counted(write: Write) -> None:
    """MNLI's dev files have rows on which the annotators did not agree."""
    text = f"{MNLI_HEADER}\tgold_label\n0\ta\tb\tneutral\n1\ta\tb\t-\n2\ta\tb\tentailment\n"
    folder = write({"train.tsv": text, "dev_matched.tsv": text})
    for task in (glue_task("mnli", SETTINGS), glue_task("mnli", STRICT)):
        data = task.read(folder)
        for part in (data.train, *data.dev):
            assert part is not None
            assert [one.id for one in part.examples] == ["0", "2"]
            assert part.counts == {"rows without a gold label": 1}
            assert part.skipped == []
    assert "dev (dev_matched.tsv): 1 rows without a gold label left out" in data.notes


def test_unknown_label_words(write: Write) -> None:
    """In train they are skipped and named; on dev they are kept, to be scored as wrong."""
    text = (
        f"{MNLI_HEADER}\tgold_label\n0\ta\tb\tneutral\n1\ta\tb\tentail\n2\ta\tb\tentail\n"
        "3\ta\tb\tmaybe\n"
    )
    folder = write({"train.tsv": text, "dev_matched.tsv": text})
    task = glue_task("mnli", SETTINGS)
    data = task.read(folder)
    assert data.train is not None
    assert [one.id for one in data.train.examples] == ["0"]
    assert len(data.train.skipped) == 3
    assert (
        "train (train.tsv): labels unknown to the task, rows skipped: 'entail' (2), 'maybe' (1)"
        in data.notes
    )
    assert [one.target for one in data.dev[0].examples] == ["neutral", "entail", "entail", "maybe"]
    assert task.score(data.dev[0], ["neutral"] * 4) == {"accuracy": 0.25}
    encoded = task.encode(
        data.dev[0], Tokenizer([*SPECIAL, "a"]), 8, task.head(data), training=False
    )
    assert encoded.counts["examples with the label 'entail' that training lacks"] == 2
    with pytest.raises(InputError, match="unknown label 'entail'"):
        glue_task("mnli", STRICT).read(folder)


def test_labels_are_fixed_whatever_training_has(write: Write) -> None:
    task = glue_task("rte", SETTINGS)
    data = task.read(write({"train.tsv": f"{MNLI_HEADER}\tlabel\n0\ta\tb\tentailment\n"}))
    assert task.head(data) == Head("classes", ("entailment", "not_entailment"))


@pytest.mark.parametrize("label", [None, "-1", ""])
def test_test_files_without_labels(write: Write, label: str | None) -> None:
    """Case G06: a placeholder is no label: nothing to score."""
    head, cell = ("", "") if label is None else ("\tlabel", f"\t{label}")
    text = f"{MNLI_HEADER}{head}\n0\ta\tb{cell}\n1\tc\td{cell}\n"
    [test] = glue_task("rte", SETTINGS).read(write({"test.tsv": text}), training=False).test
    assert [one.target for one in test.examples] == [None, None]
    assert not test.labelled
    assert test.counts == {}


def test_test_files_with_labels(write: Write) -> None:
    text = f"{MNLI_HEADER}\tlabel\n0\ta\tb\tentailment\n1\tc\td\t"
    task = glue_task("rte", SETTINGS)
    [test] = task.read(write({"test.tsv": text + "not_entailment\n"}), training=False).test
    assert test.labelled
    assert task.score(test, ["entailment", "entailment"]) == {"accuracy": 0.5}
    [test] = task.read(write({"test.tsv": text + "-1\n"}), training=False).test
    assert not test.labelled
    assert test.counts == {"labels not used, since other rows have none": 1}


@pytest.mark.parametrize("name", ["train.tsv", "dev.tsv"])
def test_training_files_need_labels(write: Write, name: str) -> None:
    """Case G06: -1 never reaches the loss."""
    folder = write({name: f"{MNLI_HEADER}\tlabel\n0\ta\tb\t-1\n"})
    with pytest.raises(InputError, match="none of the 1 rows can be used"):
        glue_task("rte", SETTINGS).read(folder)
    folder = write({name: f"{MNLI_HEADER}\n0\ta\tb\n"})
    with pytest.raises(InputError, match="no column 'label'") as caught:
        glue_task("rte", SETTINGS).read(folder)
    assert caught.value.mend == "the file has the columns 'index', 'sentence1', 'sentence2'"


def test_diagnostic_set(write: Write) -> None:
    """It is found in MNLI's folder, in a folder there or beside it, with and without labels."""
    mnli = {"test_matched.tsv": f"{MNLI_HEADER}\n0\ta\tb\n"}
    plain, full = f"{MNLI_HEADER}\n0\ta\tb\n", "Premise\tHypothesis\tLabel\na\tb\tneutral\n"
    task = glue_task("mnli", SETTINGS)
    for number, (place, text) in enumerate({
        "MNLI/diagnostic.tsv": plain,
        "MNLI/Diagnostic/diagnostic.tsv": full,
        "diagnostic/diagnostic.tsv": full,
        "AX/diagnostic-full.tsv": full,
    }.items()):  # fmt: skip
        folder = write(
            {place: text, "MNLI/test_matched.tsv": mnli["test_matched.tsv"]}, str(number)
        )
        parts = task.read(folder / "MNLI", training=False).test
        assert [one.name for one in parts] == ["test", "ax"]
        assert [(one.id, one.text, one.pair) for one in parts[1].examples] == [("0", "a", "b")]
        assert parts[1].labelled == (text == full)
    labelled = parts[1]
    labelled.examples *= 4
    assert task.score(labelled, ["neutral"] * 4)["accuracy"] == 1.0
    assert list(task.score(labelled, ["neutral"] * 4)) == ["matthews", "accuracy"]
    assert task.figures_of(parts[0]) == ("accuracy",)


def test_one_file(write: Write) -> None:
    rows = f"{MNLI_HEADER}\n7\ta\tb\n"
    folder = write({"test_mismatched.tsv": rows, "mine.tsv": rows, "diagnostic.tsv": rows})
    task = glue_task("mnli", SETTINGS)
    for name, part in {
        "test_mismatched.tsv": "test_mismatched", "mine.tsv": "test", "diagnostic.tsv": "ax",
    }.items():  # fmt: skip
        [found] = task.read(folder / name, training=False).test
        assert (found.name, found.examples[0].id) == (part, "7")


def test_nothing_there(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        glue_task("rte", SETTINGS).read(tmp_path / "nowhere")
    folder = write({"other.txt": ""})
    with pytest.raises(InputError, match=r"no file of RTE is there") as caught:
        glue_task("rte", SETTINGS).read(folder)
    assert caught.value.mend == "give the folder that has some of train.tsv, dev.tsv, test.tsv"
    with pytest.raises(InputError, match="no GLUE task"):
        find_glue(folder)
    folder = write({"train.tsv": f"{MNLI_HEADER}\tlabel\n0\ta\tb\tentailment\n"}, "rte")
    with pytest.raises(InputError, match="to predict on"):
        glue_task("rte", SETTINGS).read(folder, training=False)


@pytest.mark.parametrize(
    ("spelled", "name"),
    [("SST-2", "sst2"), ("sts-b", "stsb"), ("STSB", "stsb"), ("CoLA", "cola"), ("mnli", "mnli")],
)
def test_names(spelled: str, name: str) -> None:
    assert glue_task(spelled, SETTINGS).name == name


def test_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'mrpc'"):
        glue_task("mrcp", SETTINGS)


def test_figures_that_decide() -> None:
    """The figures GLUE reports, F1 with accuracy, both correlations with their mean."""
    found = {layout.name: (layout.metric, layout.figures) for layout in LAYOUTS}
    accuracy = ("accuracy", ("accuracy",))
    assert found == {
        "cola": ("matthews", ("matthews", "accuracy")),
        "sst2": accuracy,
        "mrpc": ("f1", ("f1", "accuracy")),
        "qqp": ("f1", ("f1", "accuracy")),
        "stsb": ("pearson_spearman", ("pearson", "spearman", "pearson_spearman")),
        "mnli": accuracy,
        "qnli": accuracy,
        "rte": accuracy,
        "wnli": accuracy,
    }
    assert sorted(SUBMISSION) == [
        "AX.tsv", "CoLA.tsv", "MNLI-m.tsv", "MNLI-mm.tsv", "MRPC.tsv", "QNLI.tsv", "QQP.tsv",
        "RTE.tsv", "SST-2.tsv", "STS-B.tsv", "WNLI.tsv",
    ]  # fmt: skip


def test_f1_is_that_of_duplicates(write: Write) -> None:
    rows = [("1", "1"), ("1", "0"), ("0", "1"), ("0", "0"), ("0", "0"), ("0", "0"), ("1", "1")]
    text = QQP_HEADER + "".join(f"{n}\t1\t2\ta\tb\t{gold}\n" for n, (gold, _) in enumerate(rows))
    task = glue_task("qqp", SETTINGS)
    [dev] = task.read(write({"dev.tsv": text})).dev
    figures = task.score(dev, [one for _, one in rows])
    assert figures["f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert figures["accuracy"] == pytest.approx(5 / 7)


def test_a_model_with_other_labels_is_refused(write: Write) -> None:
    """Labels are matched by name, never by number: LABEL_0 may be anything."""
    task = glue_task("rte", SETTINGS)
    folder = write({"dev.tsv": f"{MNLI_HEADER}\tlabel\n0\ta\tb\tentailment\n"})
    [dev] = task.read(folder).dev
    tokenizer = Tokenizer([*SPECIAL, "a"])
    turned = Head("classes", ("not_entailment", "entailment"))
    assert task.encode(dev, tokenizer, 8, turned, training=False).features[0].target == 1
    for head in (Head("classes", ("LABEL_0", "LABEL_1")), Head("value"), Head("labels", ("a",))):
        with pytest.raises(ModelError):
            task.encode(dev, tokenizer, 8, head, training=False)
