"""The vocabulary: its entries, and whether its files have the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bertsmith.doctor.chart import Chart, Fact, Finding, Grade, Observations, counted, some
from bertsmith.doctor.files import SETTINGS, TOKENIZER, VOCABULARY, TokenizerFiles
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

_RENAME = "give every piece a line of its own; [unused1] and the like may fill gaps"


def lines(files: TokenizerFiles) -> Observations:
    """In ``vocab.txt``: pieces that stand twice, blank lines, special tokens that are missing."""
    if files.lines is None:
        return
    first: dict[str, int] = {}
    twice: list[str] = []
    blank: list[int] = []
    for number, line in enumerate(files.lines, start=1):
        if not line.strip():
            blank.append(number)
        elif line in first:
            twice.append(f"{line!r} on lines {first[line]} and {number}")
        first.setdefault(line, number)
    if blank:
        noun = "line is" if len(blank) == 1 else "lines are"
        yield Finding(
            Grade.BROKEN, f"{len(blank):,} {noun} blank: {some(blank)}", VOCABULARY, _RENAME
        )
    if twice:
        noun = counted(len(twice), "piece stands", "pieces stand")
        yield Finding(Grade.BROKEN, f"{noun} twice: {some(twice)}", VOCABULARY, _RENAME)
    yield from _special(files.lines, VOCABULARY)


def entries(files: TokenizerFiles) -> Observations:
    """In ``tokenizer.json``: ids with gaps, special tokens that are missing."""
    if files.entries is None:
        return
    ids = sorted(files.entries.values())
    if ids != list(range(len(ids))):
        yield Finding(
            Grade.BROKEN,
            "the ids of the vocabulary have gaps or stand twice",
            TOKENIZER,
            "take the file from the model's source again",
        )
    yield from _special(list(files.entries), TOKENIZER)


def same(files: TokenizerFiles) -> Observations:
    """Whether ``vocab.txt`` and ``tokenizer.json`` give every piece the same id."""
    if files.lines is not None and files.entries is not None:
        theirs = files.pieces
        longest = max(len(theirs), len(files.lines))
        differ = [n for n in range(longest) if files.lines[n : n + 1] != theirs[n : n + 1]]
        if differ:
            at = differ[0]
            a, b = (repr(one[at]) if at < len(one) else "absent" for one in (files.lines, theirs))
            yield Finding(
                Grade.BROKEN,
                f"two vocabularies: {counted(len(differ), 'id differs', 'ids differ')}, id {at} "
                f"first, which is {a} in {VOCABULARY} and {b} in {TOKENIZER}",
                VOCABULARY,
                "keep the file that the model was trained with, and remove the other",
            )
    added = (files.tokenizer or {}).get("added_tokens")
    known = files.entries or {}
    extra = [
        one.get("content")
        for one in (added if isinstance(added, list) else [])
        if isinstance(one, dict) and str(one.get("content")) not in known
    ]
    if extra:
        yield Finding(
            Grade.WARNING,
            f"{counted(len(extra), 'added token')} beyond the vocabulary, which bertsmith does not "
            f"look for in texts: {some(map(repr, extra))}",
            TOKENIZER,
            "bertsmith convert --add-tokens puts words into the vocabulary itself",
        )


def load_tokenizer(folder: Path, files: TokenizerFiles, chart: Chart) -> Tokenizer | None:
    """The tokenizer as every command reads it; None where the file that it is in is broken."""
    of_vocabulary, of_tokenizer = chart.add(lines(files)), chart.add(entries(files))
    if (folder / TOKENIZER).exists():
        sound = of_tokenizer and files.entries is not None
    else:
        sound = of_vocabulary and not (files.lines is None and (folder / VOCABULARY).exists())
    return chart.attempt(Tokenizer.load, folder) if sound else None


def sizes(files: TokenizerFiles, rows: int, positions: int | None) -> Observations:
    """The vocabulary against the embedding, the longest text against the positions.

    Args:
        files: the tokenizer's files.
        rows: rows of the word embedding.
        positions: positions of the model.
    """
    size = len(files.pieces)
    if size:
        yield Fact("vocabulary", {"entries": size, "rows": rows},
                   f"{size:,} entries, {rows:,} rows in the embedding")  # fmt: skip
    if size > rows:
        yield Finding(
            Grade.BROKEN,
            f"the vocabulary has {size - rows:,} more entries than the embedding has rows: their "
            "ids are outside the model",
            files.source,
            "take vocabulary and weights from one model",
        )
    elif 0 < size < rows:
        yield Finding(
            Grade.NOTE,
            f"{rows - size:,} rows of the embedding stand for no entry of the vocabulary "
            "(some round the number of rows up)",
            files.source,
        )
    if positions is not None:
        yield from _longest(files, positions)


def _longest(files: TokenizerFiles, positions: int) -> Observations:
    said = (files.settings or {}).get("model_max_length")
    # transformers writes 1e30 where nothing is known.
    known = said if isinstance(said, int) and 0 < said < 10**9 else None
    yield Fact(
        "longest text",
        {"max_position_embeddings": positions, "model_max_length": known},
        f"{positions:,} tokens"
        + (f" (model_max_length: {known:,})" if known not in (None, positions) else ""),
    )
    if known is not None and known > positions:
        yield Finding(
            Grade.WARNING,
            f"model_max_length is {known:,}, but the model has {positions:,} positions: programs "
            "that trust it fail on texts between the two",
            SETTINGS,
            f'write "model_max_length": {positions}',
        )
    elif known is not None and known < positions:
        yield Finding(
            Grade.NOTE,
            f"model_max_length is {known:,}, fewer than the model's {positions:,} positions",
            SETTINGS,
        )
    cut = (files.tokenizer or {}).get("truncation")
    most = cut.get("max_length") if isinstance(cut, dict) else None
    if isinstance(most, int) and most < positions:
        yield Finding(
            Grade.NOTE,
            f"programs that read tokenizer.json by itself cut texts at {most:,} tokens, while "
            f"bertsmith and the model take {positions:,}",
            TOKENIZER,
        )


def pad_id(files: TokenizerFiles, said: object, rows: int, where: str) -> Observations:
    """``pad_token_id`` of the configuration, which is ``where``, against the place of ``[PAD]``."""
    pieces = files.pieces
    real = pieces.index("[PAD]") if "[PAD]" in pieces else None
    if said is None:
        return
    if not isinstance(said, int) or not 0 <= said < rows:
        yield Finding(
            Grade.BROKEN, f"pad_token_id {said!r} is no row of the embedding", where,
            f'write "pad_token_id": {real or 0}',
        )  # fmt: skip
    elif real is not None and said != real:
        yield Finding(
            Grade.WARNING,
            f"pad_token_id is {said}, which is {pieces[said]!r}, while [PAD] is {real}"
            if said < len(pieces)
            else f"pad_token_id is {said}, while [PAD] is {real}",
            where,
            f'write "pad_token_id": {real}',
        )


def _special(pieces: Sequence[str], where: str) -> Observations:
    missing = [token for token in SPECIAL if token not in pieces]
    if missing:
        marked = pieces[:1] and pieces[0].startswith("\ufeff")
        yield Finding(
            Grade.BROKEN, f"the vocabulary lacks {', '.join(missing)}", where,
            "remove the byte order mark at the beginning of the file" if marked
            else "take the vocabulary that the model was trained with",
        )  # fmt: skip
