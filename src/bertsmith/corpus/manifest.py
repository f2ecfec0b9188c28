"""The manifest: what a corpus is made of, and its figures."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bertsmith.common import strict_json
from bertsmith.common.errors import CorpusError
from bertsmith.common.files import short, write_json
from bertsmith.common.sealed import opened, sealed
from bertsmith.corpus.folder import MANIFEST

_VERSION = 2
_MEND = "remove manifest.json and build the corpus again: finished shards are kept"
_KINDS = {
    "key": str, "settings": dict, "inputs": list, "shards": list, "parts": dict,
    "vocabulary_size": int, "vocabulary_digest": str, "formats": dict, "warnings": list,
}  # fmt: skip


@dataclass
class Manifest:
    """The content of ``manifest.json``.

    Attributes:
        key: hash of settings and inputs, which decide everything else.
        settings: the settings in force, without the number of processes.
        inputs: url, kind, bytes and SHA-256 of each input file.
        shards: part, file, bytes, SHA-256 and figures of each shard.
        parts: totals and token frequencies of each part.
        duplicates_dropped: exact copies of documents left out.
        vocabulary_size: pieces in the tokenizer.
        vocabulary_digest: the tokenizer's digest.
        vocabulary_sample_share: share of the text it was trained on, 0 where it was given.
        formats: number of documents read in each format.
        version: of this layout.
        warnings: what is odd about the corpus, in sentences.
    """

    key: str
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    shards: list[dict[str, Any]]
    parts: dict[str, dict[str, Any]]
    duplicates_dropped: int
    vocabulary_size: int
    vocabulary_digest: str
    vocabulary_sample_share: float
    formats: dict[str, int]
    version: int = _VERSION
    warnings: list[str] = field(default_factory=list)

    def _check(self) -> None:
        """Raise ValueError where a value is not of its kind, or a shard lies elsewhere."""
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name} is not of its type")
        for shard in self.shards:
            if shard["file"] and Path(shard["file"]).name != shard["file"]:
                raise ValueError(f"shard {shard['file']!r} is not in the corpus")

    def totals(self, part: str) -> dict[str, Any]:
        """Figures of a part, with tokens a word and the share of unknown tokens."""
        figures = dict(self.parts[part])
        figures["tokens_per_word"] = figures["tokens"] / max(1, figures["words"])
        figures["unknown_share"] = figures["unknown"] / max(1, figures["tokens"])
        return figures

    def contents(self) -> dict[str, str]:
        """What the corpus holds, by part: words that change whenever the content does."""
        found = {"vocabulary": f"{self.vocabulary_size:,} pieces ({short(self.vocabulary_digest)})"}
        for part, figures in self.parts.items():
            shards = [one["sha256"] for one in self.shards if one["file"] and one["part"] == part]
            content = short(hashlib.sha256("".join(shards).encode()).hexdigest())
            sizes = f"{figures['documents']:,} documents of {figures['tokens']:,} tokens"
            found[part] = f"{sizes} ({content})"
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    def write(self, folder: Path) -> None:
        """Write ``manifest.json``; its presence says that the corpus is whole."""
        write_json(folder / MANIFEST, sealed(self.as_dict()))

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
            data = path.read_bytes()
        except OSError as error:
            raise CorpusError(f"the manifest can not be read: {error}", file=path) from None
        return cls.parse(data, path)

    @classmethod
    def parse(cls, data: bytes, path: Path | str) -> Manifest:
        """The manifest of a file's bytes; ``path`` is what messages call it.

        Raises:
            CorpusError: it is damaged or of another version.
        """
        try:
            record = strict_json.loads(data.decode("utf-8"))
            version = record.get("version")
            if version != _VERSION:
                raise CorpusError(
                    "the manifest is of another version", file=path, value=version, mend=_MEND
                )
            manifest = cls(**opened(record))
            manifest._check()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CorpusError(f"the manifest is damaged: {error}", file=path, mend=_MEND) from None
        return manifest
