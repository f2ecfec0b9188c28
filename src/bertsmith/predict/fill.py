"""Fill in blanks: the ranked tokens for every ``[MASK]`` of a text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bertsmith.common.errors import InputError
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

# Bounds of a packed batch: its tokens, and its rows of logits over the vocabulary.
_TOKENS = 4096
_BLANKS = 256


@dataclass(frozen=True)
class Candidate:
    """One answer for one blank."""

    token: str
    probability: float
    id: int


@dataclass(frozen=True)
class Filled:
    """The answers for one line."""

    line: int  # counted from 1
    text: str
    blanks: tuple[tuple[Candidate, ...], ...]  # by blank, from left to right; best first

    def as_dict(self) -> dict[str, Any]:
        """The answers as plain JSON values."""
        return dataclasses.asdict(self)

    def as_text(self) -> str:
        """The answers for people: the line, then a row a blank."""
        rows = [
            "  ".join(f"{answer.token} {answer.probability:.1%}" for answer in blank)
            for blank in self.blanks
        ]
        numbers = [
            f"  [MASK] {one}: " if len(rows) > 1 else "  " for one in range(1, 1 + len(rows))
        ]
        return "\n".join([self.text, *map(str.__add__, numbers, rows)])


@dataclass(frozen=True)
class _Line:
    ids: list[int]  # with [CLS] and [SEP]
    places: list[int]  # of the blanks in ids


def fill(
    model: BertForPreTraining, tokenizer: Tokenizer, lines: Sequence[str], top_k: int = 5
) -> list[Filled]:
    """Rank the tokens for every ``[MASK]`` in ``lines``.

    Each blank is answered on its own, while the other blanks of the line stay blank. The
    probabilities are those of the whole vocabulary; special tokens are no answers and are left out
    of the ranking. The model's mode (training or not) is left as it was.

    Args:
        model: the model, on any device.
        tokenizer: the tokenizer that belongs to it.
        lines: texts with at least one ``[MASK]`` each.
        top_k: answers a blank.

    Raises:
        InputError: ``top_k`` is below 1, or a line has no blank or more tokens than the model has
            positions.
    """
    ids = [tokenizer.encode(text, blanks=True).ids for text in lines]
    answers = fill_ids(model, tokenizer, ids, top_k)
    return [
        Filled(number, text, blanks)
        for number, (text, blanks) in enumerate(zip(lines, answers, strict=True), start=1)
    ]


def fill_ids(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    lines: Sequence[Sequence[int]],
    top_k: int = 5,
) -> list[tuple[tuple[Candidate, ...], ...]]:
    """:func:`fill` for token ids without ``[CLS]`` and ``[SEP]``: for each line, its blanks."""
    if top_k < 1:
        raise InputError("a blank needs at least one answer", value=top_k, mend="ask for 1 or more")
    limit = model.config.max_position_embeddings
    ready = [_prepare(tokenizer, ids, one, limit) for one, ids in enumerate(lines, start=1)]
    answers = []
    was_training = model.training
    model.eval()
    try:
        for group in _groups(ready):
            answers += _fill_group(model, tokenizer, group, top_k)
    finally:
        model.train(was_training)
    return answers


def _prepare(tokenizer: Tokenizer, line: Sequence[int], number: int, limit: int) -> _Line:
    special = tokenizer.ids
    ids = [special.cls, *line, special.sep]
    places = [place for place, token in enumerate(ids) if token == special.mask]
    if not places:
        raise InputError(
            "there is no blank to fill in", line=number, mend="write [MASK] in place of a word"
        )
    if len(ids) > limit:
        raise InputError(
            f"the line has {len(ids)} tokens, but the model reads {limit} at most",
            line=number,
            mend="shorten the line, or split it",
        )
    return _Line(ids, places)


def _groups(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Lines in their order, as many at a time as fit in a batch."""
    group: list[_Line] = []
    tokens = blanks = 0
    for line in lines:
        tokens, blanks = tokens + len(line.ids), blanks + len(line.places)
        if group and (tokens > _TOKENS or blanks > _BLANKS):
            yield group
            group, tokens, blanks = [], len(line.ids), len(line.places)
        group.append(line)
    if group:
        yield group


@torch.inference_mode()
def _fill_group(
    model: BertForPreTraining, tokenizer: Tokenizer, group: Sequence[_Line], top_k: int
) -> list[tuple[tuple[Candidate, ...], ...]]:
    batch = PackedBatch.from_sequences([(line.ids, [0] * len(line.ids)) for line in group])
    starts = batch.offsets.tolist()
    places = [
        start + place
        for start, line in zip(starts[:-1], group, strict=True)
        for place in line.places
    ]
    device = next(model.parameters()).device
    logits, _ = model(batch.to(device), torch.tensor(places, device=device))  # [M, V]
    answers = iter(_rank(logits, tokenizer, top_k))
    return [tuple(next(answers) for _ in line.places) for line in group]


def _rank(logits: Tensor, tokenizer: Tokenizer, top_k: int) -> list[tuple[Candidate, ...]]:
    """[M, V] logits -> the best candidates of each row."""
    chances = logits.float().softmax(-1)
    special = tokenizer.ids
    shown = chances.clone()
    shown[:, [special.pad, special.unk, special.cls, special.sep, special.mask]] = -1
    shown[:, tokenizer.size :] = -1  # rows of a rounded-up embedding stand for no token
    best = shown.topk(min(top_k, max(1, tokenizer.size - 5)), dim=-1)
    return [
        tuple(
            Candidate(tokenizer.tokens[token], chance, token)
            for chance, token in zip(chances_of, tokens, strict=True)
        )
        for chances_of, tokens in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
