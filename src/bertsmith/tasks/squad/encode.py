"""Questions and windows of texts as features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bertsmith.tasks.squad.alignment import Aligned, align
from bertsmith.tasks.squad.answers import WindowAbout
from bertsmith.tasks.squad.examples import SquadExample
from bertsmith.tasks.squad.windows import SPECIALS, check_room, cut_windows, owners
from bertsmith.tasks.task import EMPTY, Encoded, Feature
from bertsmith.text.tokenizer import Tokenizer

INEXACT = "answers that do not end where tokens do, covered by whole tokens"
WRONG = "questions whose answer does not stand where the file says, left out"
UNANSWERED = "questions without an answer, left out"
UNFIT = "questions whose answer is whole in no window, learnt as without one"
QUESTIONS_CUT = "questions cut"
_NAMED = 5
_NONE = (0, 0)  # [CLS] stands for "not in this window", in 1.1 as in 2.0


class SquadEncoder:
    """Makes features; every text is tokenized once, however many questions it has.

    Args:
        tokenizer: that of the model.
        max_length: most tokens a sequence.
        max_query_length: most tokens of a question.
        stride: tokens between the beginnings of windows.

    Raises:
        SettingsError: there is no room for the text.
    """

    def __init__(
        self, tokenizer: Tokenizer, max_length: int, max_query_length: int, stride: int
    ) -> None:
        check_room(max_length, max_query_length)
        self._tokenizer, self._length = tokenizer, max_length
        self._longest_query, self._stride = max_query_length, stride
        self._texts: dict[str, tuple[list[int], npt.NDArray[np.int64]]] = {}
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []  # ids of questions with a wrong answer_start

    def encode(self, examples: Sequence[SquadExample], training: bool) -> Encoded:
        """All windows of all questions, in their order."""
        features: list[Feature] = []
        for number, one in enumerate(examples):
            aligned = self._aligned(one, training) if training else None
            if training and aligned is None and not one.impossible:
                continue
            found = self._features(number, one, aligned, training)
            self.counts[UNFIT] += aligned is not None and all(w.target == _NONE for w in found)
            features += found
        return Encoded(features, +self.counts)

    def _aligned(self, one: SquadExample, training: bool) -> Aligned | None:
        if one.impossible:
            return None
        if not one.answers:
            self.counts[UNANSWERED] += 1
            return None
        found = align(one.context, self._text(one.context)[1], *one.answers[0])
        if found is None:
            self.counts[WRONG] += 1
            self.wrong.append(one.id)
        elif training and not found.exact:
            self.counts[INEXACT] += 1
        return found

    def _features(
        self, number: int, one: SquadExample, aligned: Aligned | None, training: bool
    ) -> list[Feature]:
        query = self._tokenizer.encode_ids([one.question])[0]
        if len(query) > self._longest_query:
            self.counts[QUESTIONS_CUT] += 1
            query = query[: self._longest_query]
        ids, offsets = self._text(one.context)
        self.counts[EMPTY] += not query or not ids
        room = self._length - len(query) - SPECIALS
        windows = cut_windows(len(ids), room, self._stride)
        owner = owners(windows, len(ids))
        special, first = self._tokenizer.ids, len(query) + 2
        found = []
        for at, (start, length) in enumerate(windows):
            stop = start + length
            tokens = [special.cls, *query, special.sep, *ids[start:stop], special.sep]
            segments = [0] * first + [1] * (length + 1)
            target = None
            if training:
                target = _NONE
                if aligned and start <= aligned.first and aligned.last < stop:
                    target = (aligned.first - start + first, aligned.last - start + first)
            about = WindowAbout(first, length, offsets[start:stop], owner[start:stop] == at)
            found.append(Feature(((tokens, segments),), number, target, about))
        return found

    def _text(self, context: str) -> tuple[list[int], npt.NDArray[np.int64]]:
        if context not in self._texts:
            encoding = self._tokenizer.encode(context)
            offsets = np.array(encoding.offsets, np.int64).reshape(-1, 2)
            self._texts[context] = (encoding.ids, offsets)
        return self._texts[context]
