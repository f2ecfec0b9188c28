"""The first look at the inputs: what is held out, what is a copy, which characters there are."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from bertsmith.common.console import Bar
from bertsmith.corpus.formats import Document, read_documents
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.sources import Source
from bertsmith.text.trainer import Alphabet

# The held-out part has at least two documents where there are twenty, so that next-sentence
# prediction can be evaluated, and one where there are two.
_LEAST_HELD_OUT = {2: 1, 20: 2}
_RANGE = 1 << 64


@dataclass
class Survey:
    """What has to be known of all documents before the first is encoded.

    Attributes:
        documents: number of documents, copies counted in.
        formats: number of documents by format.
        held_out_below: documents whose hash is below this are held out.
        characters: of all documents.
    """

    documents: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    held_out_below: int = 0
    characters: int = 0


@dataclass(frozen=True)
class Found:
    """A document of the inputs."""

    form: str
    lines: Document
    digest: str
    size: int

    @property
    def place(self) -> int:
        """The document's place in [0, 2**64), by the hash of its text."""
        return int(self.digest[:16], 16)

    def sampled(self, rate: float) -> bool:
        """Whether it belongs to a sample of ``rate``, which does not depend on the held-out part."""
        return int(self.digest[16:32], 16) < rate * _RANGE


def documents(sources: list[Source], settings: CorpusSettings, what: str) -> Iterator[Found]:
    """All documents of all inputs in order, with a progress bar."""
    total = sum(source.size for source in sources)
    with Bar(what, total) as bar:
        done = 0
        for source in sources:
            for form, lines in read_documents(source, settings):
                text = "\n".join(lines)
                data = text.encode("utf-8", "surrogatepass")
                digest = hashlib.blake2b(data, digest_size=16).hexdigest()
                yield Found(form, lines, digest, len(data))
                bar.advance(min(len(data), max(0, done + source.size - bar.done)))
            done += source.size
            bar.advance(max(0, done - bar.done), source.url.rsplit("/", 1)[-1])


def survey(
    sources: list[Source], settings: CorpusSettings, rate: float, alphabet: Alphabet | None
) -> Survey:
    """Read all inputs once.

    Args:
        sources: the inputs.
        settings: the settings in force.
        rate: share of the documents whose characters are counted.
        alphabet: where they are counted; None where no vocabulary is to be trained.
    """
    result = Survey()
    smallest: list[int] = []  # the two smallest places, negated, so that the larger is on top
    result.held_out_below = share_below(settings.held_out_percent)
    for found in documents(sources, settings, "reading"):
        result.documents += 1
        result.formats[found.form] += 1
        result.characters += found.size
        if -found.place not in smallest:
            heapq.heappush(smallest, -found.place)
        if len(smallest) > max(_LEAST_HELD_OUT.values()):
            heapq.heappop(smallest)
        if alphabet and found.sampled(rate) and found.place >= result.held_out_below:
            alphabet.add("\n".join(found.lines))
    if settings.held_out_percent:
        least = max((n for d, n in _LEAST_HELD_OUT.items() if result.documents >= d), default=0)
        places = sorted(-place for place in smallest)[:least]
        if places and len(smallest) > 1:
            result.held_out_below = max(result.held_out_below, places[-1] + 1)
    return result


def share_below(percent: float) -> int:
    """The place below which ``percent`` of all documents lie, on average."""
    return int(percent / 100 * _RANGE)
