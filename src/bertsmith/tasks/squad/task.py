"""The task ``squad``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bertsmith.common.errors import InputError
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.answers import SquadPrediction, WindowAbout, predict, rank_answers
from bertsmith.tasks.squad.encode import SquadEncoder
from bertsmith.tasks.squad.examples import SquadExample, is_version_2, read_squad
from bertsmith.tasks.squad.folder import find_squad
from bertsmith.tasks.squad.metrics import best_scores, best_threshold
from bertsmith.tasks.squad.windows import check_room
from bertsmith.tasks.squad.write import write_answers
from bertsmith.tasks.tables.split import dev_rows
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

_THRESHOLD = "null_threshold"
_SHOWN = 300  # characters of a text in the report


class SquadTask(Task[SquadExample]):
    """Answers as slices of a text (paper, sections 4.2 and 4.3).

    Args:
        settings: ``doc_stride``, ``max_query_length``, ``n_best``, ``max_answer_length``,
            ``max_length``, ``strict``, ``dev_percent``, ``split_seed``.

    Raises:
        SettingsError: the lengths leave no room for the text.
    """

    name = "squad"
    metric = "f1"
    kind = "span"
    max_length = 384

    def __init__(self, settings: TaskSettings) -> None:
        self.settings = settings
        check_room(settings.max_length or self.max_length, settings.max_query_length)

    def check_length(self, max_length: int) -> None:
        """The longest question leaves room for the text; see :func:`check_room`."""
        check_room(max_length, self.settings.max_query_length)

    def read(self, path: Path, *, training: bool = True) -> Data[SquadExample]:
        """The files of a folder by their names, or one file.

        A file alone is what to predict on; in training a share of its articles becomes dev.
        """
        files, data = find_squad(Path(path)), Data[SquadExample]()
        strict = self.settings.strict or not training
        if "single" in files:
            part = read_squad(files["single"], "train" if training else "dev", strict=strict)
            if training:
                self._split(data, part)
            else:
                (data.dev if part.labelled else data.test).append(part)
            return data
        if training and "train" in files:
            data.train = read_squad(files["train"], "train", strict=strict)
        for name, parts in (("dev", data.dev), ("test", data.test)):
            if name in files:
                parts.append(read_squad(files[name], name, strict=True))
        if data.train is not None and not data.dev:
            self._split(data, data.train)
        return data

    def head(self, data: Data[SquadExample]) -> Head:
        """A span."""
        del data
        return Head("span")

    def encode(
        self,
        part: Part[SquadExample],
        tokenizer: Tokenizer,
        max_length: int,
        head: Head,
        *,
        training: bool,
    ) -> Encoded:
        """Windows; see :class:`~bertsmith.tasks.squad.encode.SquadEncoder`.

        Raises:
            InputError: in training with ``strict``, an answer is not where the file says.
        """
        self.check(head)
        settings = self.settings
        encoder = SquadEncoder(
            tokenizer, max_length, settings.max_query_length, settings.doc_stride
        )
        encoded = encoder.encode(part.examples, training)
        place = ", ".join(str(one) for one in part.files) or part.name
        wrong = [
            f"question {name}: the text does not hold the answer where answer_start says"
            for name in encoder.wrong
        ]
        if wrong and settings.strict:
            raise InputError(
                wrong[0], file=place,
                mend="mend the file, or train without --strict: such questions are then skipped "
                "and counted",
            )  # fmt: skip
        there = set(part.skipped)  # a part may be encoded again
        lines = (f"{place}: {line}" for line in wrong)
        part.skipped += [line for line in lines if line not in there]
        return encoded

    def tune(
        self,
        part: Part[SquadExample],
        encoded: Encoded,
        outputs: Sequence[Output],
        head: Head,
    ) -> dict[str, float]:
        """For version 2.0, the threshold of the null odds with the best F1 on dev."""
        if not (is_version_2(part) and part.labelled):
            return {}
        found = self.decide(part, encoded, outputs, head, {_THRESHOLD: np.inf})
        golds = [_golds(one) for one in part.examples]
        gain = [
            best_scores(answer.best, gold, version_2=True)[1]
            - best_scores("", gold, version_2=True)[1]
            for answer, gold in zip(found, golds, strict=True)
        ]
        odds = np.array([one.null_odds for one in found], np.float64)
        return {_THRESHOLD: best_threshold(odds, np.array(gain))}

    def decide(
        self,
        part: Part[SquadExample],
        encoded: Encoded,
        outputs: Sequence[Output],
        head: Head,
        tuned: Mapping[str, float],
    ) -> list[SquadPrediction]:
        """The best answer of each question over its windows."""
        del head
        settings = self.settings
        threshold = tuned.get(_THRESHOLD, 0.0) if is_version_2(part) or tuned else None
        windows: dict[int, list[tuple[WindowAbout, Output]]] = {}
        for feature, output in zip(encoded.features, outputs, strict=True):
            windows.setdefault(feature.example, []).append((feature.about, output))
        found = []
        for number, one in enumerate(part.examples):
            abouts, scores = zip(*windows[number], strict=True)
            answers, null = rank_answers(
                one.context, abouts, scores, settings.n_best, settings.max_answer_length
            )
            found.append(predict(one.id, answers, null, threshold, settings.n_best))
        return found

    def score(self, part: Part[SquadExample], predictions: Sequence[SquadPrediction]) -> Figures:
        """Exact match and F1 by the official rules of the version; for 2.0 also of the questions
        with and without an answer. Shares of 1."""
        scores = self._scores(part, predictions)
        exact, f1 = scores.mean(0) if len(scores) else (None, None)
        figures: Figures = {"f1": _number(f1), "exact_match": _number(exact)}
        if is_version_2(part):
            answerable = np.array([bool(_golds(one)) for one in part.examples])
            for name, chosen in (("has answer", answerable), ("no answer", ~answerable)):
                some = scores[chosen]
                for at, figure in enumerate(("exact_match", "f1")):
                    figures[f"{figure}, {name}"] = float(some[:, at].mean()) if len(some) else None
        return figures

    def scorer(
        self, part: Part[SquadExample], predictions: Sequence[SquadPrediction]
    ) -> Callable[[npt.NDArray[np.int64]], float | None]:
        """F1 is a mean over questions."""
        f1 = self._scores(part, predictions)[:, 1]
        return lambda numbers: float(f1[numbers].mean())

    def write(
        self, folder: Path, part: Part[SquadExample], predictions: Sequence[Any]
    ) -> list[Path]:
        """The official files, in a folder with the part's name."""
        return write_answers(folder / part.name, predictions)

    def most_frequent(
        self, train: Part[SquadExample], part: Part[SquadExample]
    ) -> list[SquadPrediction] | None:
        """No answer throughout, for version 2.0."""
        del train
        if not is_version_2(part):
            return None
        return [SquadPrediction(one.id, "", -1, -1, 1.0, (), None, "") for one in part.examples]

    def mistakes(
        self, part: Part[SquadExample], predictions: Sequence[SquadPrediction], most: int
    ) -> list[Mistake]:
        """The surest answers with the lowest F1."""
        scores = self._scores(part, predictions)[:, 1]
        worst = sorted(
            range(len(predictions)), key=lambda at: (scores[at] - 1) * predictions[at].probability
        )
        return [
            Mistake(
                f"{one.question} ⏐ {_around(one)}",
                " / ".join(dict.fromkeys(_golds(one))) or "(no answer)",
                predictions[at].text or "(no answer)",
                float((1 - scores[at]) * predictions[at].probability),
            )
            for at in worst[:most]
            for one in [part.examples[at]]
            if scores[at] < 1
        ]

    def _scores(
        self, part: Part[SquadExample], predictions: Sequence[SquadPrediction]
    ) -> npt.NDArray[np.float64]:
        """[questions, 2] exact match and F1."""
        second = is_version_2(part)
        rows = [
            best_scores(guess.text, _golds(one), version_2=second)
            for one, guess in zip(part.examples, predictions, strict=True)
        ]
        return np.array(rows, np.float64).reshape(-1, 2)

    def _split(self, data: Data[SquadExample], part: Part[SquadExample]) -> None:
        """Hold back whole articles: questions about one text help each other."""
        articles = [one.article for one in part.examples]
        groups = articles if len(set(articles)) > 1 else [one.context for one in part.examples]
        chosen = set(
            dev_rows(self.settings.dev_percent, self.settings.split_seed, articles, groups)
        )
        data.train = Part("train", [], part.files, counts=part.counts)
        dev: Part[SquadExample] = Part("dev", [], part.files)
        for number, one in enumerate(part.examples):
            (dev if number in chosen else data.train).examples.append(one)
        held, there = len({groups[at] for at in chosen}), len(set(groups))
        if not dev.examples:
            data.notes.append("there is no dev file, and one text alone to make one of")
            return
        data.notes.append(
            f"dev is made of {len(dev.examples)} questions about {held} of {there} articles of the "
            "training file (--split-seed)"
        )
        data.dev.append(dev)


def _golds(one: SquadExample) -> list[str]:
    return [] if one.impossible else [text for text, _ in one.answers]


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _around(one: SquadExample) -> str:
    if len(one.context) <= _SHOWN:
        return one.context
    middle = one.answers[0][1] if one.answers else 0
    start = max(0, min(middle - _SHOWN // 2, len(one.context) - _SHOWN))
    return f"… {one.context[start : start + _SHOWN]} …"
