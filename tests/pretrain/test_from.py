"""Training a model further that someone made: the same encoder, its tokenizer, new heads named."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from bertsmith.checkpoints.directory import load_any, load_model
from bertsmith.common.errors import InputError, ModelError, SettingsError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.pretrain.run import pretrain
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.text.tokenizer import Tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "house",
    ".",
    "big",
    "small",
    "red",
    "old",
]
SHORT = PretrainSettings(
    steps=4, batch_size=8, lengths=(16,), length_shares=(1.0,), checkpoint_every=2,
    learning_rate=1e-3,
)  # fmt: skip


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A model of another program."""
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=40, hidden_act="relu",
    )  # fmt: skip
    folder = tmp_path / "start"
    transformers.BertModel(config).save_pretrained(folder)
    Tokenizer(SPECIALS + WORDS).save(folder)
    return folder


@pytest.fixture
def corpus(tmp_path: Path, start: Path) -> Path:
    text = []
    for number in range(40):
        one, two = WORDS[2 + number % 4], WORDS[11 + number % 4]
        text += [f"The {two} {one} sat on the mat.", f"A {one} ran under the {two} house.", ""]
    (tmp_path / "text.txt").write_text("\n".join(text))
    settings = CorpusSettings(vocab=str(start), held_out_percent=20, format="sentences")
    build_corpus([str(tmp_path / "text.txt")], tmp_path / "corpus", settings)
    return tmp_path / "corpus"


def test_it_goes_on_from_the_weights_and_keeps_the_shape(
    corpus: Path, start: Path, tmp_path: Path
) -> None:
    summary = pretrain(corpus, tmp_path / "run", SHORT, start=start)
    assert summary["model"]["from"] == str(start)
    assert summary["model"]["preset"] is None
    records = [json.loads(one) for one in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert records[0]["step"] == 0
    assert "masked_lm_loss" in records[0]["held_out"]
    before, after = load_any(start).model, load_model(tmp_path / "run" / "model").model
    assert after.config.hidden_act == "relu"
    assert after.next_sentence is not None
    words, trained = (one.encoder.embeddings.word.weight for one in (before, after))
    assert not torch.equal(words, trained)
    assert (words - trained).abs().max() < 0.01  # 4 steps of at most the learning rate each


def test_without_pairs_there_is_no_random_head(corpus: Path, start: Path, tmp_path: Path) -> None:
    settings = PretrainSettings(**{**vars(SHORT), "next_sentence": False})
    pretrain(corpus, tmp_path / "run", settings, start=start)
    loaded = load_model(tmp_path / "run" / "model")
    assert loaded.model.next_sentence is None
    assert loaded.model.encoder.pooler is None
    _, info = transformers.AutoModelForMaskedLM.from_pretrained(
        tmp_path / "run" / "model", output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]


def test_an_interrupted_run_ends_with_the_same_bits(
    corpus: Path, start: Path, tmp_path: Path
) -> None:
    pretrain(corpus, tmp_path / "whole", SHORT, start=start)
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    for lost in ("summary.json", "checkpoints/step-00000004"):
        path = tmp_path / "cut" / lost
        path.unlink() if path.is_file() else shutil.rmtree(path)
    shutil.rmtree(tmp_path / "cut" / "model")
    pretrain(corpus, tmp_path / "cut", SHORT, resume="latest")
    one, two = (tmp_path / run / "model" / "model.safetensors" for run in ("whole", "cut"))
    assert one.read_bytes() == two.read_bytes()


def test_a_run_does_not_change_its_beginning(corpus: Path, start: Path, tmp_path: Path) -> None:
    pretrain(corpus, tmp_path / "run", SHORT, start=start)
    with pytest.raises(InputError, match="the run began with a model, and now there is none"):
        pretrain(corpus, tmp_path / "run", SHORT)
    other = shutil.copytree(start, tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-5}))
    with pytest.raises(InputError, match=r"began with: config.json: \w+ then, \w+ now\n"):
        pretrain(corpus, tmp_path / "run", SHORT, start=other)


def test_another_tokenizer_and_too_long_phases(corpus: Path, start: Path, tmp_path: Path) -> None:
    long = PretrainSettings(**{**vars(SHORT), "lengths": (64,)})
    with pytest.raises(SettingsError, match="the model has 40 positions"):
        pretrain(corpus, tmp_path / "long", long, start=start)
    Tokenizer([*SPECIALS, *WORDS[1:], WORDS[0]]).save(start)
    with pytest.raises(ModelError, match="not made with this model's tokenizer"):
        pretrain(corpus, tmp_path / "run", SHORT, start=start)
