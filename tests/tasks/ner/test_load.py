from __future__ import annotations

from pathlib import Path

import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.ner.task import NerTask
from bertsmith.tasks.settings import TaskSettings
from tests.data import data
from tests.tasks.ner.conftest import Write

TRAIN = "Ana B-PER\nlives O\n\nRome B-LOC\n"


def task(**settings: object) -> NerTask:
    return NerTask(TaskSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "names",
    [
        ("eng.train", "eng.testa", "eng.testb"),
        ("train.txt", "dev.txt", "test.txt"),
        ("train.txt", "valid.txt", "test.txt"),
        ("train.conll", "dev.conll", "test.conll"),
        ("my-train.bio", "my-dev.bio", "my-test.bio"),
        ("en_ewt-ud-train.iob2", "en_ewt-ud-dev.iob2", "en_ewt-ud-test.iob2"),
        ("train", "testa", "testb"),
        ("train.tsv", "devel.tsv", "test.tsv"),
    ],
)
def test_names_of_files(file: Write, names: tuple[str, str, str]) -> None:
    paths = [file(name, TRAIN.replace("Ana", name)) for name in names]
    file("README.md", "train dev test")
    file("labels.txt", "O\nB-PER\n")
    found = task().read(paths[0].parent)
    assert found.train is not None
    parts = [found.train, *found.dev, *found.test]
    assert [part.name for part in parts] == ["train", "dev", "test"]
    assert [part.files for part in parts] == [(path,) for path in paths]
    assert [part.examples[0].words[0] for part in parts] == list(names)
    predict = task().read(paths[0].parent, training=False)
    assert predict.train is None
    assert [part.name for part in (*predict.dev, *predict.test)] == ["dev", "test"]


def test_two_files_for_a_part_are_refused(file: Write) -> None:
    file("eng.train", TRAIN)
    path = file("esp.train", TRAIN)
    with pytest.raises(InputError, match="several files might be the train part"):
        task().read(path.parent)


def test_a_folder_without_a_training_file(file: Write) -> None:
    path = file("dev.txt", TRAIN)
    with pytest.raises(InputError, match=r"no file train"):
        task().read(path.parent)
    with pytest.raises(InputError, match="no such file or folder"):
        task().read(path.parent / "none")


def test_all_parts_are_read_as_iob2(file: Write) -> None:
    """Case N03: files in different schemes mean the same."""
    file("train.txt", "Ana I-PER\nMay I-PER\n\nRome I-LOC\n")
    file("dev.txt", "Ana B-PER\nMay E-PER\n\nRome S-LOC\n")
    path = file("test.txt", "Ana B-PER\nMay I-PER\n\nRome B-LOC\n")
    found = task().read(path.parent)
    assert found.train is not None
    for part in (found.train, *found.dev, *found.test):
        assert [one.tags for one in part.examples] == [("B-PER", "I-PER"), ("B-LOC",)]
        assert part.labelled
    assert found.notes == [
        "train (train.txt): tags in IOB1, read as IOB2",
        "dev (dev.txt): tags in BIOES, read as IOB2",
        "test (test.txt): tags in IOB2",
        "f1 counts entities as conlleval does, in any sequence of tags; strict_f1 only those in "
        "valid IOB2",
    ]


def test_the_marker_is_in_no_label(file: Write) -> None:
    """Case N04: the label list comes from the last columns of words."""
    text = (
        "-DOCSTART- -X- -X- -X-\n\nAna NNP B-NP B-PER\nlives VBZ B-VP O\n\n"
        "-DOCSTART- -X- -X- O\nRome NNP B-NP B-LOC"
    )
    path = file("train.txt", text)
    file("dev.txt", text)
    found = task().read(path.parent)
    assert task().head(found).labels == ("O", "B-LOC", "B-PER")
    assert [part.examples[1].document for part in found.dev] == [2]


def test_malformed_sentences(file: Write) -> None:
    path = file("train.txt", f"{TRAIN}\nlost\nhere O\n\nParis LOC\n")
    file("dev.txt", TRAIN)
    found = task().read(path.parent)
    assert found.train is not None
    assert [one.words for one in found.train.examples] == [("Ana", "lives"), ("Rome",)]
    assert found.train.skipped == [
        f"{path}:6: the row has no tag, only 'lost'; the sentence is left out",
        f"{path}:9: the tag 'LOC' is neither O nor does it begin with B- or I-; the sentence is "
        "left out",
    ]
    assert "train (train.txt): 2 malformed sentences skipped" in found.notes
    with pytest.raises(InputError, match="no tag") as error:
        task(strict=True).read(path.parent)
    assert error.value.line == 6
    with pytest.raises(InputError, match="no tag"):
        task().read(path, training=False)


def test_a_wrong_tag_is_refused_by_line(file: Write) -> None:
    path = file("test.txt", f"{TRAIN}\nParis O\nParis LOC\n")
    with pytest.raises(InputError, match="'LOC' is neither O") as error:
        task().read(path, training=False)
    assert error.value.line == 7


