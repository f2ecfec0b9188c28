"""The shards of a corpus: each is read whole and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertsmith.common.console import Bar
from bertsmith.common.errors import CorpusError
from bertsmith.common.files import sha256
from bertsmith.corpus.encode import PARTS
from bertsmith.corpus.folder import SHARDS
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.shards import Shard, open_shard
from bertsmith.doctor.chart import Chart, Fact, counted, megabytes

_MEND = "remove manifest.json and build the corpus again: only what is damaged is made anew"


@dataclass(frozen=True)
class Part:
    """The sound shards of a part."""

    name: str
    shards: list[Shard]


def open_parts(folder: Path, manifest: Manifest, chart: Chart) -> dict[str, Part]:
    """Check every shard's size, content and SHA-256; a damaged one is a finding."""
    parts: dict[str, Part] = {name: Part(name, []) for name in PARTS}
    records = [one for one in manifest.shards if one["file"] and one["part"] in parts]
    size = sum(int(one.get("bytes", 0)) for one in records)
    whole = 0
    with Bar("checking the shards", size) as bar:
        for record in records:
            shard = chart.attempt(_checked, folder / SHARDS / record["file"], record)
            if shard is not None:
                whole += 1
                parts[record["part"]].shards.append(shard)
            bar.advance(int(record.get("bytes", 0)))
    chart.add([Fact("shards", {"shards": len(records), "whole": whole},
                    f"{counted(len(records), 'shard')}, {megabytes(size)}, {_state(whole, records)}"
                    )])  # fmt: skip
    return parts


def _state(whole: int, records: list[dict[str, Any]]) -> str:
    if whole == len(records):
        return "every checksum right"
    return f"{len(records) - whole:,} of them damaged or missing"


def _checked(file: Path, record: dict[str, Any]) -> Shard:
    shard = open_shard(file, int(record.get("bytes", 0)))
    if sha256(file) != record.get("sha256"):
        raise CorpusError("the shard's checksum is wrong: it was damaged", file=file, mend=_MEND)
    tokens, sentences = len(shard.tokens), len(shard.sentence_offsets) - 1
    if (tokens, sentences) != (record.get("tokens"), record.get("sentences")):
        raise CorpusError(
            f"the shard holds {sentences:,} sentences of {tokens:,} tokens, and the manifest says "
            f"{record.get('sentences')} of {record.get('tokens')}",
            file=file, mend=_MEND,
        )  # fmt: skip
    return shard
