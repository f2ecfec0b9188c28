"""What other programs say beside a vocabulary, carried from one model directory to the next.

bertsmith goes by none of it: it never pads, cuts by the model's positions and honours no added
tokens. Programs that open a converted or exported model do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.files import write_json
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.tokenizer_files import CONFIG, TOKENIZER
from bertsmith.text.vocabulary import SPECIAL

_SPECIAL_MAP = "special_tokens_map.json"
_SIDES = ("padding_side", "truncation_side")
# Lists of control tokens beyond BERT's five: the key of transformers to 4, and that since 5.
_MORE_TOKENS = ("additional_special_tokens", "extra_special_tokens")
_LENGTH, _INPUTS = "model_max_length", "model_input_names"
_DIGITS = 9  # of an id, at most: readers keep ids in 32 bits


@dataclass(frozen=True)
class Beside:
    """Settings of a tokenizer that are not BERT's own.

    Attributes:
        settings: keys of ``tokenizer_config.json``.
        added: entries of ``added_tokens`` in ``tokenizer.json`` that are none of BERT's five.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    added: tuple[Mapping[str, Any], ...] = ()


def read_beside(folder: Path) -> Beside:
    """What the files of ``folder`` say; values of another type than theirs are left out.

    The files themselves were found whole when the tokenizer was read from them.
    """
    said, more = _load(folder / CONFIG), _load(folder / _SPECIAL_MAP)
    found = {key: said[key] for key in _SIDES if said.get(key) in ("left", "right")}
    for key in _MORE_TOKENS:
        tokens = said.get(key, more.get(key))
        if isinstance(tokens, list | dict) and tokens:
            found[key] = tokens
    length = said.get(_LENGTH)
    if isinstance(length, int) and not isinstance(length, bool) and length > 0:
        found[_LENGTH] = length
    if isinstance(said.get(_INPUTS), list):
        found[_INPUTS] = said[_INPUTS]
    return Beside(found, tuple(_added(_load(folder / TOKENIZER), said)))


def _added(tokenizer: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The added tokens with their ids; transformers 4 lists them among the settings, too."""
    listed, by_id = tokenizer.get("added_tokens"), settings.get("added_tokens_decoder")
    if not isinstance(listed, list):
        pairs = by_id.items() if isinstance(by_id, dict) else ()
        listed = [
            {"id": int(number), **one} for number, one in pairs
            if number.isdecimal() and len(number) <= _DIGITS and isinstance(one, dict)
        ]  # fmt: skip
    for one in listed:
        whole = isinstance(one, dict) and isinstance(one.get("id"), int)
        if not whole or not 0 <= one["id"] < 10**_DIGITS:
            continue
        if isinstance(one.get("content"), str) and one["content"] not in SPECIAL:
            yield one


def save_tokenizer(
    folder: Path, tokenizer: Tokenizer, positions: int, beside: Beside | None = None
) -> None:
    """Write a tokenizer's files, with what stood beside it where it came from.

    Args:
        folder: where to.
        tokenizer: the tokenizer.
        positions: positions of the model: a greater ``model_max_length`` would mislead.
        beside: what to carry over.
    """
    tokenizer.save(folder, positions)
    if beside is None:
        return
    settings = json.loads((folder / CONFIG).read_text("utf-8")) | beside.settings
    settings[_LENGTH] = min(settings[_LENGTH], positions)
    write_json(folder / CONFIG, settings)
    # Control tokens get their ids from this list: without it, the order of another one decides.
    added = [one for one in beside.added if _fits(one, tokenizer)]
    if added:
        whole = json.loads((folder / TOKENIZER).read_text("utf-8"))
        whole["added_tokens"] = sorted([*whole["added_tokens"], *added], key=lambda one: one["id"])
        write_json(folder / TOKENIZER, whole)


def _fits(added: Mapping[str, Any], tokenizer: Tokenizer) -> bool:
    """Whether an added token has the id that the vocabulary gives it, or one beyond all of it."""
    number = tokenizer.known.get(added["content"])
    return added["id"] == number or (number is None and added["id"] >= tokenizer.size)


def _load(file: Path) -> dict[str, Any]:
    try:
        raw = strict_json.read(file)
        json.dumps(raw, ensure_ascii=False).encode("utf-8")  # no half characters
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}
