"""Small files that ask for much memory: refused by what the files are, before it is taken.

Each command may take 4 GiB beyond what its modules have, and 20 seconds.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import shutil
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertsmith.checkpoints.tensorflow.entries import Entry, Header
from bertsmith.checkpoints.tensorflow.sstable import table_bytes
from bertsmith.common.errors import InputError
from bertsmith.tasks.tables.parquet import parquet_rows
from tests.faults.command import Ended, Warm
from tests.faults.conftest import pretraining
from tests.fuzz.models import make

pytestmark = pytest.mark.processes

ROOM, LONGEST_S = 4 << 30, 20.0
HUGE = 60_000_000_000
DEEP = "[" * 100_000
Spoil = Callable[[Path], None]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make(tmp_path_factory.mktemp("models"))


def run(bertsmith: Warm, *words: object) -> Ended:
    """The command under the limits."""
    begun = time.monotonic()
    ended = bertsmith(*words, room=ROOM)
    assert time.monotonic() - begun < LONGEST_S
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended


def refused(ended: Ended, name: str, *, for_memory: bool = False) -> None:
    """By a message with the file; not because memory ran out, but where this is said."""
    ended.refused("" if for_memory else name)
    assert for_memory or not any(
        word in ended.stderr for word in ("memory", "alloc", "Errno 12")
    ), ended.stderr


def calls(name: str, *arguments: int) -> bytes:
    """A pickle that calls a function with whole numbers."""
    numbers = b"".join(pickle.dumps(one, 2)[2:-1] for one in arguments)
    return b"\x80\x02c" + name.replace(".", "\n").encode() + b"\n(" + numbers + b"tR."


def archive(data: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    """A pickle as torch stores one."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.writestr("archive/data.pkl", data)
        made.writestr("archive/version", "3")
        made.writestr("archive/byteorder", "little")
    return out.getvalue()


def packed(size: int) -> bytes:
    """An archive with a packed pickle that is said to have so many bytes."""
    data = bytes(1000)
    made = archive(data, zipfile.ZIP_DEFLATED)
    assert made.count(struct.pack("<I", len(data))) == 2
    return made.replace(struct.pack("<I", len(data)), struct.pack("<I", size))


def safetensors(shape: list[int], size: int | None = None, body: int = 64) -> bytes:
    length = 4 * int(np.prod(shape, dtype=object))
    header = {"bert.embeddings.word_embeddings.weight": {
        "dtype": "F32", "shape": shape, "data_offsets": [0, length],
    }}  # fmt: skip
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + bytes(body)


def index(*shapes: tuple[int, ...], shards: int = 1, name: str = "bert/pooler/dense/bias") -> bytes:
    entries = [
        (
            f"{name}{number}".encode(),
            Entry("float32", shape, 0, 0, 4 * int(np.prod(shape, dtype=object)), 0).message(),
        )
        for number, shape in enumerate(shapes)
    ]
    return table_bytes([(b"", Header(shards).message()), *entries])


def write(name: str, data: bytes | str) -> Spoil:
    content = data.encode() if isinstance(data, str) else data
    return lambda folder: (folder / name).write_bytes(content) and None


def stretch(name: str, size: int = HUGE // 10) -> Spoil:
    """Let the file go on with NULs, which takes no room on the disk."""

    def spoil(folder: Path) -> None:
        with (folder / name).open("r+b") as stream:
            stream.truncate(size)

    return spoil


def says(name: str, **values: Any) -> Spoil:
    """Change values of a JSON file."""

    def spoil(folder: Path) -> None:
        there = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(there | values))

    return spoil


