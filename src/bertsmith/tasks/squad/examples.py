"""Questions, and SQuAD's JSON files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import InputError
from bertsmith.tasks.task import Part

_SECOND = re.compile(r"v?2(\D.*)?")  # "v2.0", "2.0-dev", not the year of a file
_TWICE = "questions with an id that was there before, left out"


@dataclass(frozen=True, slots=True)
class SquadExample:
    """A question about a text.

    Attributes:
        id: its id in output files.
        question: the question.
        context: the text.
        answers: gold answers with their first characters in the text; empty where none is known.
        impossible: whether the text holds no answer; None in the format of version 1.1, where
            every question has one.
        article: the title of the text's article.
    """

    id: str
    question: str
    context: str
    answers: tuple[tuple[str, int], ...] = ()
    impossible: bool | None = None
    article: str = ""


def read_squad(paths: list[Path], name: str, *, strict: bool) -> Part[SquadExample]:
    """The questions of files in SQuAD's format, of either version.

    Args:
        paths: the files, read one after the other.
        name: name of the part.
        strict: refuse an id that stands twice; else the second question is left out and counted.

    Raises:
        InputError: a file is missing or not of the format; the message names the place in it.
    """
    part: Part[SquadExample] = Part(name, [], tuple(paths))
    seen: set[str] = set()
    for path in paths:
        for one in _questions(path):
            if one.id in seen:
                if strict:
                    raise InputError(
                        "two questions have the same id", file=path, value=one.id,
                        mend="leave one of them out; files of versions 1.1 and 2.0 share questions "
                        "and belong in folders of their own",
                    )  # fmt: skip
                part.counts[_TWICE] += 1
                continue
            seen.add(one.id)
            part.examples.append(one)
    part.labelled = any(one.answers or one.impossible for one in part.examples)
    if not part.examples:
        raise InputError("the file has no question", file=paths[0])
    return part


def is_version_2(part: Part[SquadExample]) -> bool:
    """Whether questions may have no answer."""
    return any(one.impossible is not None for one in part.examples)


def _questions(path: Path) -> Iterator[SquadExample]:
    try:
        raw = strict_json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"the file can not be read: {error.strerror}", file=path) from None
    except ValueError as error:
        raise InputError(f"the file is not JSON: {error}", file=path) from None
    found = list(_Walk(path).articles(raw))
    version = raw.get("version") if isinstance(raw, dict) else None
    second = bool(_SECOND.fullmatch(str(version)))
    second = second or any(one.impossible is not None for one in found)
    for one in found:
        if second and one.impossible is None:
            yield SquadExample(one.id, one.question, one.context, one.answers, False, one.article)
        else:
            yield one


class _Walk:
    """Goes through the nested lists, and knows where it is for messages."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def articles(self, raw: object) -> Iterator[SquadExample]:
        for at, article in enumerate(self._list(raw, "data", "the file")):
            place = f"article {at + 1}"
            title = article.get("title") if isinstance(article, dict) else ""
            for number, paragraph in enumerate(self._list(article, "paragraphs", place)):
                inner = f"{place}, paragraph {number + 1}"
                context = self._text(paragraph, "context", inner)
                for question in self._list(paragraph, "qas", inner):
                    yield self._question(question, context, str(title or at), inner)

    def _question(self, raw: object, context: str, article: str, place: str) -> SquadExample:
        name = raw.get("id") if isinstance(raw, dict) else None
        if not isinstance(name, str | int):
            raise self._wrong(f"a question of {place} has no id", name)
        place = f"question {name}"
        impossible = raw.get("is_impossible") if isinstance(raw, dict) else None
        if not isinstance(impossible, bool | None):
            raise self._wrong(f"is_impossible of {place} is neither true nor false", impossible)
        answers: tuple[tuple[str, int], ...] = ()
        if isinstance(raw, dict) and raw.get("answers") and not impossible:
            answers = tuple(self._answer(one, place) for one in self._list(raw, "answers", place))
        text = self._text(raw, "question", place)
        return SquadExample(str(name), text, context, answers, impossible, article)

    def _answer(self, raw: object, place: str) -> tuple[str, int]:
        start = raw.get("answer_start") if isinstance(raw, dict) else None
        if isinstance(start, bool) or not isinstance(start, int):
            raise self._wrong(f"an answer of {place} has no whole number as answer_start", start)
        return self._text(raw, "text", place), start

    def _list(self, raw: object, key: str, place: str) -> list[Any]:
        found = raw.get(key) if isinstance(raw, dict) else None
        if not isinstance(found, list):
            raise self._wrong(f"{place} has no list {key!r}")
        return found

    def _text(self, raw: object, key: str, place: str) -> str:
        found = raw.get(key) if isinstance(raw, dict) else None
        if not isinstance(found, str):
            raise self._wrong(f"{place} has no text {key!r}")
        return found

    def _wrong(self, message: str, value: object = None) -> InputError:
        return InputError(message, file=self._path, value=value, mend="SQuAD's JSON is expected")
