"""The first look at the inputs: what is held out, what is a copy, which characters there are."""

from __future__ import annotations

import hashlib
import heapq
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from tokenizers import normalizers

from bertsmith.common.console import Bar
from bertsmith.corpus.formats import Document, read_documents
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source
from bertsmith.text.surrogates import clean
from bertsmith.text.trainer import Alphabet

# The held-out part has at least two documents where there are twenty, so that next-sentence
# prediction can be evaluated, and one where there are two.
_LEAST_HELD_OUT = {2: 1, 20: 2}
_RANGE = 1 << 64
_MAYBE_EMPTY = 1000  # bytes; a longer document has a character that is not removed
_CLEANED = normalizers.BertNormalizer(lowercase=False)


@dataclass
class Survey:
    """What has to be known of all documents before the first is encoded.

    Attributes:
        documents: number of documents with text, copies counted in.
        formats: number of documents by format.
        size: bytes of their text.
        held_out_below: documents whose place is below this are held out.
        copied: places of documents that occur more than once, where copies are to be dropped.
    """

    documents: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    size: int = 0
    held_out_below: int = 0
    copied: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Found:
    """A document of the inputs."""

    form: str
    lines: Document
    digest: bytes
    size: int

    @property
    def place(self) -> int:
        """The document's place in [0, 2**64), by the hash of its text."""
        return int.from_bytes(self.digest[:8], "big")

    def sampled(self, rate: float) -> Iterator[str]:
        """The lines that belong to a sample of ``rate``, chosen by their own hash."""
        return (line for line in self.lines if rate >= 1 or _draw(line) < rate)

    def has_text(self) -> bool:
        """Whether anything is left of it when invisible characters are removed."""
        if self.size > _MAYBE_EMPTY:
            return True
        return any(_CLEANED.normalize_str(clean(line)).strip() for line in self.lines)


def documents(sources: list[Source], settings: CorpusSettings) -> Iterator[Found]:
    """All documents of all inputs in order."""
    for source in sources:
        yield from _documents(source, settings)


def shown(sources: list[Source], settings: CorpusSettings, what: str) -> Iterator[Found]:
    """As :func:`documents`, with a progress bar in bytes of the inputs."""
    with Bar(what, sum(source.size for source in sources)) as bar:
        done = 0
        for source in sources:
            for found in _documents(source, settings):
                yield found
                # The text of a compressed file is larger than the file.
                bar.advance(min(found.size, max(0, done + source.size - bar.done)))
            done += source.size
            bar.advance(max(0, done - bar.done))


def _documents(source: Source, settings: CorpusSettings) -> Iterator[Found]:
    for form, lines in read_documents(source, settings):
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, digest_size=16).digest()
        yield Found(form, lines, digest, len(data))


def survey(
    sources: list[Source], settings: CorpusSettings, rate: float, alphabet: Alphabet | None
) -> Survey:
    """Read all inputs once.

    Args:
        sources: the inputs.
        settings: the settings in force.
        rate: share of the lines whose characters are counted.
        alphabet: where they are counted; None where no vocabulary is to be trained.
    """
    result = Survey(held_out_below=share_below(settings.held_out_percent))
    places = array("Q")
    smallest: list[int] = []  # the smallest places, negated, so that the largest is on top
    for found in shown(sources, settings, "reading"):
        if settings.deduplicate:
            places.append(found.place)
        if not found.has_text():
            continue
        result.documents += 1
        result.formats[found.form] += 1
        result.size += found.size
        if -found.place not in smallest:
            heapq.heappush(smallest, -found.place)
        if len(smallest) > max(_LEAST_HELD_OUT.values()):
            heapq.heappop(smallest)
        if alphabet and found.place >= result.held_out_below:
            alphabet.add("\n".join(found.sampled(rate)))
    if settings.held_out_percent and len(smallest) > 1:
        least = max((n for d, n in _LEAST_HELD_OUT.items() if result.documents >= d), default=0)
        lowest = sorted(-place for place in smallest)[:least]
        result.held_out_below = max(result.held_out_below, lowest[-1] + 1)
    result.copied = _repeated(places)
    return result


def _repeated(places: array[int]) -> frozenset[int]:
    # Sorted in place: eight bytes a document, where a set would take a hundred.
    ordered = np.frombuffer(places, np.uint64) if places else np.zeros(0, np.uint64)
    ordered.sort()
    return frozenset(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


def _draw(line: str) -> float:
    return zlib.crc32(line.encode("utf-8", "surrogatepass")) / (1 << 32)


def share_below(percent: float) -> int:
    """The place below which ``percent`` of all documents lie, on average."""
    return int(percent / 100 * _RANGE)
