from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from bertsmith.common.errors import InputError, ModelError
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.ner.conll import read_columns
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.task import NerTask
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import Data, Encoded, Head, Output, Part
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL
from tests.data import data

HEAD = Head("tokens", ("O", "B-LOC", "B-PER", "I-LOC", "I-PER"))


def task(**settings: object) -> NerTask:
    return NerTask(TaskSettings(**settings))  # type: ignore[arg-type]


def sure(encoded: Encoded, head: Head) -> list[Output]:
    """What a model that knows the targets gives; elsewhere it says the last label."""
    rows = np.eye(head.outputs, dtype=np.float32)
    return [
        rows[[label if label >= 0 else head.outputs - 1 for label in one.target]]
        for one in encoded.features
    ]


def part(*sentences: tuple[str, str | None]) -> Part[TaggedSentence]:
    """A part of (words, tags), set apart by spaces."""
    return Part(
        "dev",
        [TaggedSentence(tuple(words.split(" ")), None if tags is None else tuple(tags.split(" ")))
         for words, tags in sentences],
        labelled=all(tags is not None for _, tags in sentences),
    )  # fmt: skip


def test_a_tag_for_every_word() -> None:
    """Case N01: six words, six tags, those without a token O."""
    tokenizer = Tokenizer([*SPECIAL, "ana", "lives", "in", "ro", "##me"])
    dev = part(("Ana \u200b lives in \ufeff Rome", "B-PER O O O O B-LOC"))
    encoded = task().encode(dev, tokenizer, 128, HEAD, training=False)
    [got] = task().decide(dev, encoded, sure(encoded, HEAD), HEAD, {})
    assert got == ["B-PER", "O", "O", "O", "O", "B-LOC"]
    assert task().score(dev, [got])["f1"] == 1.0
    assert TaskBatch.of(encoded.features, HEAD).targets == {"task": 4}
    wrong = sure(encoded, HEAD)
    wrong[0][[0, 5, 6]] = [9, 9, 9, 0, 0]  # [CLS], ##me and [SEP] count for nothing
    assert task().decide(dev, encoded, wrong, HEAD, {}) == [got]


def test_gold_outputs_give_gold_tags(letters: Tokenizer) -> None:
    """Round trip through windows, with and without context, words without tokens between."""
    chance = random.Random(7)
    sentences = []
    for _ in range(40):
        words = [
            "".join(chance.choice("abcxyz") for _ in range(chance.choice([1, 2, 9])))
            for _ in range(chance.choice([1, 6, 40]))
        ]
        sentences.append((" ".join(words), " ".join(chance.choice(HEAD.labels) for _ in words)))
    dev = part(*sentences)
    for length in (8, 16, 128):
        for context in (False, True):
            here = task(document_context=context)
            encoded = here.encode(dev, letters, length, HEAD, training=False)
            got = here.decide(dev, encoded, sure(encoded, HEAD), HEAD, {})
            assert [tuple(one) for one in got] == [one.tags for one in dev.examples]


@pytest.mark.parametrize(("length", "context"), [(128, False), (16, False), (16, True)])
def test_gold_outputs_of_conll_2003(length: int, context: bool) -> None:
    vocabulary = data("vocab", "bert-base-cased", "vocab.txt")
    tokenizer = Tokenizer.from_vocab_file(vocabulary, lowercase=False)
    here = task(document_context=context)
    found = here.read(data("ner", "conll2003", "eng.testb"), training=False)
    [dev] = found.dev
    head = here.head(Data(train=dev))
    encoded = here.encode(dev, tokenizer, length, head, training=False)
    got = here.decide(dev, encoded, sure(encoded, head), head, {})
    figures = here.score(dev, got)
    assert figures["f1"] == figures["strict_f1"] == figures["accuracy"] == 1.0
    assert {name for name in figures if name.startswith("f1 ")} == {
        "f1 LOC", "f1 MISC", "f1 ORG", "f1 PER",
    }  # fmt: skip


def test_each_inside_tag_has_its_begin() -> None:
    train = part(("a b", "I-PER O"), ("c", "B-LOC"))
    assert task().head(Data(train=train)).labels == ("O", "B-LOC", "B-PER", "I-PER")


def test_there_has_to_be_something_to_learn() -> None:
    with pytest.raises(InputError, match="no entities"):
        task().head(Data(train=part(("a b", "O O"))))
    with pytest.raises(InputError, match="fewer than two labels"):
        task().head(Data(train=part(("a b", "DET DET"))))


def test_the_most_frequent_label_stands_for_words_without_tokens(letters: Tokenizer) -> None:
    train = part(("a b c", "NOUN VERB NOUN"))
    head = task().head(Data(train=train))
    assert head.labels == ("NOUN", "VERB")
    dev = part(("a \u200b", "VERB VERB"))
    encoded = task().encode(dev, letters, 16, head, training=False)
    got = task().decide(dev, encoded, sure(encoded, head), head, {})
    assert got == [["VERB", "NOUN"]]
    assert task().score(dev, got) == {"accuracy": 0.5}


def test_another_head_is_refused(letters: Tokenizer) -> None:
    with pytest.raises(ModelError, match="the model gives classes"):
        task().encode(part(("a", "O")), letters, 16, Head("classes", ("a", "b")), training=True)


def test_a_tag_that_training_lacks_counts_as_wrong(letters: Tokenizer) -> None:
    dev = part(("a b c", "B-PER O B-ORG"))
    encoded = task().encode(dev, letters, 16, HEAD, training=False)
    got = task().decide(dev, encoded, sure(encoded, HEAD), HEAD, {})
    figures = task().score(dev, got)
    assert figures["f1 ORG"] == 0.0
    assert figures["recall"] == 0.5


