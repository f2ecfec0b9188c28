"""Who makes the batches of a run changes nothing in it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bertsmith.common.errors import SettingsError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.pretrain.run import pretrain
from bertsmith.pretrain.settings import PretrainSettings

SETTINGS = PretrainSettings(
    steps=5, batch_size=8, lengths=(16, 24), length_shares=(0.6, 0.4), checkpoint_every=2
)


def test_processes_make_the_batches_of_a_thread(tmp_path: Path) -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lines = [" ".join(words[n % 7 : n % 7 + 4]) + "." if n % 3 else "" for n in range(200)]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    settings = CorpusSettings(vocab_size=100, held_out_percent=20, format="sentences")
    build_corpus([str(tmp_path / "text.txt")], tmp_path / "corpus", settings)
    weights = []
    for workers in (1, 3):
        pretrain(
            tmp_path / "corpus", tmp_path / f"run{workers}",
            replace(SETTINGS, batch_workers=workers),
        )  # fmt: skip
        weights.append((tmp_path / f"run{workers}/model/model.safetensors").read_bytes())
    assert weights[0] == weights[1]


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(SettingsError, match="batch_workers"):
        replace(SETTINGS, batch_workers=-1)
