"""Predictions as a column file that conlleval and other readers of CoNLL files take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bertsmith.tasks.ner.conll import MARK
from bertsmith.tasks.ner.examples import TaggedSentence

_LINE_ENDS = re.compile("[\t\r\n]")


def column_text(
    examples: Sequence[TaggedSentence], predictions: Sequence[Sequence[str]], *, gold: bool
) -> str:
    """Rows of word, gold tag (with ``gold``) and predicted tag; an empty line ends a sentence.

    A ``-DOCSTART-`` row with an empty line begins each document, where the source had such rows.
    Columns are set apart by spaces, and by tabs where a word holds a space or is empty.
    """
    tabs = any(" " in word or _LINE_ENDS.search(word) or not word
               for one in examples for word in one.words)  # fmt: skip
    between = "\t" if tabs else " "
    lines: list[str] = []
    document = 0
    for one, tags in zip(examples, predictions, strict=True):
        if one.document != document:
            document = one.document
            lines += [between.join((MARK, *("O" * (1 + gold)))), ""]
        columns = [[_LINE_ENDS.sub(" ", word) for word in one.words]]
        if gold:
            columns.append(list(one.tags or ()))
        columns.append(list(tags))
        lines += [between.join(row) for row in zip(*columns, strict=True)]
        lines.append("")
    return "".join(f"{line}\n" for line in lines)