def test_samples_have_the_score_of_their_sentences() -> None:
    """The bootstrap's fast score is the score."""
    chance = random.Random(11)
    for labels in (HEAD.labels, ("NOUN", "VERB")):
        rows = [[chance.choice(labels) for _ in range(chance.randint(1, 8))] for _ in range(30)]
        dev = part(*((" ".join("w" for _ in row), " ".join(row)) for row in rows))
        guess = [[tag if chance.random() < 0.7 else labels[0] for tag in row] for row in rows]
        here = task()
        here.metric = "f1" if labels is HEAD.labels else "accuracy"
        fast, slow = here.scorer(dev, guess), super(NerTask, here).scorer(dev, guess)
        values = set()
        for seed in range(20):
            numbers = np.random.default_rng(seed).integers(0, 30, 30)
            assert fast(numbers) == pytest.approx(slow(numbers), abs=1e-12)
            values.add(fast(numbers))
        assert len(values) > 10
        assert here.entity_counts(dev, guess).shape == (30, 3)


def test_baseline_and_constant_predictions() -> None:
    train, dev = part(("a b c", "O O B-PER")), part(("a b", "B-PER O"), ("c", "O"))
    guess = task().most_frequent(train, dev)
    assert guess == [["O", "O"], ["O"]]
    assert task().constant(guess)
    assert not task().constant([["O", "B-PER"], ["O"]])
    assert task().score(dev, guess)["f1"] == 0.0


def test_what_went_wrong() -> None:
    dev = part(
        ("Ana May lives", "B-PER I-PER O"), ("Rome", "B-LOC"), ("in Rome Ana", "O B-LOC B-PER")
    )
    got = [["O", "B-PER", "O"], ["B-LOC"], ["O", "B-PER", "O"]]
    first, second = task().mistakes(dev, got, 5)
    assert (first.text, first.expected, first.got, first.loss) == (
        "in Rome Ana", "Rome [LOC], Ana [PER]", "Rome [PER]", 3.0,
    )  # fmt: skip
    assert (second.expected, second.got, second.loss) == ("Ana May [PER]", "May [PER]", 2.0)
    assert len(task().mistakes(dev, got, 1)) == 1
    table = task().confusion(dev, got, HEAD)
    assert table["B-LOC"] == {"O": 0, "B-LOC": 1, "B-PER": 1, "I-LOC": 0, "I-PER": 0}
    assert sum(sum(row.values()) for row in table.values()) == 7


def test_wrong_plain_labels() -> None:
    dev = part(("the man", "DET NOUN"), ("a", "DET"))
    [one] = task().mistakes(dev, [["DET", "VERB"], ["DET"]], 5)
    assert (one.expected, one.got, one.loss) == ("man [NOUN]", "man [VERB]", 1.0)


def write(tmp_path: Path, dev: Part[TaggedSentence], got: list[list[str]]) -> str:
    [path] = task().write(tmp_path, dev, got)
    assert path == tmp_path / "dev.txt"
    return path.read_text("utf-8")


def test_the_file_of_predictions(tmp_path: Path) -> None:
    """Case N04: a row a word, markers of documents stay."""
    dev = Part("dev", [
        TaggedSentence(("Ana", "lives"), ("B-PER", "O"), 1),
        TaggedSentence(("x",), ("O",), 1),
        TaggedSentence(("Rome",), ("B-LOC",), 2),
    ])  # fmt: skip
    text = write(tmp_path, dev, [["B-PER", "B-LOC"], ["O"], ["O"]])
    assert text == (
        "-DOCSTART- O O\n\nAna B-PER B-PER\nlives O B-LOC\n\nx O O\n\n"
        "-DOCSTART- O O\n\nRome B-LOC O\n\n"
    )


def test_the_file_without_gold_tags(tmp_path: Path) -> None:
    assert write(tmp_path, part(("Ana lives", None)), [["B-PER", "O"]]) == "Ana B-PER\nlives O\n\n"


def test_the_file_of_odd_words(tmp_path: Path) -> None:
    """As many rows as words, whatever is in them: spaces, line ends, half a surrogate pair."""
    words = ("New York", "a\tb", "c\nd", "\ud83d", "\u200b", "\u2028")
    dev = Part("dev", [TaggedSentence(words, ("B-LOC", "O", "O", "O", "O", "O"))])
    text = write(tmp_path, dev, [["B-LOC", "O", "O", "O", "O", "B-PER"]])
    assert text.startswith("New York\tB-LOC\tB-LOC\na b\tO\tO\nc d\tO\tO\n")
    [again] = read_columns(tmp_path / "dev.txt", "utf-8", whole=True).sentences
    assert again.tags == ("B-LOC", "O", "O", "O", "O", "B-PER")
    assert (again.words[0], *again.words[4:]) == ("New York", "\u200b", "\u2028")


def test_the_file_of_conll_2003_keeps_its_shape(tmp_path: Path) -> None:
    found = task().read(data("ner", "conll2003", "eng.testb"), training=False)
    [dev] = found.dev
    write(tmp_path, dev, [list(one.tags or ()) for one in dev.examples])
    again = task().read(tmp_path / "dev.txt", training=False).dev[0]
    assert [(one.words, one.tags, one.document) for one in again.examples] == [
        (one.words, one.tags, one.document) for one in dev.examples
    ]
