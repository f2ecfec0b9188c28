"""A corpus in memory, for tests of what is made from a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bertsmith.corpus.corpus import Document

PAD, UNK, CLS, SEP, MASK = range(5)


class MadeCorpus:
    """Documents given as lists of sentences of token ids, with the interface of ``Corpus``."""

    def __init__(self, documents: Sequence[Sequence[Sequence[int]]]) -> None:
        self._documents = [
            Document(
                np.array([token for sentence in document for token in sentence], dtype=np.uint16),
                np.concatenate([[0], np.cumsum([len(sentence) for sentence in document])]),
            )
            for document in documents
        ]
        self.documents = len(documents)
        self.document_tokens = np.array([len(d.tokens) for d in self._documents], dtype=np.int64)
        self.document_sentences = np.array([len(d) for d in documents], dtype=np.int64)
        self.sentences = int(self.document_sentences.sum())
        self.tokens = int(self.document_tokens.sum())

    def document(self, number: int) -> Document:
        return self._documents[number]


def made_corpus(
    documents: int, sentences: int, words: int = 9, spread: int = 4, seed: int = 0
) -> Any:
    """Documents in which every token is unique to its document: id = 5 + document."""
    rng = np.random.default_rng(seed)
    return MadeCorpus(
        [
            [
                [5 + document] * int(rng.integers(max(1, words - spread), words + spread + 1))
                for _ in range(sentences)
            ]
            for document in range(documents)
        ]
    )


def numbered_corpus(documents: int, sentences: int, words: int) -> Any:
    """Documents in which every token has an id of its own, counted from 5."""
    count = iter(range(5, 5 + documents * sentences * words))
    return MadeCorpus(
        [[[next(count) for _ in range(words)] for _ in range(sentences)] for _ in range(documents)]
    )
