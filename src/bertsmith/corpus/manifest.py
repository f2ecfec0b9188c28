"""The manifest: what a corpus is made of, and its figures."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bertsmith.common.errors import CorpusError
from bertsmith.common.files import write_json
from bertsmith.corpus.encode import PARTS, Totals

MANIFEST = "manifest.json"
_VERSION = 1


@dataclass
class Manifest:
    """The content of ``manifest.json``.

    Attributes:
        key: hash of settings and inputs, which decide everything else.
        settings: the settings in force.
        inputs: url, bytes and SHA-256 of each input file.
        shards: part, file, bytes, SHA-256 and figures of each shard.
        parts: totals of each part.
        duplicates_dropped: exact copies of documents left out.
        vocabulary_size: pieces in the tokenizer.
        formats: number of documents read in each format.
    """

    key: str
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    shards: list[dict[str, Any]]
    parts: dict[str, dict[str, int]]
    duplicates_dropped: int
    vocabulary_size: int
    formats: dict[str, int]
    version: int = _VERSION
    warnings: list[str] = field(default_factory=list)

    def totals(self, part: str) -> dict[str, float]:
        """Figures of a part, with tokens a word and the share of unknown tokens."""
        figures: dict[str, float] = dict(self.parts[part])
        figures["tokens_per_word"] = figures["tokens"] / max(1, figures["words"])
        figures["unknown_share"] = figures["unknown"] / max(1, figures["tokens"])
        return figures

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    def write(self, folder: Path) -> None:
        """Write ``manifest.json``; its presence says that the corpus is whole."""
        write_json(folder / MANIFEST, self.as_dict())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read ``manifest.json``.

        Raises:
            CorpusError: it is missing, damaged or of another version.
        """
        path = folder / MANIFEST
        if not path.exists():
            if not folder.exists():
                raise CorpusError("there is no such corpus", file=folder)
            raise CorpusError(
                "the folder has no finished corpus", file=folder,
                mend="run bertsmith corpus to its end; it goes on where it was interrupted",
            )  # fmt: skip
        try:
            manifest = cls(**json.loads(path.read_text("utf-8")))
        except (ValueError, TypeError, OSError) as error:
            raise CorpusError(f"the manifest is damaged: {error}", file=path) from None
        if manifest.version != _VERSION:
            raise CorpusError("the manifest is of another version", file=path, value=manifest.version)
        return manifest


def sum_up(shards: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Totals of each part over the records of shards."""
    names = Totals.__dataclass_fields__
    result = {}
    for part in PARTS:
        totals = Totals()
        for shard in shards:
            if shard["part"] == part:
                totals.add(Totals(**{name: shard[name] for name in names}))
        result[part] = asdict(totals)
    return result


def find_warnings(parts: dict[str, dict[str, int]]) -> list[str]:
    """What is odd about a corpus, in sentences."""
    train, held_out = parts["train"], parts["held_out"]
    result = []
    single, documents = train["single_sentence_documents"], train["documents"]
    if documents == 1:
        result.append(
            "the corpus is one document: there is no other document to take a random next sentence "
            "from, so next-sentence prediction is not possible"
        )
    elif single == documents:
        result.append(
            f"all {documents:,} documents have one sentence: there are no positive pairs for "
            "next-sentence prediction (is there a blank line after every sentence?)"
        )
    elif single > documents / 2:
        result.append(f"{single:,} of {documents:,} documents have one sentence only")
    if train["unknown"] > 0.01 * train["tokens"]:
        share = train["unknown"] / train["tokens"]
        result.append(f"{share:.1%} of the tokens are [UNK]: the vocabulary does not fit the text")
    if not held_out["documents"]:
        result.append("there is no held-out part: nothing will tell memory from learning")
    return result
