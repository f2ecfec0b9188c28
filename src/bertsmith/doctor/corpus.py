"""A corpus folder: manifest, tokenizer, shards, and the text in them."""

from __future__ import annotations

from pathlib import Path

from bertsmith.corpus.encode import PARTS
from bertsmith.corpus.folder import TOKENIZER
from bertsmith.corpus.manifest import Manifest
from bertsmith.doctor import figures, fit, vocabulary
from bertsmith.doctor.casing import casing
from bertsmith.doctor.chart import Chart, Fact, Finding, Grade, Observations
from bertsmith.doctor.files import TokenizerFiles, read_files
from bertsmith.doctor.repeats import repeats
from bertsmith.doctor.sentences import lengths
from bertsmith.doctor.shards import Part, open_parts
from bertsmith.text.tokenizer import Tokenizer


def examine_corpus(folder: Path) -> Chart:
    """Examine what ``bertsmith corpus`` wrote to ``folder``."""
    chart = Chart(folder, "corpus")
    manifest = chart.attempt(Manifest.read, folder)
    if manifest is not None:
        chart.add(figures.figures(manifest))
        chart.add(figures.documents(manifest))
    tokenizer = _tokenizer(chart, folder / TOKENIZER, manifest)
    if manifest is None:
        return chart
    if tokenizer is not None:
        chart.add(fit.fit(manifest, folder, tokenizer))
    parts = open_parts(folder, manifest, chart)
    _examine_text(chart, parts, tokenizer)
    return chart


def _tokenizer(chart: Chart, folder: Path, manifest: Manifest | None) -> Tokenizer | None:
    files = read_files(folder, chart)
    tokenizer = vocabulary.load_tokenizer(folder, files, chart)
    chart.add(_vocabulary(files, tokenizer, manifest))
    chart.add(vocabulary.same(files))
    chart.add(casing(files, tokenizer))
    return tokenizer


def _vocabulary(
    files: TokenizerFiles, tokenizer: Tokenizer | None, manifest: Manifest | None
) -> Observations:
    size = len(files.pieces)
    if manifest is None or tokenizer is None:
        if size:
            yield Fact("vocabulary", {"entries": size}, f"{size:,} entries")
        return
    given = manifest.settings.get("vocab") or None
    yield Fact("vocabulary", {"entries": size, "given": given},
               f"{size:,} entries, {f'from {given}' if given else 'trained on this text'}"
               )  # fmt: skip
    if tokenizer.digest != manifest.vocabulary_digest:
        yield Finding(
            Grade.BROKEN,
            "the tokenizer is not the one that the text was encoded with: the ids in the shards "
            "stand for other pieces",
            TOKENIZER,
            "put the tokenizer back, or remove manifest.json and build the corpus again",
        )


def _examine_text(chart: Chart, parts: dict[str, Part], tokenizer: Tokenizer | None) -> None:
    train, held_out = (parts[name] for name in PARTS)
    if train.shards:
        chart.add(lengths(train))
        chart.add(repeats(train, held_out, tokenizer))
