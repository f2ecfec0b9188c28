"""The figures of a corpus, for people."""

from __future__ import annotations

from pathlib import Path

from bertsmith.common.console import note, table, warn
from bertsmith.corpus.manifest import Manifest


def show(manifest: Manifest, folder: Path | str) -> None:
    """Print the manifest as a table, with its warnings."""
    train, held_out = manifest.totals("train"), manifest.totals("held_out")
    names = {
        "documents": "documents",
        "sentences": "sentences",
        "words": "words",
        "tokens": "tokens",
        "single_sentence_documents": "documents of one sentence",
        "empty_documents": "documents without a token, skipped",
    }
    rows = [(text, f"{train[name]:,}", f"{held_out[name]:,}") for name, text in names.items()]
    for name, text in (("tokens_per_word", "tokens a word"), ("unknown_share", "share of [UNK]")):
        form = "{:.2f}" if name == "tokens_per_word" else "{:.4%}"
        rows.append((text, form.format(train[name]), form.format(held_out[name])))
    for name, text, form in (
        ("unigram_entropy", "unigram entropy, nats", "{:.3f}"),
        ("most_frequent_token_share", "share of the most frequent token", "{:.2%}"),
    ):
        rows.append((text, form.format(train[name]), form.format(held_out[name])))
    table("Corpus", ("", "train", "held-out"), rows)
    read = ", ".join(f"{count:,} as {form}" for form, count in sorted(manifest.formats.items()))
    note(f"documents read: {read}")
    if manifest.settings["deduplicate"]:
        note(f"exact copies dropped: {manifest.duplicates_dropped:,}")
    note(f"vocabulary: {manifest.vocabulary_size:,} pieces")
    for text in manifest.warnings:
        warn(text)
    note(f"corpus: {folder}")
