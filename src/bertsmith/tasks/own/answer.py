"""``answer``: the user's own tables of questions with an answer in a text."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.own.spans import spans_of
from bertsmith.tasks.squad.examples import SquadExample
from bertsmith.tasks.squad.task import SquadTask
from bertsmith.tasks.tables.load import Make, Source, load
from bertsmith.tasks.tables.rows import BadRow, Row, Table
from bertsmith.tasks.task import Data, Part

UNANSWERABLE = "questions without an answer in their text, by their empty cells"


class AnswerTask(SquadTask):
    """As :class:`SquadTask`, from tables: ``question_column``, ``context_column`` and
    ``answer_column``; see :func:`~bertsmith.tasks.own.spans.spans_of` for the places of answers.

    Where some rows have no answer, the model learns to give none (version 2.0 of SQuAD) and all
    parts are scored by the rules of that version.
    """

    name = "answer"

    def read(self, path: Path, *, training: bool = True) -> Data[SquadExample]:
        """The parts in a folder or file; rows about one text stay in one part.

        Raises:
            InputError: as :func:`~bertsmith.tasks.tables.load.load`; or two questions to predict
                on have one id.
        """
        counts = Counter[str]()
        source = Source(
            self.settings,
            lambda table, labelled: self._rows(table, labelled, counts),
            _known,
            lambda examples: [""] * len(examples),
            lambda one: (one.question, one.context),
            lambda examples: [one.context for one in examples],
        )
        data = load(source, Path(path), training=training)
        parts = [*([data.train] if data.train else []), *data.dev, *data.test]
        _same_version(parts)
        for part in (*data.dev, *data.test):
            _check_ids(part)
        data.notes += [f"{count} {name}" for name, count in counts.items()]
        return data

    def _rows(self, table: Table, labelled: bool, counts: Counter[str]) -> Make[SquadExample]:
        question = table.need(self.settings.question_column, "--question-column")
        context = table.need(self.settings.context_column, "--context-column")
        column = self.settings.answer_column
        if labelled:
            table.need(column, "--answer-column")
        given = labelled or any(_filled(row, column) for row in table.rows)

        def make(row: Row, name: str) -> SquadExample:
            text = row.need(context)
            spans = spans_of(row, column, text, counts) if given else ()
            # Training is on the first answer: one that is there, if there is any.
            answers = tuple(sorted(spans, key=lambda span: span[1] < 0))
            impossible = not answers if given else None
            return SquadExample(name, row.need(question), text, answers, impossible, text)

        return make


def _filled(row: Row, column: str) -> bool:
    """Whether a row has an answer; a cell that can not be read is named when its turn comes."""
    try:
        return bool(spans_of(row, column, "", Counter()))
    except BadRow:
        return True


def _known(example: SquadExample) -> bool:
    return bool(example.answers) or example.impossible is True


def _same_version(parts: list[Part[SquadExample]]) -> None:
    """Every question of version 2.0 says whether it has an answer; none of version 1.1 does."""
    second = any(one.impossible for part in parts for one in part.examples)
    for part in parts:
        count = sum(one.impossible is True for one in part.examples)
        if count:
            part.counts[UNANSWERABLE] = count
        part.examples = [
            replace(one, impossible=bool(one.impossible) if second else None)
            for one in part.examples
        ]


def _check_ids(part: Part[SquadExample]) -> None:
    """The official files hold an answer an id."""
    [(name, count)] = Counter(one.id for one in part.examples).most_common(1)
    if count > 1:
        raise InputError(f"{count} questions have the same id", file=part.files[0], value=name)
