"""Model directories as the TensorFlow code of 2018 reads them."""

from __future__ import annotations

from pathlib import Path

from bertsmith.checkpoints.architectures import Model, table_of
from bertsmith.checkpoints.beside import Beside, save_tokenizer
from bertsmith.checkpoints.locate import GOOGLE_CONFIG
from bertsmith.checkpoints.names import to_hugging_face
from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.checkpoints.save import check_sizes
from bertsmith.checkpoints.tensorflow import to_google_names, write_bundle
from bertsmith.common.console import warn
from bertsmith.common.errors import ModelError
from bertsmith.common.files import write_json
from bertsmith.model.config import BertConfig
from bertsmith.model.task import BertForTask
from bertsmith.text.tokenizer import Tokenizer

_PREFIX = "bert_model.ckpt"
_EPS = 1e-12  # layer_norm() of the 2018 modeling.py
_ACTIVATIONS = ("gelu", "relu", "tanh")  # get_activation() of the same file
_KEYS = (
    "attention_probs_dropout_prob",
    "hidden_act",
    "hidden_dropout_prob",
    "hidden_size",
    "initializer_range",
    "intermediate_size",
    "max_position_embeddings",
    "num_attention_heads",
    "num_hidden_layers",
    "type_vocab_size",
    "vocab_size",
)


def save_google(
    folder: Path, model: Model, tokenizer: Tokenizer, beside: Beside | None = None
) -> None:
    """Write ``bert_model.ckpt``, ``bert_config.json`` and ``vocab.txt``, atomically.

    Names of labels have no place there. The tokenizer's settings stand in a
    ``tokenizer_config.json``, which the 2018 scripts do not read: they take ``--do_lower_case``.

    Raises:
        ModelError: the 2018 code has other mathematics than the model, or no variable for a part of
            it; or the folder can not be written.
    """
    check_sizes(folder, model.config, tokenizer)
    _check_mathematics(model.config)
    _check_head(model)
    named = to_hugging_face(model.state_dict(), table_of(model))
    variables = to_google_names({name: one.cpu().numpy() for name, one in named.items()})
    try:
        with atomic_folder(folder) as part:
            write_bundle(part / _PREFIX, variables)
            write_json(part / GOOGLE_CONFIG, {key: getattr(model.config, key) for key in _KEYS})
            save_tokenizer(part, tokenizer, model.config.max_position_embeddings, beside)
            (part / "tokenizer.json").unlink()  # vocab.txt is what the 2018 code reads
    except OSError as error:
        raise ModelError(
            f"the model can not be written: {error}", file=folder,
            mend="make room or choose another folder; what was there before is untouched",
        ) from error  # fmt: skip


def _check_head(model: Model) -> None:
    """Only run_classifier.py and run_squad.py have heads, and the first takes any for its own."""
    kind = model.spec.kind if isinstance(model, BertForTask) else "classes"
    if kind not in ("classes", "span"):
        raise ModelError(
            "the 2018 code has heads for classes of a text and for answer spans only", value=kind
        )
    if isinstance(model, BertForTask) and kind == "classes":
        words = ", ".join(f"{number} {word}" for number, word in enumerate(model.spec.labels))
        warn(f"the layout has no place for the names of the labels: {words}")


def _check_mathematics(config: BertConfig) -> None:
    if config.layer_norm_eps != _EPS:
        raise ModelError(
            f"the 2018 code has {_EPS} for LayerNorm's epsilon and no setting for it",
            value=config.layer_norm_eps,
        )
    if config.hidden_act not in _ACTIVATIONS:
        raise ModelError(
            f"the 2018 code knows the activations {', '.join(_ACTIVATIONS)}",
            value=config.hidden_act,
            mend="its later releases compute gelu by tanh, as gelu_new does: if it is for these, "
            'write "hidden_act": "gelu" into the source\'s config.json',
        )
    if not config.tie_word_embeddings:
        raise ModelError("the 2018 code has no decoder apart from the word embedding")
