"""``tag``: the user's own words with tags, in JSON Lines or Parquet, or in CoNLL columns."""

from __future__ import annotations

from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.ner.iob2 import read_tags
from bertsmith.tasks.ner.schemes import OUTSIDE
from bertsmith.tasks.ner.task import NerTask
from bertsmith.tasks.tables.folder import is_part
from bertsmith.tasks.tables.load import Make, Source, load
from bertsmith.tasks.tables.read import JSON, PARQUET
from bertsmith.tasks.tables.rows import BadRow, Row, Table
from bertsmith.tasks.task import Data, Part

_TABLES = (*JSON, *PARQUET)


class TagTask(NerTask):
    """A tag for every word: as :class:`NerTask`, which reads CoNLL columns, and tables besides.

    In a table ``text_column`` holds the words of a sentence and ``label_column`` a tag for each:
    lists, or texts of as many pieces between spaces. Tags may be those of entities, in any scheme,
    or plain labels.
    """

    name = "tag"

    def read(self, path: Path, *, training: bool = True) -> Data[TaggedSentence]:
        """The parts in a folder or file: tables where there are any, else CoNLL columns.

        Raises:
            InputError: as :func:`~bertsmith.tasks.tables.load.load`; or tags of entities and
                plain labels mix.
        """
        path = Path(path)
        if not _has_tables(path):
            return super().read(path, training=training)
        source = Source(
            self.settings, self._rows, lambda one: one.tags is not None,
            lambda examples: [""] * len(examples), lambda one: one.words, suffixes=_TABLES,
        )  # fmt: skip
        data = load(source, path, training=training)
        parts = [*([data.train] if data.train else []), *data.dev, *data.test]
        plain = [_same_scheme(one, data.notes) for one in parts]
        kinds = {kind for kind in plain if kind is not None}
        if len(kinds) > 1:
            at = plain.index(True)
            raise _first_plain(parts[at])
        self.metric = "accuracy" if kinds == {True} else "f1"
        if self.settings.document_context:
            data.notes.append("tables have no documents: all sentences are each other's context")
        return data

    def _rows(self, table: Table, labelled: bool) -> Make[TaggedSentence]:
        words = table.need(self.settings.text_column, "--text-column")
        tags = self.settings.label_column
        if labelled:
            table.need(tags, "--label-column")

        def make(row: Row, name: str) -> TaggedSentence:
            del name  # sentences have none: predictions come in the order of the rows
            return _sentence(row, words, tags, labelled)

        return make


def _sentence(row: Row, words_column: str, tags_column: str, labelled: bool) -> TaggedSentence:
    words, tags = _pieces(row, words_column), _pieces(row, tags_column)
    if not words:
        raise BadRow(f"no words in column {words_column!r}")
    if not tags:
        if labelled:
            raise BadRow(f"no tags in column {tags_column!r}")
        return TaggedSentence(words, None, line=row.line)
    if len(tags) != len(words):
        raise BadRow(f"{len(tags)} tags for {len(words)} words")
    if not all(tags):
        raise BadRow(f"the tag of word {tags.index('') + 1} is empty")
    return TaggedSentence(words, tags, line=row.line)


def _pieces(row: Row, column: str) -> tuple[str, ...]:
    if isinstance(row.cells.get(column), str):
        # No other white space: a word may be a no-break space or a line separator.
        text = (row.text(column) or "").replace("\t", " ")
        return tuple(one for one in text.split(" ") if one)
    return row.texts(column) or ()


def _has_tables(path: Path) -> bool:
    if path.is_dir():
        return any(one.suffix.lower() in _TABLES and is_part(one) for one in path.iterdir())
    return path.suffix.lower() in _TABLES


def _same_scheme(part: Part[TaggedSentence], notes: list[str]) -> bool | None:
    """Bring tags of entities to IOB2; returns whether they are plain labels, None for neither."""
    read = read_tags(part.examples)
    if read.wrong:
        one, at = read.wrong[0]
        raise _mixed(part, one.line, (one.tags or ())[at])
    part.examples = read.sentences
    part.counts.update(read.counts)
    if read.scheme not in (None, "IOB2"):
        notes.append(f"{part.name}: {read.note}")
    return None if read.scheme is None else read.scheme == "plain"


def _first_plain(part: Part[TaggedSentence]) -> InputError:
    """The error for a part of plain labels where others have tags of entities."""
    found = ((one.line, tag) for one in part.examples for tag in one.tags or () if tag != OUTSIDE)
    return _mixed(part, *next(found))


def _mixed(part: Part[TaggedSentence], line: int, wrong: str) -> InputError:
    return InputError(
        "the tag is neither O nor does it begin with B- or I-, as those of other rows",
        file=part.files[0] if len(part.files) == 1 else part.files[0].parent,
        line=line if len(part.files) == 1 else None, value=wrong[:40],
        mend="give all tags a prefix, or none",
    )  # fmt: skip
