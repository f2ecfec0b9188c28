"""Tagging schemes: how tags a word spell entities of several words.

IOB1 (Ramshaw and Marcus, cmp-lg/9505040) begins an entity with I, and with B only right after
another one of its type; IOB2 begins every entity with B; BIOES also marks its end (E) and entities
of one word (S). BILOU and BMES are BIOES with other letters. Everything here reads tags as the
scorer of the CoNLL shared tasks (conlleval) does, so that any sequence has entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

OUTSIDE = "O"
Scheme = Literal["IOB1", "IOB2", "BIOES", "plain"]
_LETTERS = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I"}
_BARE = frozenset("BIES")  # prefixes that may stand alone, where there is one type without a name


class Entity(NamedTuple):
    """An entity: its type, its first word and the word after its last."""

    type: str
    start: int
    stop: int


@dataclass(frozen=True)
class Detected:
    """The scheme of a set of tags.

    Attributes:
        name: the scheme; ``plain`` for labels that stand for themselves, parts of speech say.
        broken: entities that do not begin as the scheme says.
    """

    name: Scheme
    broken: int = 0


@lru_cache(maxsize=4096)
def parse(tag: str) -> tuple[str, str]:
    """Prefix (B, I, E, S; O outside) and type of a tag; a prefix "" for a plain label."""
    if tag == OUTSIDE:
        return OUTSIDE, ""
    letter, dash, kind = tag.partition("-")
    if dash and letter in _LETTERS:
        return _LETTERS[letter], kind
    return (tag, "") if tag in _BARE else ("", tag)


def is_plain(tags: Iterable[str]) -> bool:
    """Whether at least one of the tags is neither outside nor of an entity."""
    return any(not parse(tag)[0] for tag in set(tags))


def begins(previous: str, tag: str) -> bool:
    """Whether an entity begins with ``tag``, by the rules of conlleval."""
    (before, type_before), (prefix, kind) = parse(previous), parse(tag)
    if prefix in ("", OUTSIDE):
        return False
    return prefix in "BS" or before in ("", OUTSIDE, "E", "S") or type_before != kind


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of a sentence, as conlleval finds them in any sequence of tags."""
    found: list[Entity] = []
    previous = OUTSIDE
    for at, tag in enumerate(tags):
        if begins(previous, tag):
            found.append(Entity(parse(tag)[1], at, at + 1))
        elif parse(tag)[0] not in ("", OUTSIDE):
            found[-1] = found[-1]._replace(stop=at + 1)
        previous = tag
    return found


def strict_entities(tags: Sequence[str]) -> list[Entity]:
    """The entities that are valid IOB2: a B and the I of its type right after it."""
    found: list[Entity] = []
    running = False
    for at, tag in enumerate(tags):
        prefix, kind = parse(tag)
        if prefix == "B":
            found.append(Entity(kind, at, at + 1))
        running = prefix == "B" or (running and prefix == "I" and kind == found[-1].type)
        if running:
            found[-1] = found[-1]._replace(stop=at + 1)
    return found


def to_iob2(tags: Sequence[str]) -> tuple[str, ...]:
    """The same entities in IOB2, whatever the scheme; each tag has to be one of an entity or O."""
    found = []
    previous = OUTSIDE
    for tag in tags:
        kind = parse(tag)[1]
        prefix = "B" if begins(previous, tag) else "I"
        found.append(tag if tag == OUTSIDE else f"{prefix}-{kind}" if kind else prefix)
        previous = tag
    return tuple(found)


def detect(sentences: Sequence[Sequence[str]]) -> Detected:
    """The scheme of all tags of a part together.

    A tag or two may be wrong in a file, so the greater number decides: of tags with and without a
    prefix, and of entities that begin with I after no entity of their type (IOB1) and with B
    (IOB2). Without any entity it is IOB2.
    """
    count = Counter(tag for one in sentences for tag in one if tag != OUTSIDE)
    plain = sum(number for tag, number in count.items() if not parse(tag)[0])
    if 2 * plain > count.total():
        return Detected("plain")
    letters = {parse(tag)[0] for tag in count}
    begun = Counter(_beginning(before, tag) for one in sentences for before, tag in _pairs(one))
    inside = begun["I"] + begun["E"]
    if letters & {"E", "S"}:
        return Detected("BIOES", inside)
    if inside > begun["B"]:
        return Detected("IOB1", begun["B"])
    return Detected("IOB2", inside)


def _pairs(tags: Sequence[str]) -> Iterable[tuple[str, str]]:
    return zip((OUTSIDE, *tags), tags, strict=False)


def _beginning(previous: str, tag: str) -> str:
    """The prefix of a tag that begins an entity not right after one of its type, else ""."""
    (before, type_before), (prefix, kind) = parse(previous), parse(tag)
    if not begins(previous, tag):
        return ""
    same = before in ("B", "I") and type_before == kind
    return "" if same else prefix
