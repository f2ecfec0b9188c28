"""Sentences and documents that stand more than once, counted in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bertsmith.corpus.folder import SHARDS
from bertsmith.corpus.hashes import Hashes, combined, sentence_hashes
from bertsmith.corpus.shards import Shard
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, counted, percent
from bertsmith.doctor.shards import Part
from bertsmith.text.tokenizer import Tokenizer

# "Yes, he said." is no sign of anything.
SHORT = 8
# Of the sentences of that length, one in a thousand is a repetition in books, one in a hundred in
# Chinese web text, one in eight in documentation with its boilerplate.
REPEATED = 0.1
# The held-out figures are then of text that was learnt by heart, in good part.
SEEN = 0.1
# Exact copies of documents are seldom meant; a few are worth a word.
COPIES = 0.01
_SHOWN = 80  # characters of a sentence


def repeats(train: Part, held_out: Part, tokenizer: Tokenizer | None) -> Observations:
    """Repeated sentences of at least SHORT tokens, copies of documents, held-out ones seen."""
    sentences, documents, held = Hashes(), Hashes(), Hashes()
    for shard in train.shards:
        hashes = sentence_hashes(shard.tokens, shard.sentence_offsets)
        sentences.add(hashes[_long(shard)])
        documents.add(combined(hashes, shard.document_offsets))
    for shard in held_out.shards:
        held.add(sentence_hashes(shard.tokens, shard.sentence_offsets)[_long(shard)])
    way = "exact" if sentences.exact else f"by a sample of {sentences.rate:.1%}"
    share = sentences.repeated
    yield Fact(
        "repeated sentences",
        {"share": share, "exact": sentences.exact},
        f"{share:.1%} of those with {SHORT} tokens or more ({way})",
    )
    if share > REPEATED:
        number, times = sentences.most_frequent()
        shown = _find(train, number, tokenizer)
        yield Finding(
            Grade.WARNING,
            f"{share:.0%} of the sentences with {SHORT} tokens or more repeat an earlier one"
            + (f"; {times:,} times: {shown}" if shown else ""),
            SHARDS,
            "take headers, menus and copies out of the text before it becomes a corpus",
        )
    yield from _copies(documents)
    yield from _seen(held, sentences)


def _long(shard: Shard) -> np.ndarray:
    return np.asarray(np.diff(shard.sentence_offsets) >= SHORT)


def _copies(documents: Hashes) -> Observations:
    if not documents.repeated:
        return
    count = round(documents.repeated * documents.seen)
    about = "" if documents.exact else "about "
    yield Finding(
        Grade.WARNING if documents.repeated > COPIES else Grade.NOTE,
        f"{about}{counted(count, 'document is a copy', 'documents are copies')} of another "
        f"({percent(documents.repeated)})",
        SHARDS,
        "bertsmith corpus --deduplicate drops them",
    )


def _seen(held: Hashes, sentences: Hashes) -> Observations:
    if not held.seen:
        return
    share = held.share_in(sentences)
    yield Fact(
        "held-out overlap", share,
        f"{share:.1%} of the held-out sentences with {SHORT} tokens or more are in train, too",
    )  # fmt: skip
    if share > SEEN:
        yield Finding(
            Grade.WARNING,
            f"{share:.0%} of the held-out sentences are in the training part, too: held-out "
            "figures will look better than they are",
            SHARDS,
            "drop copies (--deduplicate), and take boilerplate out of the text",
        )


def _find(part: Part, number: int, tokenizer: Tokenizer | None) -> str:
    """The text of the first sentence with a hash, quoted; empty where it can not be shown."""
    if tokenizer is None:
        return ""
    for ids in _sentences_of(part, number):
        if max(ids) < tokenizer.size:
            text = tokenizer.decode(ids)
            return repr(text[:_SHOWN] + ("..." if len(text) > _SHOWN else ""))
    return ""


def _sentences_of(part: Part, number: int) -> Iterator[list[int]]:
    for shard in part.shards:
        hashes = sentence_hashes(shard.tokens, shard.sentence_offsets)
        for place in np.flatnonzero(hashes == np.uint64(number)):
            start, stop = shard.sentence_offsets[place : place + 2]
            yield shard.tokens[start:stop].tolist()