PICKLE, SAFE, TF = "pytorch_model.bin", "model.safetensors", "bert_model.ckpt.index"
MODELS: dict[str, tuple[str, str, Spoil]] = {
    "bytearray, old": ("pickle", PICKLE, write(PICKLE, calls("builtins.bytearray", HUGE))),
    "bytearray, Python 2": (
        "pickle", PICKLE, write(PICKLE, calls("__builtin__.bytearray", HUGE))
    ),
    "bytearray": ("pickle", PICKLE, write(PICKLE, archive(calls("builtins.bytearray", HUGE)))),
    "packed": ("pickle", PICKLE, write(PICKLE, packed(0xF0000000))),
    "packed shard": (
        "sharded_pickle", "pytorch_model-0.bin", write("pytorch_model-0.bin", packed(0xF0000000))
    ),
    "safetensors header": ("safetensors", SAFE, write(SAFE, safetensors([4], 1 << 40))),
    "safetensors header of 90 MB": (
        "safetensors", SAFE, write(SAFE, struct.pack("<Q", 90_000_000) + b"[" * 90_000_000)
    ),
    "safetensors shape": ("safetensors", SAFE, write(SAFE, safetensors([HUGE, 8]))),
    "safetensors shape without end": (
        "safetensors", SAFE, write(SAFE, safetensors([1 << 32, 1 << 32, 1 << 32]))
    ),
    "index of shapes": ("google", TF, write(TF, index((HUGE,)))),
    "index of many": ("google", TF, write(TF, index(*[(64,)] * 20_000))),
    "index of long keys": ("google", TF, write(TF, index(*[(1,)] * 20_000, name="k" * 4000))),
    "index of files": ("google", "bert_model.ckpt", write(TF, index((4,), shards=HUGE))),
    "index": ("google", TF, stretch(TF)),
    "hidden_size": ("safetensors", "config.json", says("config.json", hidden_size=HUGE)),
    "vocab_size": ("safetensors", "config.json", says("config.json", vocab_size=10**9)),
    "vocab_size of pickles": ("pickle", "config.json", says("config.json", vocab_size=10**9)),
    "vocab_size of Google's": (
        "google", "bert_config.json", says("bert_config.json", vocab_size=10**9)
    ),
    "vocab_size of a task": ("task", "config.json", says("config.json", vocab_size=10**9)),
    "layers": ("safetensors", "config.json", says("config.json", num_hidden_layers=10**9)),
    "1000 layers": ("safetensors", SAFE, says("config.json", num_hidden_layers=1000)),
    "positions": ("safetensors", "config.json", says("config.json", max_position_embeddings=10**10)),
    "intermediate_size": ("safetensors", "config.json", says("config.json", intermediate_size=10**9)),
    "num_labels": ("task", "config.json", says("config.json", id2label=None, num_labels=10**9)),
    "config": ("safetensors", "config.json", stretch("config.json")),
    "tokenizer": ("safetensors", "tokenizer.json", stretch("tokenizer.json")),
    "tokenizer's settings": (
        "safetensors", "tokenizer_config.json", stretch("tokenizer_config.json")
    ),
    "vocabulary": ("google", "vocab.txt", stretch("vocab.txt")),
    "index of shards": (
        "sharded", "model.safetensors.index.json", stretch("model.safetensors.index.json")
    ),
    "deep config": ("safetensors", "config.json", write("config.json", DEEP)),
    "deep tokenizer": ("safetensors", "tokenizer.json", write("tokenizer.json", DEEP)),
    "deep index": (
        "sharded", "model.safetensors.index.json", write("model.safetensors.index.json", DEEP)
    ),
    "deep safetensors": (
        "safetensors", SAFE, write(SAFE, struct.pack("<Q", len(DEEP)) + DEEP.encode())
    ),
}  # fmt: skip


@pytest.mark.parametrize("bomb", MODELS)
def test_a_model(bertsmith: Warm, models: dict[str, Path], tmp_path: Path, bomb: str) -> None:
    layout, file, spoil = MODELS[bomb]
    model = tmp_path / "model"
    shutil.copytree(models[layout], model)
    spoil(model)
    refused(run(bertsmith, "convert", model, tmp_path / "out"), file)
    assert not (tmp_path / "out").exists()
    assert run(bertsmith, "doctor", model).status == 2


@pytest.mark.parametrize("content", ["deep", "stretched"])
def test_the_record_of_a_task(
    bertsmith: Warm, models: dict[str, Path], tmp_path: Path, content: str
) -> None:
    model = tmp_path / "model"
    shutil.copytree(models["task"], model)
    (model / "task.json").write_text(DEEP)
    if content == "stretched":
        stretch("task.json")(model)
    (tmp_path / "lines.txt").write_text("the cat")
    refused(run(bertsmith, "predict", model, tmp_path / "lines.txt"), "task.json")
    refused(run(bertsmith, "convert", model, tmp_path / "out"), "task.json")


def test_a_tensor_that_is_made_and_not_stored(
    bertsmith: Warm, models: dict[str, Path], tmp_path: Path
) -> None:
    """Torch makes it before we see it; no page of it is touched, and it is refused then."""
    model = tmp_path / "model"
    shutil.copytree(models["pickle"], model)
    for number in (HUGE, 200_000_000):
        data = calls("torch.FloatTensor", number)[:-1].replace(b"\x80\x02", b"")
        whole = b"\x80\x02}X\x01\x00\x00\x00a" + data + b"s."
        (model / PICKLE).write_bytes(archive(whole))
        refused(run(bertsmith, "convert", model, tmp_path / "out"), PICKLE, for_memory=True)


