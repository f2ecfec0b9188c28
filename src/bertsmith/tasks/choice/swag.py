"""Rows of SWAG's CSV files as examples."""

from __future__ import annotations

from bertsmith.common.errors import InputError
from bertsmith.tasks.choice.examples import ChoiceExample
from bertsmith.tasks.choice.labels import PLACEHOLDERS
from bertsmith.tasks.tables.load import Make
from bertsmith.tasks.tables.rows import BadRow, Row, Table

CONTEXT, START, LABEL, INDEX = "sent1", "sent2", "label", ""
ENDINGS = ("ending0", "ending1", "ending2", "ending3")
_FULL = "gold-ending"  # only the full-format files (train_full.csv) have it


def swag_rows(table: Table, labelled: bool) -> Make[ChoiceExample]:
    """How the rows of a file are read: ``sent1``, then ``sent2`` with each of four endings.

    Columns are found by name; the first one, without a name, has the ids. A file without ``label``
    is one to predict on, as is one with placeholders there.

    Args:
        table: the file.
        labelled: whether each row needs a label.

    Raises:
        InputError: columns are missing; names all of them.
    """
    wanted = (CONTEXT, START, *ENDINGS, *([LABEL] if labelled else []))
    missing = [name for name in wanted if not table.has(name)]
    if missing:
        mend = f"the file has the columns {', '.join(map(repr, table.columns))}"
        if table.has(_FULL):
            mend = "this is SWAG's full format; take train.csv, val.csv, test.csv beside it"
        raise InputError(
            f"columns of SWAG are missing: {', '.join(missing)}", file=table.path, line=1, mend=mend
        )

    def make(row: Row, name: str) -> ChoiceExample:
        label = (row.text(LABEL) or "").strip()
        label = "" if label in PLACEHOLDERS and not labelled else label
        return ChoiceExample(
            name,
            row.need(CONTEXT),
            tuple(row.need(ending) for ending in ENDINGS),
            row.need(START),
            _index(label) if label or labelled else None,
            row.line,
        )

    return make


def _index(label: str) -> int:
    if label not in ("0", "1", "2", "3"):
        raise BadRow(f"the label is not from 0 to 3 (got {label!r})")
    return int(label)
