"""A model and a corpus of random numbers, as files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from bertsmith.bench.texts import made_words
from bertsmith.common.files import sha256
from bertsmith.corpus import folder as names
from bertsmith.corpus.figures import sum_up
from bertsmith.corpus.manifest import Manifest
from bertsmith.corpus.shards import Content, write_shard
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

VOCABULARY = 30522
_SENTENCE, _DOCUMENT = 20, 25  # tokens, sentences
_SHARD = 4_000_000  # tokens


def made_tokenizer() -> Tokenizer:
    """A tokenizer that knows the made words."""
    return Tokenizer([*SPECIAL, ".", "##x", *made_words(VOCABULARY - len(SPECIAL) - 2)])


def made_model(place: str, layers: str, hidden: str, heads: str) -> None:
    """Write a model directory with random weights; the arguments are those of a command line.

    Args:
        place: the directory.
        layers: number of layers.
        hidden: hidden size.
        heads: ``1`` for the heads of pre-training, ``0`` for the encoder with its pooler alone.
    """
    import torch

    from bertsmith.checkpoints.save import save_model
    from bertsmith.model.bare import BareBert
    from bertsmith.model.config import BertConfig
    from bertsmith.model.encoder import Encoder
    from bertsmith.model.pretraining import BertForPreTraining

    torch.manual_seed(0)
    width = int(hidden)
    config = BertConfig(
        vocab_size=VOCABULARY, hidden_size=width, num_hidden_layers=int(layers),
        num_attention_heads=max(1, width // 64), intermediate_size=4 * width,
    )  # fmt: skip
    model = BertForPreTraining(config) if int(heads) else BareBert(Encoder(config, pooler=True))
    save_model(Path(place), model, made_tokenizer(), "A made model.\n")


def made_corpus(place: Path, tokens: int) -> Path:
    """Write a corpus of about ``tokens`` random tokens in documents of 500, without held-out part.

    Its frequencies are those that random tokens tend to; they are not counted.
    """
    shards = place / names.SHARDS
    shards.mkdir(parents=True)
    tokenizer = made_tokenizer()
    tokenizer.save(place / names.TOKENIZER)
    records = []
    for number, start in enumerate(range(0, tokens, _SHARD)):
        documents = max(2, min(_SHARD, tokens - start) // (_SENTENCE * _DOCUMENT))
        path = shards / f"{number:06d}.train.arrow"
        write_shard(path, _content(number, documents, tokenizer.size), tokenizer.size)
        sentences = documents * _DOCUMENT
        records.append(
            {
                "part": "train", "file": path.name, "documents": documents,
                "sentences": sentences, "words": sentences * _SENTENCE,
                "tokens": sentences * _SENTENCE, "unknown": 0, "single_sentence_documents": 0,
                "empty_documents": 0, "bytes": path.stat().st_size, "sha256": sha256(path),
            }
        )  # fmt: skip
    parts = sum_up(records)
    share = 1 / (tokenizer.size - len(SPECIAL))
    for figures in parts.values():
        figures |= {"unigram_entropy": -math.log(share), "most_frequent_token": None,
                    "most_frequent_token_share": share}  # fmt: skip
    Manifest(
        key="made", settings={}, inputs=[], shards=records, parts=parts, duplicates_dropped=0,
        vocabulary_size=tokenizer.size, vocabulary_digest=tokenizer.digest,
        vocabulary_sample_share=0.0, formats={},
    ).write(place)  # fmt: skip
    return place


def _content(number: int, documents: int, vocabulary: int) -> Content:
    sentences = documents * _DOCUMENT
    rng = np.random.default_rng(number)
    return Content(
        rng.integers(len(SPECIAL), vocabulary, sentences * _SENTENCE, dtype=np.uint32),
        np.full(sentences, _SENTENCE),
        np.full(documents, _DOCUMENT),
        [rng.bytes(16) for _ in range(documents)],
    )
