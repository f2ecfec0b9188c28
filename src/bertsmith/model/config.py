"""The shape of a BERT: what ``config.json`` says, presets, and how many parameters that makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import ModelError, SettingsError, nearest
from bertsmith.common.files import write_json
from bertsmith.model.activations import ACTIVATIONS


@dataclass(frozen=True)
class BertConfig:
    """Sizes and constants of a BERT, under the names of Hugging Face's ``config.json``.

    The defaults are bert-base-uncased. ``extra`` holds the keys of a ``config.json`` that mean
    nothing here, so that they survive reading and writing.

    Raises:
        ModelError: an unknown activation, a size below 1, heads that do not divide the width.
    """

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0
    tie_word_embeddings: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self._check_numbers()
        if self.hidden_act not in ACTIVATIONS:
            close = nearest(self.hidden_act, ACTIVATIONS)
            guess = f"did you mean {close!r}? " if close else ""
            raise ModelError(
                "unknown activation in hidden_act",
                value=self.hidden_act,
                mend=f"{guess}known: {', '.join(ACTIVATIONS)}",
            )
        if self.hidden_size % self.num_attention_heads:
            raise ModelError(
                f"hidden_size {self.hidden_size} does not divide into heads",
                value=self.num_attention_heads,
                mend="choose num_attention_heads so that it divides hidden_size",
            )

    def _check_numbers(self) -> None:
        for name in _SIZES:
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ModelError(f"{name} takes a whole number of at least 1", value=size)
        # Sizes come from files: none may make us ask for memory without end.
        if self.num_hidden_layers > _MOST_LAYERS or parameter_count(self) > _MOST_PARAMETERS:
            raise ModelError(
                "the sizes are beyond those of any BERT",
                value={name: getattr(self, name) for name in _SIZES},
                mend=f"at most {_MOST_LAYERS:,} layers and {_MOST_PARAMETERS:.0e} parameters",
            )
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            rate = getattr(self, name)
            if not isinstance(rate, int | float) or not 0 <= rate < 1:
                raise ModelError(f"{name} takes a share from 0 to below 1", value=rate)
        for name in ("layer_norm_eps", "initializer_range"):
            number = getattr(self, name)
            if not isinstance(number, int | float) or not 0 < number < 1:
                raise ModelError(f"{name} takes a number between 0 and 1", value=number)
        if not isinstance(self.hidden_act, str):
            raise ModelError("hidden_act takes the name of an activation", value=self.hidden_act)
        if not isinstance(self.tie_word_embeddings, bool):
            raise ModelError("tie_word_embeddings is true or false", value=self.tie_word_embeddings)

    @property
    def head_size(self) -> int:
        """Width of one attention head."""
        return self.hidden_size // self.num_attention_heads

    @classmethod
    def from_mapping(cls, raw: Mapping[str, Any], file: Path | None = None) -> BertConfig:
        """A configuration from the contents of a ``config.json``; ``file`` is named in errors."""
        kind = raw.get("model_type", "bert")
        if kind != "bert":
            raise ModelError("the model is not a BERT", file=file, value=kind)
        for key, (usual, what) in _OTHER_MODELS.items():
            if raw.get(key, usual) != usual:
                raise ModelError(f"{key} makes it {what}, not a BERT", file=file, value=raw[key])
        values = {name: raw[name] for name in _FIELDS if name in raw}
        values["extra"] = {key: raw[key] for key in raw if key not in _FIELDS}
        try:
            return cls(**values)
        except ModelError as error:
            raise ModelError(error.message, file=file, value=error.value, mend=error.mend) from None

    def to_mapping(self) -> dict[str, Any]:
        """The contents of a ``config.json`` as transformers reads it."""
        own = {name: getattr(self, name) for name in _FIELDS}
        kind = {"architectures": ["BertForPreTraining"], "model_type": "bert"}
        return {**kind, **self.extra, **own}

    @classmethod
    def from_json(cls, file: Path) -> BertConfig:
        """Read a ``config.json``.

        Raises:
            ModelError: the file is missing, is not JSON, or describes no BERT.
        """
        try:
            raw = strict_json.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            raise ModelError("there is no such model configuration", file=file) from None
        except (ValueError, OSError) as error:
            raise ModelError(f"the configuration can not be read: {error}", file=file) from None
        if not isinstance(raw, dict):
            raise ModelError("the configuration is not a JSON object", file=file)
        return cls.from_mapping(raw, file)

    def to_json(self, file: Path) -> None:
        """Write a ``config.json``, atomically."""
        write_json(file, self.to_mapping())


_FIELDS = tuple(one.name for one in dataclasses.fields(BertConfig) if one.name != "extra")


# Keys whose other values make a model of other mathematics out of the same names.
_OTHER_MODELS: dict[str, tuple[Any, str]] = {
    "is_decoder": (False, "a decoder"),
    "add_cross_attention": (False, "a decoder"),
    "position_embedding_type": ("absolute", "a model of relative positions"),
}
_MOST_LAYERS, _MOST_PARAMETERS = 1000, 1e11
_SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)

# Layers and width: base and large from Devlin et al. 2018, section 3; the small ones from
# Turc et al. 2019, "Well-Read Students Learn Better", table 1.
PRESETS: dict[str, tuple[int, int]] = {
    "tiny": (2, 128),
    "mini": (4, 256),
    "small": (4, 512),
    "medium": (8, 512),
    "base": (12, 768),
    "large": (24, 1024),
}


def preset(name: str, vocab_size: int, **overrides: Any) -> BertConfig:
    """The configuration of a published model size, for a vocabulary of ``vocab_size`` entries.

    Heads are 64 wide and the feed-forward layer is four times the width, also where
    ``overrides`` change ``hidden_size`` and nothing else.

    Raises:
        SettingsError: there is no preset or no configuration field of that name.
    """
    if name not in PRESETS:
        close = nearest(name, PRESETS)
        guess = f"did you mean {close!r}? " if close else ""
        raise SettingsError(
            "unknown model preset", value=name, mend=f"{guess}known: {', '.join(PRESETS)}"
        )
    for key in overrides:
        if key not in _FIELDS:
            close = nearest(key, _FIELDS)
            mend = f"did you mean {close!r}?" if close else f"known: {', '.join(_FIELDS)}"
            raise SettingsError(f"unknown configuration field {key!r}", mend=mend)
    layers, width = PRESETS[name]
    width = overrides.get("hidden_size", width)
    values = {
        "vocab_size": vocab_size,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": max(1, width // 64),
        "intermediate_size": 4 * width,
        **overrides,
    }
    return BertConfig(**values)


def parameter_count(config: BertConfig, heads: bool = False) -> int:
    """Number of trainable numbers in the encoder with its pooler.

    Args:
        config: the shape of the model.
        heads: count the masked-LM and next-sentence heads too; a decoder matrix that is the word
            embedding counts once.
    """
    h, i = config.hidden_size, config.intermediate_size
    rows = config.vocab_size + config.max_position_embeddings + config.type_vocab_size
    norm = 2 * h
    embeddings = rows * h + norm
    attention = 4 * (h * h + h) + norm
    feed_forward = (h * i + i) + (i * h + h) + norm
    pooler = h * h + h
    total = embeddings + config.num_hidden_layers * (attention + feed_forward) + pooler
    if heads:
        total += (h * h + h) + norm + config.vocab_size + (2 * h + 2)
        total += 0 if config.tie_word_embeddings else config.vocab_size * h
    return total
