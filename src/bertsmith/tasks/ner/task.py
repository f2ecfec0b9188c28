"""The task ``ner``: a tag for every word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bertsmith.common.errors import InputError
from bertsmith.common.files import write_text
from bertsmith.tasks.ner import metrics, mistakes
from bertsmith.tasks.ner.encode import encode_sentences
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.load import load, tags_of
from bertsmith.tasks.ner.schemes import OUTSIDE, is_plain
from bertsmith.tasks.ner.write import column_text
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.task import (
    Data,
    Encoded,
    Figures,
    Head,
    Mistake,
    Output,
    Part,
    Task,
)
from bertsmith.text.tokenizer import Tokenizer

Tags = list[str]


class NerTask(Task[TaggedSentence]):
    """Named entities in CoNLL files (section 5.3 of the paper, fine-tuning), in IOB2.

    A file whose tags are plain labels, parts of speech for instance, is learnt in the same way;
    then ``metric`` is ``accuracy``, from :meth:`read` on.

    Args:
        settings: ``encoding``, ``strict``, ``dev_percent``, ``split_seed``, ``document_context``.
    """

    name = "ner"
    metric = "f1"
    kind = "tokens"
    max_length = 128

    def __init__(self, settings: TaskSettings) -> None:
        self.settings = settings

    def read(self, path: Path, *, training: bool = True) -> Data[TaggedSentence]:
        """The parts in a folder or file; see :func:`~bertsmith.tasks.ner.load.load`."""
        data = load(self.settings, Path(path), training=training)
        parts = [*([data.train] if data.train else []), *data.dev, *data.test]
        plain = any(_plain(tags_of(part)) for part in parts)
        self.metric = "accuracy" if plain else "f1"
        return data

    def head(self, data: Data[TaggedSentence]) -> Head:
        """A label a token: the tags of the training part.

        ``O`` is the first, and each ``I-X`` has its ``B-X``. Of plain labels the most frequent one
        is the first. The first is what words without a token get.

        Raises:
            InputError: there are no entities, or fewer than two labels.
        """
        tags = Counter(tag for one in data.train.examples for tag in one.tags or ()
                       ) if data.train else Counter[str]()  # fmt: skip
        found = set(tags)
        first = OUTSIDE
        if is_plain(found):
            first = OUTSIDE if OUTSIDE in found else min(found, key=lambda tag: (-tags[tag], tag))
        else:
            found |= {f"B{tag[1:]}" for tag in found if tag != OUTSIDE}
        labels = (first, *sorted(found - {first}))
        if len(labels) < 2:
            raise InputError(
                "the training part has no entities and fewer than two labels",
                file=data.train.files[0] if data.train and data.train.files else None,
                value=list(labels), mend="give sentences with at least one entity, or two labels",
            )  # fmt: skip
        features = self.settings.feature_layers
        return Head("tokens", labels, "" if features == "none" else features)

    def encode(
        self,
        part: Part[TaggedSentence],
        tokenizer: Tokenizer,
        max_length: int,
        head: Head,
        *,
        training: bool,
    ) -> Encoded:
        """A feature a sentence, several for long ones; see :func:`encode_sentences`.

        Raises:
            ModelError: the head gives no labels to tokens.
        """
        self.check(head)
        return encode_sentences(
            part.examples, tokenizer, max_length, head.labels,
            context=self.settings.document_context, training=training,
        )  # fmt: skip

    def decide(
        self,
        part: Part[TaggedSentence],
        encoded: Encoded,
        outputs: Sequence[Output],
        head: Head,
        tuned: Mapping[str, float],
    ) -> list[Tags]:
        """For each sentence a tag a word: the best label at the first piece of the word."""
        del tuned
        first = OUTSIDE if OUTSIDE in head.labels else head.labels[0]
        found = [[first] * len(one.words) for one in part.examples]
        for feature, output in zip(encoded.features, outputs, strict=True):
            best = output[list(feature.about.tokens)].argmax(1).tolist()
            for word, label in zip(feature.about.words, best, strict=True):
                found[feature.example][word] = head.labels[label]
        return found

    def score(self, part: Part[TaggedSentence], predictions: Sequence[Tags]) -> Figures:
        """See :func:`~bertsmith.tasks.ner.metrics.figures`: entities as conlleval counts them."""
        return metrics.figures(tags_of(part), predictions)

    def entity_counts(
        self, part: Part[TaggedSentence], predictions: Sequence[Tags]
    ) -> npt.NDArray[np.int64]:
        """[sentences, 3] correct, predicted and gold entities of each, as conlleval counts."""
        return metrics.entity_counts(tags_of(part), predictions)

    def scorer(
        self, part: Part[TaggedSentence], predictions: Sequence[Tags]
    ) -> Callable[[npt.NDArray[np.int64]], float | None]:
        """F1 of samples of sentences, from sums of their counts; accuracy for plain labels."""
        gold = tags_of(part)
        if _plain(gold):
            right = metrics.tag_counts(gold, predictions)

            def accuracy(numbers: npt.NDArray[np.int64]) -> float | None:
                correct, words = right[numbers].sum(0).tolist()
                return correct / words if words else None

            return accuracy
        counts = metrics.entity_counts(gold, predictions)
        return lambda numbers: metrics.Scores(*counts[numbers].sum(0).tolist()).f1

    def write(
        self, folder: Path, part: Part[TaggedSentence], predictions: Sequence[Tags]
    ) -> list[Path]:
        """``<part>.txt``: word, gold tag where there is one, predicted tag; a row a word."""
        path = folder / f"{part.name}.txt"
        write_text(path, column_text(part.examples, predictions, gold=part.labelled))
        return [path]

    def most_frequent(
        self, train: Part[TaggedSentence], part: Part[TaggedSentence]
    ) -> list[Any] | None:
        """The most frequent tag of ``train`` for every word; among entities that is O, F1 0."""
        tags = Counter(tag for one in tags_of(train) for tag in one)
        if not tags:
            return None
        [(guess, _)] = tags.most_common(1)
        return [[guess] * len(one.words) for one in part.examples]

    def constant(self, predictions: Sequence[Tags]) -> bool:
        """Whether all words have the same tag."""
        words = sum(map(len, predictions))
        return words > 1 and len({tag for one in predictions for tag in one}) == 1

    def confusion(
        self, part: Part[TaggedSentence], predictions: Sequence[Tags], head: Head
    ) -> dict[str, dict[str, int]]:
        """Gold tag -> predicted tag -> words."""
        return mistakes.confusion(part.examples, predictions, head.labels)

    def mistakes(
        self, part: Part[TaggedSentence], predictions: Sequence[Tags], most: int
    ) -> list[Mistake]:
        """The sentences with most entities missed or invented; with most wrong plain labels."""
        gold = tags_of(part)
        plain = _plain(gold)
        if plain:
            right = metrics.tag_counts(gold, predictions)
            wrong = right[:, 1] - right[:, 0]
        else:
            wrong = metrics.entity_counts(gold, predictions) @ np.array([-2, 1, 1])
        return mistakes.worst(part.examples, predictions, wrong.tolist(), most, plain=plain)


def _plain(sentences: Sequence[Sequence[str]]) -> bool:
    return is_plain(tag for one in sentences for tag in one)
