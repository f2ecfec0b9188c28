"""A batch of a pre-training run as text: made again from the run's settings, no state needed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import InputError
from bertsmith.common.settings import of_recipe
from bertsmith.corpus.corpus import Corpus
from bertsmith.pretrain.batches import Batches, PretrainingBatch
from bertsmith.pretrain.evaluation import pairs_possible
from bertsmith.pretrain.phases import phase_of
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.tokenizer_files import PREFIX
from bertsmith.train.source import Source

_LABELS = ("next", "random")


@dataclass(frozen=True)
class Run:
    """What a run's batches are made from.

    Attributes:
        folder: the run folder.
        settings: its settings.
        corpus: the training part of its corpus.
    """

    folder: Path
    settings: PretrainSettings
    corpus: Corpus

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Read settings and corpus of a run.

        Raises:
            BertsmithError: the folder is not a pre-training run, or its corpus is not there or not
                the one that it began with.
        """
        record = _record(folder / "run.json")
        settings = of_recipe(PretrainSettings, folder / "config.toml")
        place = Path(record["corpus"])
        if not place.exists():
            raise InputError(
                "the corpus of the run is not there", file=folder, value=str(place),
                mend="run the command where bertsmith pretrain was run: the path is from there",
            )  # fmt: skip
        corpus = Corpus.open(place, "train")
        now = Source(str(place), corpus.manifest.contents())
        if changes := now.changes(record["corpus_parts"]):
            raise InputError(
                f"the corpus is not the one that the run began with, its batches were others: "
                f"{changes}",
                file=place,
            )
        return cls(folder, settings, corpus)

    def length(self, batch: int, given: int | None) -> int:
        """The sequence length of batch ``batch``, counted from 0.

        Raises:
            InputError: the run has no such batch or length, or its budget does not tell.
        """
        settings = self.settings
        if batch < 0 or (settings.steps and batch >= settings.steps):
            most = f"{settings.steps:,} batches" if settings.steps else "batches"
            raise InputError(f"the run has {most}, counted from 0", file=self.folder, value=batch)
        if given is not None and given not in settings.lengths:
            raise InputError(
                f"the run has sequences of {_listed(settings.lengths)} tokens", value=given,
                file=self.folder,
            )  # fmt: skip
        if given is not None or len(settings.lengths) == 1:
            return given or settings.lengths[0]
        if settings.steps:
            return settings.lengths[phase_of(settings, batch / settings.steps)]
        raise InputError(
            "the run has several phases, and a budget that does not tell which one the batch is of",
            file=self.folder,
            mend=f"give --length {_listed(settings.lengths)}; the warning about a spike has it",
        )

    def batches(self, length: int) -> Batches:
        """The batches of the phase of that length."""
        pairs = self.settings.next_sentence and pairs_possible(self.corpus)
        return Batches.of(self.settings, self.corpus, self.corpus.tokenizer(), length, pairs)


def _listed(lengths: tuple[int, ...]) -> str:
    return " or ".join(map(str, lengths))


def _record(path: Path) -> dict[str, Any]:
    try:
        record = strict_json.loads(path.read_text("utf-8"))
        whole = isinstance(record["corpus"], str) and isinstance(record["corpus_parts"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise InputError(
            "the folder is not a pre-training run", file=path.parent,
            mend="give the --out of a bertsmith pretrain",
        )  # fmt: skip
    return dict(record)


def show_batch(run: Run, number: int, length: int | None = None) -> dict[str, Any]:
    """The sequences of batch ``number`` (counted from 0) as text.

    Returns:
        ``batch``, ``length``, ``tokens``, ``targets`` by loss and ``sequences``, each with
        ``text`` (see :func:`marked`), ``next_sentence`` (``next``, ``random`` or None where that is
        not trained), ``documents`` (of A and of B, or None) and ``masked``, a count.
    """
    length = run.length(number, length)
    batches, tokenizer = run.batches(length), run.corpus.tokenizer()
    batch = batches.batch(number)
    texts = marked(batch, tokenizer)
    sequences = [
        {
            "text": text,
            "next_sentence": _LABELS[label] if batch.pairs else None,
            "documents": list(documents),
            "masked": masked,
        }
        for (text, masked), label, documents in zip(
            texts, batch.next_labels.tolist(), batches.documents(number), strict=True
        )
    ]
    targets = dict(batch.targets)
    return {
        "batch": number, "length": length, "tokens": batch.tokens, "targets": targets,
        "sequences": sequences,
    }  # fmt: skip


def marked(batch: PretrainingBatch, tokenizer: Tokenizer) -> list[tuple[str, int]]:
    """Each sequence as the model sees it, and its number of masked positions.

    What is to be predicted stands in ``<`` and ``>`` behind what the model sees there: ``[MASK]``,
    another piece, or the same.
    """
    hidden = dict(zip(batch.masked_positions.tolist(), batch.masked_labels.tolist(), strict=True))
    ids, offsets = batch.packed.token_ids.tolist(), batch.packed.offsets.tolist()
    result = []
    for start, stop in pairwise(offsets):
        words: list[str] = []
        for place in range(start, stop):
            piece = tokenizer.tokens[ids[place]]
            if place in hidden:
                words.append(f"{piece}<{tokenizer.tokens[hidden[place]]}>")
            elif piece.startswith(PREFIX) and words and place - 1 not in hidden:
                words[-1] += piece.removeprefix(PREFIX)
            else:
                words.append(piece)
        result.append((" ".join(words), sum(start <= place < stop for place in hidden)))
    return result