DOCUMENTS = "".join(
    f"-DOCSTART- O\n\n{''.join(f'w{d}x{s} B-PER{chr(10)}{chr(10)}' for s in range(5))}"
    for d in range(20)
)


def test_dev_is_made_of_whole_documents(file: Write) -> None:
    path = file("all.txt", DOCUMENTS)
    found = task(dev_percent=20.0).read(path)
    assert found.train is not None
    documents = [{one.document for one in part.examples} for part in (found.train, *found.dev)]
    assert not documents[0] & documents[1]
    assert [len(found.train.examples), len(found.dev[0].examples)] == [80, 20]
    assert any("20 of 100 training sentences are held back" in note for note in found.notes)
    assert any("whole documents" in note for note in found.notes)
    again = task(dev_percent=20.0).read(path)
    other = task(dev_percent=20.0, split_seed=1).read(path)
    assert again.dev[0].examples == found.dev[0].examples != other.dev[0].examples


def test_dev_is_made_of_sentences_where_there_is_one_document(file: Write) -> None:
    path = file("all.txt", "".join(f"w{n} B-PER\n\n" for n in range(50)))
    found = task().read(path)
    assert found.train is not None
    assert [len(found.train.examples), len(found.dev[0].examples)] == [45, 5]
    assert {*found.train.examples} | {*found.dev[0].examples} == {
        *task().read(path, training=False).dev[0].examples
    }


def test_a_file_to_predict_on(file: Write) -> None:
    found = task().read(file("some.txt", TRAIN), training=False)
    assert (found.test, [one.name for one in found.dev], found.dev[0].labelled) == (
        [],
        ["dev"],
        True,
    )
    found = task().read(file("some.txt", "Ana\nlives\n"), training=False)
    assert (found.dev, [one.name for one in found.test], found.test[0].labelled) == (
        [],
        ["test"],
        False,
    )
    assert found.test[0].examples[0].tags is None


def test_training_and_dev_need_tags(file: Write) -> None:
    path = file("train.txt", TRAIN)
    file("dev.txt", "Ana\nlives\n")
    with pytest.raises(InputError, match="the dev part has no tags"):
        task().read(path.parent)
    with pytest.raises(InputError, match="the train part has no tags"):
        task().read(file("words.txt", "Ana\nlives\n"))


def test_a_test_part_may_lack_tags(file: Write) -> None:
    path = file("train.txt", TRAIN)
    file("dev.txt", TRAIN)
    file("test.txt", "Ana\nlives\n")
    [test] = task().read(path.parent).test
    assert not test.labelled


def test_tags_that_training_lacks_are_told(file: Write) -> None:
    path = file("train.txt", TRAIN)
    file("dev.txt", "Rome B-ORG\nClub I-ORG\n\nFord B-ORG\n")
    notes = task().read(path.parent).notes
    assert (
        "dev: 3 words have tags that training lacks, which count as wrong: B-ORG 2, I-ORG 1"
    ) in notes


def test_plain_labels(file: Write) -> None:
    """The score that chooses is then the accuracy; labels are as they are."""
    path = file("train.txt", "the DET\nold ADJ\nman NOUN\nsleeps VERB\n\nthe DET\n")
    file("dev.txt", "a DET\n")
    here = task()
    found = here.read(path.parent)
    assert here.metric == "accuracy"
    assert here.head(found).labels == ("DET", "ADJ", "NOUN", "VERB")
    assert found.notes[0] == (
        "train (train.txt): plain labels, not tags of entities: scored by their accuracy"
    )
    file("train.txt", TRAIN)
    file("dev.txt", TRAIN)
    here.read(path.parent)
    assert here.metric == "f1"


def test_plain_labels_and_entities_do_not_mix(file: Write) -> None:
    path = file("train.txt", "the DET\nold ADJ\n")
    file("dev.txt", TRAIN)
    with pytest.raises(InputError, match="dev has tags of entities, train has plain labels"):
        task().read(path.parent)


def test_the_encoding_is_a_setting(file: Write) -> None:
    file("train.txt", "Coruña B-LOC\n".encode("latin-1"))
    path = file("dev.txt", "Coruña B-LOC\n".encode("latin-1"))
    with pytest.raises(InputError, match="byte 4 is not utf-8"):
        task().read(path.parent)
    assert task(encoding="latin-1").read(path.parent).dev[0].examples[0].words == ("Coruña",)


def test_context_across_a_file_without_documents_is_told(file: Write) -> None:
    path = file("train.txt", TRAIN)
    file("dev.txt", TRAIN)
    notes = task(document_context=True).read(path.parent).notes
    assert "train: one document only, so all its sentences are each other's context" in notes


def test_conll_2003() -> None:
    found = task().read(Path(data("ner", "conll2003")))
    assert found.train is not None
    parts = [found.train, *found.dev, *found.test]
    assert [len(one.examples) for one in parts] == [14041, 3250, 3453]
    assert all(one.labelled and not one.skipped for one in parts)
    assert task().head(found).labels == (
        "O", "B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER",
    )  # fmt: skip
