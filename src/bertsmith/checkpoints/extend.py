"""New entries for a model's vocabulary: words of a domain that it cuts into many pieces."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from bertsmith.checkpoints.architectures import Model
from bertsmith.common.errors import ModelError
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.tokenizer_files import PREFIX
from bertsmith.text.vocabulary import SPECIAL

_UNUSED = re.compile(r"\[unused\d+\]")


@dataclass
class Added:
    """What became of each word, in the order of the words.

    Attributes:
        ids: new token -> its id.
        pieces: new token -> the pieces that it was cut into, whose mean it starts from.
        reused: how many took the place of an ``[unused...]`` entry or of a row without one.
        known: words that the vocabulary has already.
        unreachable: words that the tokenizer cuts before it looks at the vocabulary (at spaces,
            punctuation, Chinese characters), so that an entry would never be used.
        unknown: words that were ``[UNK]``: without pieces, they start at the mean of all rows.
    """

    ids: dict[str, int] = field(default_factory=dict)
    pieces: dict[str, list[str]] = field(default_factory=dict)
    reused: int = 0
    known: list[str] = field(default_factory=list)
    unreachable: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def add_tokens(
    model: Model, tokenizer: Tokenizer, words: Sequence[str]
) -> tuple[Model, Tokenizer, Added]:
    """A copy of model and tokenizer that know each of ``words`` as one token.

    A word takes the place of the next ``[unused...]`` entry, then of a row that the embedding has
    beyond the vocabulary, then a new row. Its vector and, in a masked-LM head, its bias and row of
    an own decoder are the means of those of the pieces that it was cut into.

    Args:
        model: any model.
        tokenizer: its tokenizer.
        words: words as they stand in text, or ``##`` and the rest of one. They are lower-cased and
            stripped of accents as the tokenizer does with text.

    Raises:
        ModelError: another program added tokens, beside the vocabulary.
    """
    if tokenizer.foreign:
        raise ModelError(
            "the tokenizer has added tokens, whose rows would be given to the new words",
            value=tokenizer.foreign[0],
            mend="start from the model as it was before tokens were added to it",
        )
    added, entries = Added(), list(tokenizer.tokens)
    free = [number for number, token in enumerate(entries) if _UNUSED.fullmatch(token)]
    pieces_of: dict[int, list[int]] = {}
    for word in dict.fromkeys(words):
        token, pieces = _normal(tokenizer, word)
        if token is None:
            added.unreachable.append(word)
        elif token in added.ids or token in tokenizer.known:
            added.known.append(word)
        else:
            number = free.pop(0) if free else len(entries)
            added.reused += number < model.config.vocab_size
            entries[number : number + 1] = [token]
            added.ids[token] = number
            added.pieces[token] = [tokenizer.tokens[one] for one in pieces]
            pieces_of[number] = [one for one in pieces if one != tokenizer.ids.unk]
            if not pieces_of[number]:
                added.unknown.append(word)
    rows = max(len(entries), model.config.vocab_size)
    extended = Tokenizer(
        entries,
        tokenizer.lowercase,
        tokenizer.strip_accents,
        tokenizer.chinese_chars,
        tokenizer.longest_word,
    )
    return _with_rows(model, rows, pieces_of), extended, added


def _normal(tokenizer: Tokenizer, word: str) -> tuple[str | None, list[int]]:
    """The entry that stands for ``word``, and the ids of its present pieces; None for no entry."""
    continues = word.startswith(PREFIX) and len(word) > len(PREFIX)
    parts = tokenizer.words(word.removeprefix(PREFIX) if continues else word)
    if len(parts) != 1 or len(parts[0]) > tokenizer.longest_word or parts[0] in SPECIAL:
        return None, []
    if not continues:
        return parts[0], tokenizer.encode(parts[0]).ids
    # The pieces of a rest are those after a first piece; a letter before it is such a piece.
    pieces = tokenizer.encode(f"a{parts[0]}").ids
    whole = len(pieces) > 1 and tokenizer.tokens[pieces[0]] == "a"
    return PREFIX + parts[0], pieces[1:] if whole else tokenizer.encode(parts[0]).ids


def _with_rows(model: Model, rows: int, pieces_of: dict[int, list[int]]) -> Model:
    config = dataclasses.replace(model.config, vocab_size=rows)
    changed = copy.deepcopy(model)
    changed.config = changed.encoder.config = config
    words = changed.encoder.embeddings.word
    words.weight = torch.nn.Parameter(_extended(words.weight, rows, pieces_of))
    words.num_embeddings = rows
    if isinstance(changed, BertForPreTraining):
        head = changed.masked_lm
        head.bias = torch.nn.Parameter(_extended(head.bias, rows, pieces_of))
        if head.decoder is not None:
            head.decoder.weight = torch.nn.Parameter(
                _extended(head.decoder.weight, rows, pieces_of)
            )
            head.decoder.out_features = rows
    return changed


def _extended(table: Tensor, rows: int, pieces_of: dict[int, list[int]]) -> Tensor:
    """[V, ...] -> [rows, ...], with the rows of ``pieces_of`` set to means of old rows."""
    old = table.detach()
    new = torch.cat([old, old.new_zeros(rows - len(old), *old.shape[1:])])
    for number, pieces in pieces_of.items():
        new[number] = old[pieces].mean(0) if pieces else old.mean(0)
    return new
