"""From a folder or file of column files to the parts of the task, all tags in IOB2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.ner.conll import ColumnFile, read_columns, refusal
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.folder import find_tag_files
from bertsmith.tasks.ner.iob2 import read_tags
from bertsmith.tasks.ner.schemes import OUTSIDE, is_plain
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.tables.split import dev_rows, dev_rows_apart, equal_text_notes
from bertsmith.tasks.task import Data, Part

_NAMED = 10  # tags that a note names one by one


def load(settings: TaskSettings, path: Path, *, training: bool) -> Data[TaggedSentence]:
    """The parts in a folder or file; see :meth:`bertsmith.tasks.task.Task.read`.

    Malformed sentences of training and dev files are skipped in training, unless ``strict``; test
    files and whatever is predicted on have to be whole. Without a dev file some documents of the
    training file become it. A single file to predict on is dev where it has tags, else test.

    Raises:
        InputError: a file is missing, can not be read, lacks tags that are needed, or holds a
            malformed row that may not be skipped; or tags of entities and plain labels mix.
    """
    files = find_tag_files(path, training=training)
    data: Data[TaggedSentence] = Data()
    if files.train is not None and training:
        data.train = _part(settings, "train", files.train, data.notes, needed=True)
    if files.dev is not None:
        data.dev.append(_part(settings, "dev", files.dev, data.notes, needed=training))
    if files.test is not None:
        data.test.append(_part(settings, "test", files.test, data.notes, needed=False))
    if not training and path.is_file() and data.test[0].labelled:
        data.dev, data.test = [replace(data.test[0], name="dev")], []
    if data.train is not None and not data.dev:
        _hold_back(settings, data, data.train)
    if not _check_kinds(data):
        data.notes.append(
            "f1 counts entities as conlleval does, in any sequence of tags; strict_f1 only those "
            "in valid IOB2"
        )
    data.notes += [note for part in (*data.dev, *data.test) for note in _new_tags(data, part)]
    if settings.document_context:
        data.notes += [
            f"{part.name}: one document only, so all its sentences are each other's context"
            for part in _parts(data)
            if len({one.document for one in part.examples}) == 1
        ]
    return data


def tags_of(part: Part[TaggedSentence]) -> list[tuple[str, ...]]:
    """The tags of each sentence of a labelled part."""
    return [one.tags or () for one in part.examples]


def _parts(data: Data[TaggedSentence]) -> list[Part[TaggedSentence]]:
    return [*([] if data.train is None else [data.train]), *data.dev, *data.test]


def _part(
    settings: TaskSettings, name: str, path: Path, notes: list[str], *, needed: bool
) -> Part[TaggedSentence]:
    whole = settings.strict or not needed
    file = read_columns(path, settings.encoding, whole=whole)
    if needed and not file.labelled:
        raise InputError(
            f"the {name} part has no tags: most of its rows have one column", file=path,
            line=file.sentences[0].line if file.sentences else None,
            mend="give a file with the word first and its tag last in each row, blanks or tabs "
            "between (JSON Lines and Parquet are for the task tag)",
        )  # fmt: skip
    notes += file.notes
    if file.labelled:
        _read_tags(file, name, notes, whole=whole)
    if not file.sentences:
        raise InputError(
            "none of the sentences can be used", file=path,
            value=file.skipped[0] if file.skipped else None,
            mend="the word comes first in a row, its tag last, blanks or tabs between, an empty "
            "line after a sentence (JSON Lines and Parquet are for the task tag)",
        )  # fmt: skip
    if file.skipped:
        notes.append(f"{name} ({path.name}): {len(file.skipped)} malformed sentences skipped")
    return Part(name, file.sentences, (path,), file.skipped, file.labelled, +file.counts)


def _read_tags(file: ColumnFile, name: str, notes: list[str], *, whole: bool) -> None:
    """Bring the tags of a file to IOB2, or leave them where they are plain labels."""
    read = read_tags(file.sentences)
    for one, at in read.wrong:
        tag, line = (one.tags or ())[at], one.line + at
        problem = f"the tag {tag[:40]!r} is neither O nor does it begin with B- or I-"
        if whole:
            raise refusal(file.path, line, problem)
        file.skipped.append(f"{file.path}:{line}: {problem}; the sentence is left out")
    file.sentences = read.sentences
    file.counts.update(read.counts)
    notes.append(f"{name} ({file.path.name}): {read.note}")


def _hold_back(
    settings: TaskSettings, data: Data[TaggedSentence], train: Part[TaggedSentence]
) -> None:
    """Move some documents of ``train``, or sentences where there is one, to a dev part."""
    examples = train.examples
    groups = [str(one.document) for one in examples]
    by_document = len(set(groups)) > 1
    texts, strata = [one.words for one in examples], [""] * len(examples)
    percent, seed = settings.dev_percent, settings.split_seed
    if by_document:
        chosen = set(dev_rows(percent, seed, strata, groups))
    else:
        chosen = set(dev_rows_apart(percent, seed, strata, texts))
    if not chosen:
        data.notes.append("there is no dev file, and too few training sentences to make one of")
        return
    dev = [one for at, one in enumerate(examples) if at in chosen]
    train.examples = [one for at, one in enumerate(examples) if at not in chosen]
    data.dev.append(Part("dev", dev, train.files))
    data.notes.append(
        f"there is no dev file: {len(dev)} of {len(examples)} training sentences are held back "
        f"for it ({settings.dev_percent:g} %, {'whole documents' if by_document else 'at random'}, "
        f"seed {settings.split_seed})"
    )
    data.notes += equal_text_notes(texts, chosen)


def _check_kinds(data: Data[TaggedSentence]) -> bool:
    """All parts have tags of entities, or all have plain labels: returns whether these.

    A part of nothing but O may be either.
    """
    labelled = [
        part
        for part in _parts(data)
        if part.labelled and any(tag != OUTSIDE for tags in tags_of(part) for tag in tags)
    ]
    kinds = [is_plain(tag for tags in tags_of(part) for tag in tags) for part in labelled]
    for part, plain in zip(labelled, kinds, strict=True):
        if plain != kinds[0]:
            names = {True: "plain labels", False: "tags of entities"}
            raise InputError(
                f"{part.name} has {names[plain]}, {labelled[0].name} has {names[kinds[0]]}",
                file=part.files[0], mend="give files whose last columns mean the same",
            )  # fmt: skip
    return any(kinds)


def _new_tags(data: Data[TaggedSentence], part: Part[TaggedSentence]) -> list[str]:
    """What training can not have taught."""
    if data.train is None or not part.labelled:
        return []
    known = {tag for tags in tags_of(data.train) for tag in tags}
    new = Counter(tag for tags in tags_of(part) for tag in tags if tag not in known)
    if not new:
        return []
    return [
        f"{part.name}: {new.total()} words have tags that training lacks, which count as wrong: "
        + _named(new.most_common())
    ]


def _named(counts: Sequence[tuple[str, int]]) -> str:
    more = len(counts) - _NAMED
    named = ", ".join(f"{tag} {count}" for tag, count in counts[:_NAMED])
    return named + (f" and {more} others" if more > 0 else "")
