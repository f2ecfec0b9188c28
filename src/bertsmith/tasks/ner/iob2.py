"""Sentences of a file or table with their tags in IOB2, whatever scheme they came in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.schemes import OUTSIDE, Scheme, detect, parse, to_iob2


@dataclass
class ReadTags:
    """What became of the tags of a part.

    Attributes:
        scheme: the one they were in; None where all are O, which is of entities or plain alike.
        sentences: those whose tags could be read, in their order; plain labels as they were.
        wrong: (sentence, number of its word) for each of the others: its tag is a plain label
            among tags of entities.
        counts: entities that do not begin as the scheme says.
        note: the scheme in words.
    """

    scheme: Scheme | None
    sentences: list[TaggedSentence]
    wrong: list[tuple[TaggedSentence, int]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    note: str = ""


def read_tags(sentences: Sequence[TaggedSentence]) -> ReadTags:
    """Bring tags of entities to IOB2; sentences without tags and plain labels stay as they are."""
    tags = [one.tags for one in sentences if one.tags is not None]
    if all(tag == OUTSIDE for one in tags for tag in one):
        return ReadTags(None, list(sentences), note="tags in IOB2")
    scheme = detect(tags)
    if scheme.name == "plain":
        text = "plain labels, not tags of entities: scored by their accuracy"
        return ReadTags("plain", list(sentences), note=text)
    text = "tags in IOB2" if scheme.name == "IOB2" else f"tags in {scheme.name}, read as IOB2"
    read = ReadTags(scheme.name, [], note=text)
    read.counts[f"entities that do not begin as {scheme.name} says"] = scheme.broken
    read.counts = +read.counts
    for one in sentences:
        at = next((at for at, tag in enumerate(one.tags or ()) if not parse(tag)[0]), None)
        if at is not None:
            read.wrong.append((one, at))
        elif one.tags is None:
            read.sentences.append(one)
        else:
            read.sentences.append(replace(one, tags=to_iob2(one.tags)))
    return read
