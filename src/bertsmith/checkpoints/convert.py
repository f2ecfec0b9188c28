"""From any layout to one that others read, with or without new words in the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.architectures import Model, describe
from bertsmith.checkpoints.beside import read_beside
from bertsmith.checkpoints.card import compose_card
from bertsmith.checkpoints.checkpoint import open_checkpoint
from bertsmith.checkpoints.directory import load_checkpoint
from bertsmith.checkpoints.extend import Added, add_tokens
from bertsmith.checkpoints.google import save_google
from bertsmith.checkpoints.save import save_model
from bertsmith.checkpoints.weights import LoadReport
from bertsmith.common import strict_json
from bertsmith.common.errors import ModelError, SettingsError
from bertsmith.model.config import parameter_count
from bertsmith.text.tokenizer import Tokenizer

LAYOUTS = ("huggingface", "tensorflow")
_RECORD = "task.json"


@dataclass(frozen=True)
class Converted:
    """What a conversion did.

    Attributes:
        model: the model as it was written.
        before: the tokenizer as it was read.
        tokenizer: the tokenizer as it was written.
        report: what became of the source's tensors.
        added: the new words, None where none were asked for.
    """

    model: Model
    before: Tokenizer
    tokenizer: Tokenizer
    report: LoadReport
    added: Added | None


def convert(
    source: Path,
    out: Path,
    layout: str = "huggingface",
    words: Sequence[str] = (),
    tokenizer: Tokenizer | None = None,
    tokenizer_folder: Path | None = None,
) -> Converted:
    """Read a whole model and write it, bit for bit.

    Args:
        source: a model in any layout; see :func:`~bertsmith.checkpoints.locate.locate`.
        out: a folder that is made or replaced as a whole.
        layout: one of LAYOUTS.
        words: words to add to the vocabulary; see :func:`~bertsmith.checkpoints.extend.add_tokens`.
        tokenizer: instead of the one beside the weights.
        tokenizer_folder: where ``tokenizer`` is from; the model's own folder by default.

    Raises:
        ModelError: the source is not whole, or the layout has no place for what it holds.
        SettingsError: ``out`` is the source itself.
    """
    checkpoint = open_checkpoint(source)
    if out.exists() and out.resolve() == checkpoint.folder.resolve():
        raise SettingsError("the model would replace itself", value=str(out),
                            mend="give another folder")  # fmt: skip
    model, before, report = load_checkpoint(checkpoint, tokenizer)
    after, added = before, None
    if words:
        model, after, added = add_tokens(model, before, words)
    beside = read_beside(tokenizer_folder or checkpoint.folder)
    if layout == "tensorflow":
        save_google(out, model, after, beside)
    else:
        record = _task_record(checkpoint.folder)
        save_model(out, model, after, _card(model, source, report, added), record, beside)
    return Converted(model, before, after, report, added)


def _task_record(folder: Path) -> Mapping[str, Any]:
    """``task.json``, which says what a fine-tuned model of ours is for."""
    try:
        return {_RECORD: strict_json.read(folder / _RECORD)}
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise ModelError(
            f"the record of the task is damaged: {error}", file=folder / _RECORD
        ) from None


def _card(model: Model, source: Path, report: LoadReport, added: Added | None) -> str:
    name = describe(model)["architectures"][0]
    facts: dict[str, object] = {
        "source": source.name,
        "layout of the source": report.layout,
        "class": name,
        "layers": model.config.num_hidden_layers,
        "hidden size": model.config.hidden_size,
        "parameters of the encoder": parameter_count(model.config),
        "vocabulary": model.config.vocab_size,
    }
    if added is not None:
        facts["words added"] = len(added.ids)
    front = {
        "tags": ["bert", "bertsmith"],
        "pipeline_tag": _PIPELINES.get(name, "feature-extraction"),
    }
    text = "Converted without a change of any weight."
    if added is not None:
        text = (
            "Converted; the new words start at the mean of the pieces they were cut into, and want "
            "further pre-training."
        )
    return compose_card("BERT", facts, front_matter=front, text=text)


_PIPELINES = {
    "BertForPreTraining": "fill-mask",
    "BertForMaskedLM": "fill-mask",
    "BertForSequenceClassification": "text-classification",
    "BertForTokenClassification": "token-classification",
    "BertForQuestionAnswering": "question-answering",
    "BertForMultipleChoice": "multiple-choice",
}
