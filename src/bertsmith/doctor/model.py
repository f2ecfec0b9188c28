"""A model directory: every part is examined for itself, then the parts against each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from bertsmith.checkpoints.architectures import Model, has_task_head, head_of
from bertsmith.checkpoints.canonical import canonical
from bertsmith.checkpoints.checkpoint import Checkpoint, open_checkpoint
from bertsmith.checkpoints.directory import blank_model
from bertsmith.checkpoints.locate import CONFIG, TENSORFLOW, WEIGHTS, Location, locate
from bertsmith.checkpoints.stored import read_stored
from bertsmith.common.errors import ModelError
from bertsmith.doctor import heads, probe, structure, vocabulary
from bertsmith.doctor.casing import casing
from bertsmith.doctor.chart import Chart, Fact, Grade, Observations, megabytes
from bertsmith.doctor.files import TokenizerFiles, read_files
from bertsmith.doctor.labels import labels
from bertsmith.doctor.numbers import numbers
from bertsmith.doctor.shape import shape
from bertsmith.model.config import BertConfig
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

_WORDS = "bert.embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class _Parts:
    """What could be read of a model; None for what could not.

    Attributes:
        folder: where configuration and tokenizer are looked for.
        location: which files the model is in.
        config: the configuration.
        tensors: the weights, by Hugging Face's names.
        checkpoint: both, where the configuration is one that a model can be made of.
    """

    folder: Path
    location: Location | None
    config: BertConfig | None
    tensors: Mapping[str, Tensor] | None
    checkpoint: Checkpoint | None

    @property
    def config_name(self) -> str:
        """The configuration's file, for findings."""
        return self.location.config.name if self.location else CONFIG

    @property
    def weights_name(self) -> str:
        """The weight file, for findings."""
        return self.location.weights.name if self.location else WEIGHTS


def examine_model(path: Path) -> Chart:
    """Examine the model at ``path``: a folder, a weight file, or what else ``locate`` finds."""
    chart = Chart(path, "model")
    parts = _read(chart, path)
    model = _structure(chart, parts.checkpoint) if parts.checkpoint else None
    read = parts.tensors
    if read is not None and model is not None:  # what nothing reads does no harm
        unread = structure.unread(read, model)
        read = {name: one for name, one in read.items() if name not in unread}
    sound = read is not None and chart.add(numbers(read, parts.weights_name))
    files = read_files(parts.folder, chart)
    tokenizer = vocabulary.load_tokenizer(parts.folder, files, chart)
    fits = _tokenizer(chart, parts, files, tokenizer)
    # Of what is known to be broken, the work would only show consequences.
    if parts.checkpoint and model and tokenizer and sound and fits:
        _at_work(chart, parts.checkpoint, model, tokenizer)
    return chart


def _read(chart: Chart, path: Path) -> _Parts:
    location = chart.attempt(locate, path)
    if location is None:
        there = (path / CONFIG).exists()
        config = chart.attempt(BertConfig.from_json, path / CONFIG) if there else None
        if config is not None:
            chart.add(shape(config, CONFIG))
        return _Parts(path, None, config, None, None)
    chart.add(_layout(location))
    config = chart.attempt(location.read_config)
    if config is None:
        found = None if location.layout == TENSORFLOW else chart.attempt(_bare_tensors, location)
        return _Parts(location.folder, location, None, found, None)
    usable = chart.add(shape(config, location.config.name))
    checkpoint = chart.attempt(open_checkpoint, path)
    tensors = checkpoint.tensors if checkpoint else None
    return _Parts(location.folder, location, config, tensors, checkpoint if usable else None)


def _layout(location: Location) -> Observations:
    size = sum(file.stat().st_size for file in location.files[1:] if file.exists())
    yield Fact("layout", location.layout, f"{location.layout}, {megabytes(size)}")


def _bare_tensors(location: Location) -> dict[str, Tensor]:
    """The tensors where there is no configuration to read them with."""
    stored = read_stored(location)
    try:
        found = canonical(stored)
    except ValueError as error:
        raise ModelError(str(error), file=location.weights) from None
    return {name: stored[one] for one, name in found.names.items()}


def _structure(chart: Chart, checkpoint: Checkpoint) -> Model | None:
    """The weights against the configuration; the model, unfilled, where they belong together."""
    before = chart.count(Grade.BROKEN)
    chart.add(heads.heads(checkpoint))
    if not chart.add(structure.layers(checkpoint)):
        # What else is wrong is seen best with as many layers as there are.
        there = max(1, structure.stored_layers(checkpoint))
        config = dataclasses.replace(checkpoint.config, num_hidden_layers=there)
        checkpoint = dataclasses.replace(checkpoint, config=config)
    chart.add(heads.pooler(checkpoint))
    chart.add(structure.decoder(checkpoint))
    extra = checkpoint.config.extra
    head = None
    if has_task_head(extra):
        head = chart.attempt(head_of, extra, checkpoint.location.config)
    if head is not None:
        chart.add(labels(head, extra, checkpoint.location.config.name))
    # Shapes are all that is needed of it: a wrong configuration must not cost memory.
    with torch.device("meta"):
        empty = chart.attempt(blank_model, checkpoint, head)
    if empty is None:
        return None
    chart.add(structure.tensors(checkpoint, empty))
    if chart.count(Grade.BROKEN) > before:
        return None
    return blank_model(checkpoint, head)


def _tokenizer(
    chart: Chart, parts: _Parts, files: TokenizerFiles, tokenizer: Tokenizer | None
) -> bool:
    """The tokenizer's files against the model and each other; whether they fit the model."""
    config = parts.config
    rows = None if config is None else config.vocab_size
    if parts.tensors is not None and _WORDS in parts.tensors:
        rows = parts.tensors[_WORDS].shape[0]
    fits = rows is not None and chart.add(
        vocabulary.sizes(files, rows, config.max_position_embeddings if config else None)
    )
    if config is not None and rows is not None:
        chart.add(vocabulary.pad_id(files, config.pad_token_id, rows, parts.config_name))
    chart.add(vocabulary.same(files))
    chart.add(casing(files, tokenizer))
    return fits


def _at_work(chart: Chart, checkpoint: Checkpoint, model: Model, tokenizer: Tokenizer) -> None:
    filled = chart.attempt(probe.load, checkpoint, model)
    if filled is None:
        return
    works = chart.add(probe.packed(filled.encoder, tokenizer))
    if works and isinstance(filled, BertForPreTraining):
        chart.add(probe.blanks(filled, tokenizer))
