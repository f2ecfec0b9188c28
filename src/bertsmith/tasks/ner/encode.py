"""Words as pieces, sentences as features.

The first piece of a word carries its tag and its prediction (section 5.3 of the paper); all other
pieces, [CLS] and [SEP] have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.windows import Line, Window, cut, widen
from bertsmith.tasks.task import IGNORE, Encoded, Feature
from bertsmith.text.tokenizer import Tokenizer

_BATCH = 16384  # different words tokenized at once
NO_TOKENS = "words without tokens"
UNKNOWN = "words with a tag that the model lacks"


@dataclass(frozen=True, slots=True)
class Places:
    """The words of its sentence that a feature decides on, and the place of each one's first
    piece in the sequence ([CLS] is 0)."""

    words: tuple[int, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Document:
    """Neighbouring sentences of one document, word after word.

    Attributes:
        first: number of its first sentence.
        pieces: of each word.
        line: the sizes of these.
        borders: the first word of each sentence, and at the end the number of words.
    """

    first: int
    pieces: list[list[int]]
    line: Line
    borders: list[int]


def encode_sentences(
    examples: Sequence[TaggedSentence],
    tokenizer: Tokenizer,
    max_length: int,
    labels: Sequence[str],
    *,
    context: bool,
    training: bool,
) -> Encoded:
    """The features of sentences; ``about`` of each is :class:`Places`.

    A sentence that is longer than a sequence is cut at the borders of words into overlapping
    windows (:func:`~bertsmith.tasks.ner.windows.cut`), a feature each; a word that alone is longer
    keeps its first pieces.

    Args:
        examples: the sentences.
        tokenizer: that of the model.
        max_length: most tokens of a sequence, special tokens included.
        labels: those of the head.
        context: fill sequences with the sentences around, of the same document; no target and no
            prediction is there.
        training: leave out sentences that can not be trained on: without tags, or without tokens.
    """
    room, number = max_length - 2, {label: at for at, label in enumerate(labels)}
    pieces, counts = _pieces(examples, tokenizer, room)
    features: list[Feature] = []
    for document in _documents(examples, pieces):
        for at, (start, stop) in enumerate(
            zip(document.borders, document.borders[1:], strict=False), document.first
        ):
            example = examples[at]
            windows = cut(document.line, start, stop, room)
            counts["sentences cut into windows"] += len(windows) > 1
            if training and (example.tags is None or not windows[0].owned):
                unknown = "tags" if example.tags is None else "tokens"
                counts[f"sentences without {unknown}"] += 1
                continue
            for window in windows:
                feature = _feature(document, window, start, at, context, room, tokenizer)
                features.append(_with_target(feature, example, number))
    known = [tag for one in examples for tag in one.tags or ()]
    counts[UNKNOWN] = sum(tag not in number for tag in known)
    return Encoded(features, +counts)


def _pieces(
    examples: Sequence[TaggedSentence], tokenizer: Tokenizer, room: int
) -> tuple[dict[str, list[int]], Counter[str]]:
    """Piece ids of each different word, at most ``room``; counts are of all words."""
    often = Counter(word for one in examples for word in one.words)
    words, found, counts = list(often), dict[str, list[int]](), Counter[str]()
    for start in range(0, len(words), _BATCH):
        some = words[start : start + _BATCH]
        for word, ids in zip(some, tokenizer.encode_ids(some), strict=True):
            found[word] = ids[:room]
            counts[NO_TOKENS] += often[word] * (not ids)
            counts["words cut"] += often[word] * (len(ids) > room)
            counts["tokens cut"] += often[word] * max(0, len(ids) - room)
    return found, counts


def _documents(
    examples: Sequence[TaggedSentence], pieces: Mapping[str, list[int]]
) -> Iterator[Document]:
    first = 0
    while first < len(examples):
        last = first
        words: list[list[int]] = []
        borders = [0]
        while last < len(examples) and examples[last].document == examples[first].document:
            words += [pieces[word] for word in examples[last].words]
            borders.append(len(words))
            last += 1
        yield Document(first, words, Line.of([len(one) for one in words]), borders)
        first = last


def _feature(
    document: Document, window: Window, sentence: int, at: int, context: bool, room: int,
    tokenizer: Tokenizer,
) -> Feature:  # fmt: skip
    """A window as a feature without target; ``sentence`` is the first word of its sentence."""
    start, stop = window.start, window.stop
    if context:
        start, stop = widen(document.line, start, stop, 0, document.borders[-1], room)
    ids = [tokenizer.ids.cls]
    for word in document.pieces[start:stop]:
        ids += word
    ids.append(tokenizer.ids.sep)
    places = document.line.places
    about = Places(
        tuple(word - sentence for word in window.owned),
        tuple(1 + places[word] - places[start] for word in window.owned),
    )
    return Feature(((ids, [0] * len(ids)),), at, None, about)


def _with_target(feature: Feature, example: TaggedSentence, number: Mapping[str, int]) -> Feature:
    if example.tags is None:
        return feature
    target = [IGNORE] * feature.tokens
    for word, token in zip(feature.about.words, feature.about.tokens, strict=True):
        target[token] = number.get(example.tags[word], IGNORE)
    return Feature(feature.sequences, feature.example, target, feature.about)
