"""What the files beside a model say of its tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import InputError
from bertsmith.text.vocabulary import SPECIAL, has_capitals, read_vocabulary

CONFIG, TOKENIZER, ADDED, VOCABULARY = (
    "tokenizer_config.json",
    "tokenizer.json",
    "added_tokens.json",
    "vocab.txt",
)
PREFIX = "##"
# Key of the settings -> our name and its type. None means what lower-casing says, for accents.
_SETTINGS: dict[str, tuple[str, Any]] = {
    "do_lower_case": ("lowercase", bool),
    "strip_accents": ("strip_accents", bool | None),
    "tokenize_chinese_chars": ("chinese_chars", bool),
    "max_input_chars_per_word": ("longest_word", int),
}
# Classes of transformers whose settings overrule the normalizer in tokenizer.json.
_BERT_CLASSES = (None, "BertTokenizer", "BertTokenizerFast")


def read_tokenizer(path: Path, otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a Tokenizer from a ``tokenizer.json`` or a ``vocab.txt``.

    As in transformers, settings in the ``tokenizer_config.json`` beside it overrule the normalizer.

    Args:
        path: the file.
        otherwise: settings for a ``vocab.txt`` that has no ``tokenizer_config.json``.

    Raises:
        InputError: a file is malformed, or not that of a BERT.
    """
    said = _read_settings(path.parent / CONFIG)
    if path.suffix == ".json":
        found = _read_json(path)
        if said.pop("class", None) in _BERT_CLASSES:
            found |= said
        return found
    said.pop("class", None)
    tokens = read_vocabulary(path)
    found = {"tokens": tokens, **(said or otherwise)}
    # A file without a word about case: only a cased vocabulary has capitals.
    found.setdefault("lowercase", not has_capitals(tokens))
    beside = _load(path.parent / ADDED) if (path.parent / ADDED).exists() else {}
    known = set(tokens)
    return {**found, "foreign": tuple(str(one) for one in beside if one not in known)}


def _read_json(path: Path) -> dict[str, Any]:
    raw = _load(path)
    try:
        model, normalizer = raw["model"], raw["normalizer"]
        kinds = model["type"], normalizer["type"], model["continuing_subword_prefix"]
        if kinds != ("WordPiece", "BertNormalizer", PREFIX):
            raise InputError("this is not the tokenizer of a BERT", file=path)
        by_id = sorted(model["vocab"].items(), key=lambda item: item[1])
        if [number for _, number in by_id] != list(range(len(by_id))):
            raise InputError("the ids of the vocabulary have gaps or stand twice", file=path)
        contents = [str(one["content"]) for one in raw.get("added_tokens") or ()]
        return {
            "tokens": [token for token, _ in by_id],
            "lowercase": _typed(normalizer, "lowercase", bool),
            "strip_accents": _typed(normalizer, "strip_accents", bool | None, None),
            "chinese_chars": _typed(normalizer, "handle_chinese_chars", bool, True),
            "longest_word": _typed(model, "max_input_chars_per_word", int, 100),
            "foreign": tuple(one for one in contents if one not in SPECIAL),
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the tokenizer file can not be read: {error}", file=path) from None


def _read_settings(path: Path) -> dict[str, Any]:
    """The settings that the file names, by our names, and ``class``; empty without the file."""
    if not path.exists():
        return {}
    raw = _load(path)
    try:
        found = {
            ours: _typed(raw, key, kind) for key, (ours, kind) in _SETTINGS.items() if key in raw
        }
    except TypeError as error:
        raise InputError(f"the tokenizer's settings can not be read: {error}", file=path) from None
    return found | {"class": raw.get("tokenizer_class")}


def _load(path: Path) -> dict[str, Any]:
    try:
        raw = strict_json.read(path)
    except (ValueError, OSError) as error:
        raise InputError(f"the file can not be read: {error}", file=path) from None
    if not isinstance(raw, dict):
        raise InputError("the file is no JSON object", file=path)
    return raw


def _typed(raw: Mapping[str, Any], name: str, kind: Any, *otherwise: Any) -> Any:
    value = raw.get(name, *otherwise)
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}")
    return value
