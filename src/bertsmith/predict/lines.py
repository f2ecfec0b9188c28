"""One line in, one JSON object out: a fine-tuned model on single inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bertsmith.checkpoints.directory import load_task_model
from bertsmith.checkpoints.locate import locate
from bertsmith.common import strict_json
from bertsmith.common.console import note
from bertsmith.common.errors import InputError
from bertsmith.model.linear import serve
from bertsmith.model.task import BertForTask, Head, Kind
from bertsmith.tasks.choice.examples import ChoiceExample
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.parts import encode_parts, judge, sequence_length
from bertsmith.tasks.record import read_record
from bertsmith.tasks.registry import make_task
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.examples import SquadExample
from bertsmith.tasks.task import Part, Task
from bertsmith.tasks.text.examples import TextExample
from bertsmith.tasks.text.task import TextTask
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.device import find_device
from bertsmith.train.memory import choose_micro_tokens

Fields = Mapping[str, Any]
_NEEDED: dict[Kind, str] = {
    "classes": 'a text, or {"text": ..., "pair": ...}',
    "labels": 'a text, or {"text": ..., "pair": ...}',
    "value": 'a text, or {"text": ..., "pair": ...}',
    "tokens": 'words with spaces between, or {"words": [...]}',
    "span": '{"question": ..., "context": ...}',
    "choice": '{"context": ..., "choices": [...]}',
}


class Predictor:
    """A fine-tuned model that answers single inputs; the same way whatever their company.

    Args:
        model: the model, in evaluation mode.
        tokenizer: its tokenizer.
        task: its task.
        tuned: what was fitted on dev beside the weights.
        length: most tokens a sequence.
    """

    def __init__(
        self,
        model: BertForTask,
        tokenizer: Tokenizer,
        task: Task[Any],
        tuned: Mapping[str, float],
        length: int,
    ) -> None:
        self.model, self.tokenizer, self.task = model.to(find_device()), tokenizer, task
        self._tuned, self._length = tuned, length
        self._micro_tokens = choose_micro_tokens(model.config, length)

    @classmethod
    def load(cls, folder: Path) -> Predictor:
        """The predictor of a model directory.

        Raises:
            ModelError: the model is not whole, or has no head of a task.
        """
        model, tokenizer, report = load_task_model(folder)
        note(report.as_text())
        serve(model)
        return cls.of(locate(folder).folder, model, tokenizer)

    @classmethod
    def of(cls, folder: Path, model: BertForTask, tokenizer: Tokenizer) -> Predictor:
        """The predictor of a model that is loaded already, from ``folder``.

        Raises:
            ModelError: its record is damaged, or of a task that its head is not for.
        """
        record = read_record(folder)
        settings = record.settings if record else TaskSettings()
        name = record.task if record else _DEFAULT_TASKS[model.spec.kind]
        task = make_task(name, settings)
        task.check(model.spec)
        length = sequence_length(task, model.config, settings.max_length)
        return cls(model, tokenizer, task, record.tuned if record else {}, length)

    def predict(self, lines: Sequence[str], file: str = "", first: int = 1) -> list[dict[str, Any]]:
        """An answer for each line: a text, or a JSON object with named fields.

        Args:
            lines: the inputs.
            file: where they are from, for messages.
            first: number of the first one, for messages.

        Raises:
            InputError: a line is not what the model needs; the message gives its number.
        """
        examples = [self._example(line, at, file) for at, line in enumerate(lines, start=first)]
        if not examples:
            return []
        self._check_pairs(examples, file, first)
        part: Part[Any] = Part("input", examples, labelled=False)
        head = self.model.spec
        encoded = encode_parts(self.task, [part], self.tokenizer, self._length, head)
        judged, _ = judge(self.task, self.model, encoded, self._micro_tokens, self._tuned)
        return [as_json(head, one) for one in judged[0].predictions]

    def _check_pairs(self, examples: Sequence[Any], file: str, first: int) -> None:
        """Refuse single texts where the model was trained on pairs."""
        if not (isinstance(self.task, TextTask) and self.task.pairs):
            return
        single = [at for at, one in enumerate(examples) if one.pair is None]
        if single:
            raise InputError(
                f"{len(single)} of {len(examples)} lines have no second text, and the model was "
                "trained on pairs of texts",
                file=file or None, line=first + single[0],
                mend='give {"text": ..., "pair": ...} in each line; a pair may be empty',
            )  # fmt: skip

    def _example(self, line: str, number: int, file: str) -> Any:
        kind = self.model.spec.kind
        try:
            fields = strict_json.loads(line) if line.lstrip().startswith("{") else {"text": line}
            return _EXAMPLES[kind](fields, str(number - 1))
        except (ValueError, TypeError, KeyError) as error:
            reason = f"no field {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
            raise InputError(
                f"the line is not what a model of {self.task.name} needs: {reason}",
                file=file or None, line=number, mend=f"give {_NEEDED[kind]}",
            ) from None  # fmt: skip


def as_json(head: Head, prediction: Any) -> dict[str, Any]:
    """A prediction as plain JSON values."""
    if head.kind == "value":
        return {"value": prediction}
    if head.kind == "classes":
        return {"label": str(prediction), "probability": prediction.probability}
    if head.kind == "labels":
        return {"labels": {str(one): one.probability for one in prediction}}
    if head.kind == "tokens":
        return {"tags": list(prediction)}
    if head.kind == "choice":
        return asdict(prediction)
    return {
        "answer": prediction.text,
        "start": prediction.start,
        "end": prediction.end,
        "probability": prediction.probability,
    }


def _text(fields: Fields, name: str) -> TextExample:
    pair = None if fields.get("pair") is None else _string(fields, "pair")
    return TextExample(name, _string(fields, "text"), pair)


def _words(fields: Fields, name: str) -> TaggedSentence:
    del name
    if "words" in fields:
        found = _strings(fields, "words")  # an empty one stays: a tag a word
    else:
        found = tuple(word for word in _string(fields, "text").split(" ") if word)
    if not any(found):
        raise ValueError("no words")
    return TaggedSentence(found)


def _question(fields: Fields, name: str) -> SquadExample:
    return SquadExample(name, _string(fields, "question"), _string(fields, "context"))


def _choices(fields: Fields, name: str) -> ChoiceExample:
    choices = _strings(fields, "choices")
    if len(choices) < 2:
        raise ValueError("fewer than two choices")
    return ChoiceExample(name, _string(fields, "context"), choices)


def _string(fields: Fields, key: str) -> str:
    found = fields[key]
    if not isinstance(found, str):
        raise TypeError(f"{key} is not text")
    return found


def _strings(fields: Fields, key: str) -> tuple[str, ...]:
    found = fields[key]
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise TypeError(f"{key} is not a list of texts")
    return tuple(found)


_EXAMPLES: dict[Kind, Callable[[Fields, str], Any]] = {
    "classes": _text,
    "labels": _text,
    "value": _text,
    "tokens": _words,
    "span": _question,
    "choice": _choices,
}
# What a model of another program is taken for.
_DEFAULT_TASKS: dict[Kind, str] = {
    "classes": "classify",
    "labels": "classify",
    "value": "regress",
    "tokens": "ner",
    "span": "squad",
    "choice": "choose",
}
