from __future__ import annotations

import random

import pytest

from bertsmith.tasks.ner.conll import read_columns
from bertsmith.tasks.ner.schemes import (
    Detected,
    Entity,
    detect,
    entities,
    is_plain,
    strict_entities,
    to_iob2,
)
from tests.data import data

IOB2 = ("B-PER", "I-PER", "O", "B-LOC", "B-LOC", "B-ORG")


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (("I-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-ORG"), "IOB1"),
        (IOB2, "IOB2"),
        (("B-PER", "E-PER", "O", "S-LOC", "S-LOC", "S-ORG"), "BIOES"),
        (("B-PER", "L-PER", "O", "U-LOC", "U-LOC", "U-ORG"), "BIOES"),
    ],
)
def test_every_scheme_spells_the_same_entities(tags: tuple[str, ...], scheme: str) -> None:
    """Case N03: the scheme is found in the tags, and does not change the entities."""
    assert detect([tags]) == Detected(scheme)  # type: ignore[arg-type]
    assert to_iob2(tags) == IOB2
    assert entities(tags) == entities(IOB2) == [
        Entity("PER", 0, 2), Entity("LOC", 3, 4), Entity("LOC", 4, 5), Entity("ORG", 5, 6),
    ]  # fmt: skip


def test_gold_of_the_case() -> None:
    """Case N03."""
    assert to_iob2(("I-PER", "I-PER", "O", "I-LOC", "B-LOC")) == (
        "B-PER", "I-PER", "O", "B-LOC", "B-LOC",
    )  # fmt: skip


def test_long_entities_of_bioes() -> None:
    assert to_iob2(("B-X", "I-X", "E-X", "B-X", "E-X", "E-X", "I-X", "S-Y", "I-Y")) == (
        "B-X", "I-X", "I-X", "B-X", "I-X", "B-X", "B-X", "B-Y", "B-Y",
    )  # fmt: skip


def test_tags_without_a_type() -> None:
    assert detect([("B", "I", "O", "B")]).name == "IOB2"
    assert to_iob2(("I", "I", "O", "B")) == ("B", "I", "O", "B")


def test_types_may_hold_hyphens() -> None:
    assert entities(("B-A-B", "I-A-B", "I-A-C")) == [Entity("A-B", 0, 2), Entity("A-C", 2, 3)]


def test_plain_labels() -> None:
    assert detect([("NOUN", "VERB", "ADP", "S")]).name == "plain"
    assert is_plain(["NOUN", "O"])
    assert is_plain(["BIES"])
    assert not is_plain(["O", "B-X", "I-X", "B"])


def test_the_greater_number_decides() -> None:
    """One wrong tag makes no other scheme of a file."""
    assert detect([("B-X", "I-X", "O", "B-Y"), ("O", "I-Y")]) == Detected("IOB2", 1)
    assert detect([("I-X", "I-X", "O", "I-Y"), ("O", "B-Y")]) == Detected("IOB1", 1)
    assert detect([("B-X", "O", "PER")]).name == "IOB2"


def test_no_entity_is_iob2() -> None:
    assert detect([("O", "O"), ("O",)]) == Detected("IOB2", 0)


def test_only_a_begin_begins_in_strict_mode() -> None:
    tags = ("I-X", "B-X", "I-X", "I-Y", "I-X", "O", "I-X", "B-Y", "B-Y")
    assert strict_entities(tags) == [Entity("X", 1, 3), Entity("Y", 7, 8), Entity("Y", 8, 9)]


def test_iob2_keeps_the_entities_of_any_sequence() -> None:
    """Conversion may not change what conlleval finds, and what it gives is valid IOB2."""
    chance = random.Random(3)
    for _ in range(3000):
        tags = [
            chance.choice(["O", "B-X", "I-X", "B-Y", "I-Y", "E-X", "S-Y"])
            for _ in range(chance.randint(1, 9))
        ]
        assert entities(to_iob2(tags)) == strict_entities(to_iob2(tags)) == entities(tags)


@pytest.mark.parametrize(
    ("name", "count", "types", "broken"),
    [
        ("eng.train", 23499, {"LOC": 7140, "MISC": 3438, "ORG": 6321, "PER": 6600}, 2),
        ("eng.testa", 5942, {"LOC": 1837, "MISC": 922, "ORG": 1341, "PER": 1842}, 0),
        ("eng.testb", 5648, {"LOC": 1668, "MISC": 702, "ORG": 1661, "PER": 1617}, 0),
    ],
)
def test_the_entities_of_conll_2003(
    name: str, count: int, types: dict[str, int], broken: int
) -> None:
    """Case N03: entities as published (cs/0306050, table 2). Two tags of the training file begin
    with B after no entity: lines 152428 and 175436."""
    found = read_columns(data("ner", "conll2003", name), "utf-8", whole=True)
    tags = [one.tags or () for one in found.sentences]
    assert detect(tags) == Detected("IOB1", broken)
    there = [entity for one in tags for entity in strict_entities(to_iob2(one))]
    assert len(there) == count
    assert {kind: sum(one.type == kind for one in there) for kind in types} == types


def test_the_spanish_file_is_iob2() -> None:
    """Its entities begin with B, as many as rows end in such a tag, but for one: line 30882 is
    ``de I-LOC`` after ``Río O``. conlleval counts that one too."""
    path = data("ner", "conll2002-es", "esp.testa")
    tags = [one.tags or () for one in read_columns(path, "utf-8", whole=True).sentences]
    assert detect(tags) == Detected("IOB2", 1)
    assert path.read_text("utf-8").count(" B-") == 4351
    assert sum(len(entities(one)) for one in tags) == 4352