def claim_rows(table: pa.Table, rows: int) -> bytes:
    """Parquet whose footer says another number of rows, wherever it says one."""

    def varint(number: int) -> bytes:
        number, out = number << 1, bytearray()  # zigzag
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        return bytes([*out, number])

    out = io.BytesIO()
    pq.write_table(table, out, store_schema=False, write_statistics=False)
    whole = out.getvalue()
    (length,) = struct.unpack("<I", whole[-8:-4])
    body, footer = whole[: -8 - length], whole[-8 - length : -8]
    assert varint(table.num_rows) in footer
    footer = footer.replace(varint(table.num_rows), varint(rows))
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


TABLE = pa.table({"text": ["a"] * 12_345, "label": ["x", "y", "z"] * 4115})
LONG = pa.table({"text": pa.DictionaryArray.from_arrays(
    pa.array(np.zeros(20_000, np.int32)), ["a" * (1 << 20)]
), "label": ["x"] * 20_000})  # fmt: skip


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="gzip", write_statistics=False)
    return out.getvalue()


def many(member: bytes) -> bytes:
    """10 GiB of a letter within one JSON string, packed."""
    return gzip.compress(b'{"text": "') + member * 160


DATA: dict[str, tuple[str, Callable[[], bytes], bool]] = {
    "rows": ("a.parquet", lambda: claim_rows(TABLE, HUGE), True),
    "one long text many times": ("b.parquet", lambda: parquet(LONG), True),
    "deep line": ("a.jsonl", DEEP.encode, False),
    "deep list": ("a.json", DEEP.encode, False),
}


@pytest.mark.parametrize("bomb", DATA)
def test_data(bertsmith: Warm, models: dict[str, Path], tmp_path: Path, bomb: str) -> None:
    name, content, for_memory = DATA[bomb]
    file, model = tmp_path / name, models["safetensors"]
    file.write_bytes(content())
    where = ("--model", model, "--data", file, "--out", tmp_path / "run")
    refused(run(bertsmith, "finetune", "classify", *where), name, for_memory=for_memory)
    refused(
        run(bertsmith, "embed", model, file, "--text-column", "text", "--out", tmp_path / "out.pq"),
        name, for_memory=for_memory,
    )  # fmt: skip
    if name.endswith(".json"):
        refused(run(bertsmith, "finetune", "squad", *where, "--max-query-length", 4), name)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_a_corpus(bertsmith: Warm, tmp_path: Path, name: str) -> None:
    made = {
        "a.jsonl": DEEP.encode,
        "a.jsonl.gz": lambda: many(gzip.compress(b"a" * (1 << 26), 1)),
        "a.parquet": lambda: claim_rows(TABLE, HUGE),
    }
    (tmp_path / name).write_bytes(made[name]())
    refused(
        run(bertsmith, "corpus", tmp_path / name, "--out", tmp_path / "out", "--workers", 1), name
    )


@pytest.mark.parametrize("verb", ["pretrain", "finetune", "corpus"])
@pytest.mark.parametrize("content", ["deep", "stretched"])
def test_a_recipe(bertsmith: Warm, tmp_path: Path, verb: str, content: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f"lengths = {DEEP}")
    if content == "stretched":
        stretch(file.name)(tmp_path)
    more = {
        "pretrain": ("x",), "corpus": ("x",),
        "finetune": ("classify", "--model", "x", "--data", "x"),
    }[verb]  # fmt: skip
    refused(run(bertsmith, verb, *more, "--out", tmp_path / "out", "--recipe", file), "a.toml")


@pytest.mark.parametrize("name", ["metrics.jsonl", "run.json", "config.toml", "summary.json"])
def test_a_run(bertsmith: Warm, made: Path, tmp_path: Path, name: str) -> None:
    """A log may be long: what there is no memory for is said."""
    folder = tmp_path / "run"
    shutil.copytree(made / "run", folder)
    stretch(name)(folder)
    words = pretraining(made, folder) if name == "run.json" else ("report", folder)
    refused(run(bertsmith, *words), name, for_memory=True)


@pytest.mark.parametrize("rows", [12_346, 20_000])
def test_parquet_has_the_rows_that_it_says(bertsmith: Warm, tmp_path: Path, rows: int) -> None:
    """Fewer than were said were taken for all."""
    file = tmp_path / "a.parquet"
    file.write_bytes(claim_rows(TABLE, rows))
    refused(run(bertsmith, "corpus", file, "--out", tmp_path / "out", "--workers", 1), file.name)
    with pytest.raises(InputError, match=r"a\.parquet"):
        parquet_rows(file)
