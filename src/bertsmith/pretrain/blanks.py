"""Some blanks in held-out sentences, filled: what a model knows, for people to look at."""

from __future__ import annotations

from typing import Any

import numpy as np

from bertsmith.common.randomness import EVALUATION, stream
from bertsmith.corpus.corpus import Corpus
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.predict.fill import fill_ids
from bertsmith.text.tokenizer import Tokenizer

_COUNT, _GUESSES = 8, 3
_LENGTHS = range(10, 33)  # pieces: long enough to have a context, short enough to read


def held_out_blanks(model: BertForPreTraining, train: Corpus) -> list[dict[str, Any]]:
    """Up to eight sentences of the corpus's held-out part, a whole word hidden, and the guesses.

    The choice does not look at the model: it is the same for every model on this corpus. Words of
    letters only, since a hidden comma tells little.
    """
    corpus = Corpus.open(train.folder, "held_out")
    tokenizer = corpus.tokenizer()
    chosen = _choose(corpus, tokenizer)
    guesses = fill_ids(model, tokenizer, [ids for ids, _, _ in chosen], top_k=_GUESSES)
    return [
        {
            "text": tokenizer.decode(ids),
            "answer": answer,
            "guesses": [[guess.token, guess.probability] for guess in blanks[0]],
        }
        for (ids, answer, _), blanks in zip(chosen, guesses, strict=True)
    ]


def _choose(corpus: Corpus, tokenizer: Tokenizer) -> list[tuple[list[int], str, int]]:
    """Masked ids, the hidden word and its place, for each sentence chosen."""
    rng = stream(0, EVALUATION, corpus.documents)
    chosen: list[tuple[list[int], str, int]] = []
    for _ in range(50 * _COUNT):
        if len(chosen) == _COUNT or not corpus.documents:
            break
        document = corpus.document(int(rng.integers(corpus.documents)))
        sentence = int(rng.integers(len(document.sentence_starts) - 1))
        start, stop = document.sentence_starts[sentence : sentence + 2].tolist()
        places = _whole_words(document.tokens[start:stop], tokenizer)
        if stop - start in _LENGTHS and len(places):
            place = int(places[rng.integers(len(places))])
            ids = document.tokens[start:stop].astype(np.int64).tolist()
            answer = tokenizer.tokens[ids[place]]
            ids[place] = tokenizer.ids.mask
            chosen.append((ids, answer, place))
    return chosen


def _whole_words(ids: np.ndarray, tokenizer: Tokenizer) -> list[int]:
    """Places of words that are one piece of at least four letters."""
    continues = tokenizer.is_continuation[ids]
    return [
        place
        for place in range(len(ids))
        if not continues[place]
        and not (place + 1 < len(ids) and continues[place + 1])
        and len(tokenizer.tokens[ids[place]]) > 3
        and tokenizer.tokens[ids[place]].isalpha()
    ]
