"""Vectors of texts, against transformers' hidden states."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
import transformers

from bertsmith.checkpoints.save import save_model
from bertsmith.common.errors import InputError, ModelError, SettingsError
from bertsmith.model.config import BertConfig
from bertsmith.model.layers import LAYERS
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.predict.embed import Embedder
from bertsmith.predict.embed_file import embed_to_parquet, read_texts
from bertsmith.tasks.settings import TaskSettings
from bertsmith.text.tokenizer import Tokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "fox", "runs", "##s", "."]
TEXTS = ["red fox", "", "the red fox runs . " * 5, "foxs ."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=10, hidden_size=32, num_hidden_layers=5, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=24,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("embed") / "model"
    save_model(path, BertForPreTraining(config), Tokenizer(WORDS), "")
    return path


def expected(folder, tokenizer: Tokenizer, text: str, longest: int):
    model = transformers.BertModel.from_pretrained(folder, output_hidden_states=True).eval()
    ids = [2, *tokenizer.encode(text).ids[: longest - 2], 3]
    with torch.inference_mode():
        out = model(torch.tensor([ids]))
    return [state[0].numpy() for state in out.hidden_states], out.pooler_output[0].numpy(), ids


COMBINED = {
    "last": lambda h: h[5],
    "second-to-last": lambda h: h[4],
    "embeddings": lambda h: h[0],
    "sum-last-four": lambda h: h[2] + h[3] + h[4] + h[5],
    "concat-last-four": lambda h: np.concatenate([h[2], h[3], h[4], h[5]], axis=1),
    "sum-all": lambda h: h[1] + h[2] + h[3] + h[4] + h[5],
    "3": lambda h: h[3],
}


def test_all_ways_of_the_paper_are_tested() -> None:
    assert set(COMBINED) - {"3"} == set(LAYERS)


@pytest.mark.parametrize("layers", COMBINED)
def test_every_combination_of_layers(folder, layers: str) -> None:
    embedder = Embedder.load(folder)
    found = list(embedder.embed(TEXTS, "tokens", layers, max_length=20))
    for text, one in zip(TEXTS, found, strict=True):
        states, _, ids = expected(folder, embedder.tokenizer, text, 20)
        np.testing.assert_allclose(one.vectors, COMBINED[layers](states), atol=1e-5)
        assert one.tokens == [WORDS[number] for number in ids]
    assert embedder.counts == {"texts cut": 1, "tokens cut": 25 - 18}


def test_v01_every_pooling_whatever_the_company(folder) -> None:
    """V01: the same vector for a text alone and in any batch, 1e-5."""
    embedder = Embedder.load(folder)
    ways = {
        "mean": lambda h, p: h[-1].mean(0),
        "max": lambda h, p: h[-1].max(0),
        "cls": lambda h, p: h[-1][0],
        "pooler": lambda h, p: p,
    }
    for pooling, way in ways.items():
        together = list(embedder.embed(TEXTS, pooling, max_length=20, micro_tokens=1000))
        for text, one in zip(TEXTS, together, strict=True):
            states, pooled, _ = expected(folder, embedder.tokenizer, text, 20)
            np.testing.assert_allclose(one.vectors, way(states, pooled), atol=1e-5)
            (alone,) = embedder.embed([text], pooling, max_length=20)
            np.testing.assert_allclose(one.vectors, alone.vectors, atol=1e-5)


def test_i01_a_random_pooler_is_refused(folder, tmp_path) -> None:
    """I01: pooled vectors of a model without a pooler are refused, mean vectors are given."""
    model = transformers.BertForMaskedLM.from_pretrained(folder)
    model.save_pretrained(tmp_path)
    Tokenizer(WORDS).save(tmp_path)
    embedder = Embedder.load(tmp_path)
    with pytest.raises(ModelError, match="no pooler"):
        list(embedder.embed(["red"], "pooler", max_length=20))
    (mean,) = embedder.embed(["red"], max_length=20)
    (whole,) = Embedder.load(folder).embed(["red"], max_length=20)
    np.testing.assert_array_equal(mean.vectors, whole.vectors)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "best"}, "no such pooling"),
        ({"layers": "6"}, "in a model of 5"),
        ({"layers": "1", "pooling": "pooler"}, "the pooler reads the last layer"),
        ({"layers": "lst"}, "number from 0 to 5"),
        ({"max_length": 25}, "from 3 to 24"),
    ],
)
def test_what_can_not_be(folder, options: dict, message: str) -> None:
    embedder = Embedder.load(folder)
    with pytest.raises(SettingsError, match=message):
        list(embedder.embed(["red"], **{"max_length": 20, **options}))


def test_a_file_becomes_parquet(folder, tmp_path) -> None:
    source, target = tmp_path / "texts.txt", tmp_path / "vectors.parquet"
    source.write_bytes("red fox\r\n\r\nthe fox\u2028runs .\n".encode())
    texts = read_texts(source, TaskSettings())
    assert texts == ["red fox", "", "the fox\u2028runs ."]
    embedder = Embedder.load(folder)
    figures = embed_to_parquet(embedder, texts, target, "mean", max_length=20)
    assert figures == {"texts": 3, "vectors": 3, "width": 32}
    table = pq.read_table(target)
    assert table.column_names == ["row", "text", "vector"]
    assert table["text"].to_pylist() == texts
    expected_rows = [one.vectors for one in embedder.embed(texts, "mean", max_length=20)]
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist(), np.float32), expected_rows)
    figures = embed_to_parquet(embedder, texts, target, "tokens", max_length=20)
    tokens = pq.read_table(target)
    assert tokens["token"].to_pylist()[:4] == ["[CLS]", "red", "fox", "[SEP]"]
    assert tokens["position"].to_pylist()[:6] == [0, 1, 2, 3, 0, 1]
    assert tokens["row"].to_pylist()[:6] == [0, 0, 0, 0, 1, 1]
    assert figures["vectors"] == tokens.num_rows


def test_texts_of_tables_and_bad_files(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "red"}\n{"body": "fox"}\n')
    assert read_texts(tmp_path / "a.jsonl", TaskSettings(text_column="body")) == ["red", "fox"]
    with pytest.raises(InputError, match="no column 'text'"):
        read_texts(tmp_path / "a.jsonl", TaskSettings())
    (tmp_path / "b.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="byte 3 is not utf-8"):
        read_texts(tmp_path / "b.txt", TaskSettings())
    assert read_texts(tmp_path / "b.txt", TaskSettings(encoding="latin-1")) == ["café"]
    with pytest.raises(InputError, match="no such file"):
        read_texts(tmp_path / "c.txt", TaskSettings())


def test_what_can_not_be_read_or_written_is_named(folder, tmp_path) -> None:
    texts = tmp_path / "a.txt"
    texts.write_bytes(b"red\nfo\xe9\n")
    with pytest.raises(InputError, match=r"a\.txt:2: byte 6 is not utf-8"):
        read_texts(texts, TaskSettings())
    with pytest.raises(SettingsError, match="no encoding of that name"):
        read_texts(texts, TaskSettings(encoding="nope"))
    table = tmp_path / "a.jsonl"
    table.write_text('{"text": "red"}\n{"text": ["fox"]}\n')
    with pytest.raises(InputError, match=r"a\.jsonl:2: column 'text' holds a list"):
        read_texts(table, TaskSettings())
    with pytest.raises(SettingsError, match="this is a folder"):
        embed_to_parquet(Embedder.load(folder), ["red"], tmp_path, "mean")
    with pytest.raises(SettingsError, match="no such layers"):
        list(Embedder.load(folder).embed(["red"], layers="²", max_length=24))
