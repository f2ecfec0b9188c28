import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from bertsmith.checkpoints import save
from bertsmith.checkpoints.directory import load_for_pretraining, load_model
from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.checkpoints.save import save_model
from bertsmith.cli.main import main
from bertsmith.common.errors import ModelError
from bertsmith.model.config import BertConfig
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

IDS = [[2, 5, 6, 4, 8, 3, 7, 3], [2, 4, 3]]
SEGMENTS = [[0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0]]
PLACES = torch.tensor([3, 9])


@pytest.fixture
def saved(tmp_path: Path, model: BertForPreTraining, tokenizer: Tokenizer) -> Path:
    save_model(tmp_path / "run" / "model", model, tokenizer, "# a card\n")
    return tmp_path / "run" / "model"


def packed() -> PackedBatch:
    return PackedBatch.from_sequences(list(zip(IDS, SEGMENTS, strict=True)))


def rewrite(folder: Path, change: dict[str, torch.Tensor], drop: tuple[str, ...] = ()) -> None:
    tensors = load_file(folder / "model.safetensors") | change
    kept = {name: tensor for name, tensor in tensors.items() if name not in drop}
    save_file(kept, folder / "model.safetensors")


def test_round_trip_is_bit_exact(saved: Path, model: BertForPreTraining) -> None:
    loaded, tokenizer, report = load_model(saved)
    assert report.missing == report.new == report.ignored == ()
    assert not loaded.training
    assert loaded.config == model.config
    assert tokenizer.size == 15
    for name, weight in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], weight)
    assert (saved / "README.md").read_text() == "# a card\n"
    assert {path.name for path in saved.parent.iterdir()} == {"model"}


def test_same_model_gives_the_same_bytes(
    saved: Path, tmp_path: Path, model: BertForPreTraining, tokenizer: Tokenizer
) -> None:
    save_model(tmp_path / "again", model, tokenizer, "# a card\n")
    for path in saved.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_i03_the_embedding_is_stored_once_and_stays_tied(saved: Path) -> None:
    with safe_open(saved / "model.safetensors", "pt") as file:
        names = list(file.keys())
        assert file.metadata()["format"] == "pt"
    config = transformers.BertConfig(**json.loads((saved / "config.json").read_text()))
    theirs = transformers.BertForPreTraining(config).state_dict()
    aliases = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert set(names) == set(theirs) - aliases
    masked_lm = set(transformers.BertForMaskedLM(config).state_dict())
    assert (len(masked_lm), len(masked_lm & set(names))) == (44, 42)

    model = load_model(saved).model
    logits, _ = model(packed(), PLACES)
    F.cross_entropy(logits, torch.tensor([5, 6])).backward()
    torch.optim.SGD(model.parameters(), 0.1).step()
    hidden = model.encode(packed())[PLACES]
    words = model.encoder.embeddings.word.weight
    torch.testing.assert_close(model(packed(), PLACES)[0], model.masked_lm(hidden, words))


def test_opens_with_transformers_with_equal_logits(
    saved: Path, model: BertForPreTraining, tokenizer: Tokenizer
) -> None:
    words, follows = model(packed(), torch.arange(11))
    for kind in (transformers.AutoModelForPreTraining, transformers.AutoModelForMaskedLM):
        theirs, info = kind.from_pretrained(saved, output_loading_info=True)
        assert not info["missing_keys"]
        assert not info["mismatched_keys"]
        if kind is transformers.AutoModelForPreTraining:
            assert not info["unexpected_keys"]
        for row, (ids, segments) in enumerate(zip(IDS, SEGMENTS, strict=True)):
            out = theirs.eval()(
                input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([segments])
            )
            ours = words.split([len(one) for one in IDS])[row]
            logits = out.get("prediction_logits", out.get("logits"))
            torch.testing.assert_close(ours, logits[0], rtol=1e-5, atol=1e-5)
            if "seq_relationship_logits" in out:
                theirs_follows = out.seq_relationship_logits[0]
                torch.testing.assert_close(follows[row], theirs_follows, rtol=1e-5, atol=1e-5)
    auto = transformers.AutoTokenizer.from_pretrained(saved)
    text = "The cat [MASK] on a mat."
    special = tokenizer.ids
    ids = [special.cls, *tokenizer.encode(text, blanks=True).ids, special.sep]
    assert auto(text)["input_ids"] == ids


def test_i01_missing_pooler_is_reported_and_refused(saved: Path) -> None:
    lost = ("bert.pooler.dense.weight", "bert.pooler.dense.bias")
    rewrite(saved, {}, lost)
    with pytest.raises(ModelError, match=r"lacks tensor bert\.pooler\.dense\.weight and 1 more"):
        load_model(saved)
    torch.manual_seed(1)
    one, _, report = load_for_pretraining(saved, True, lambda config: config)
    torch.manual_seed(2)
    two = load_for_pretraining(saved, True, lambda config: config).model
    assert report.missing == lost
    assert report.new == ("encoder.pooler.weight", "encoder.pooler.bias")
    assert len(report.found) == 44
    assert report.ignored == ()
    hidden = one.encode(packed())
    assert torch.equal(hidden, two.encode(packed()))
    pooled = [model.encoder.pool(hidden, packed()) for model in (one, two)]
    assert not torch.equal(*pooled)


def test_left_over_tensor_is_refused(saved: Path) -> None:
    rewrite(saved, {"bert.encoder.layer.2.output.dense.bias": torch.zeros(32)})
    with pytest.raises(ModelError, match=r"unknown tensor bert\.encoder\.layer\.2\.output"):
        load_model(saved)


def test_stored_aliases_are_taken_when_they_are_equal(saved: Path) -> None:
    words = load_file(saved / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    rewrite(saved, {"cls.predictions.decoder.weight": words.clone()})
    load_model(saved)
    rewrite(saved, {"cls.predictions.decoder.weight": words + 1})
    with pytest.raises(ModelError, match="although the two are one"):
        load_model(saved)


def test_weights_of_another_vocabulary(saved: Path) -> None:
    rewrite(saved, {"bert.embeddings.word_embeddings.weight": torch.zeros(14, 32)})
    with pytest.raises(ModelError, match=r"\[14, 32\], but the configuration says \[15, 32\]"):
        load_model(saved)


def test_tokenizer_larger_than_the_embedding(tmp_path: Path, tokenizer: Tokenizer) -> None:
    config = BertConfig(
        vocab_size=14, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8,
    )  # fmt: skip
    with pytest.raises(ModelError, match="15 entries, but the model's embedding only 14"):
        save_model(tmp_path / "model", BertForPreTraining(config), tokenizer, "")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("size", [0, 5, 400, -1])
def test_truncated_weights(saved: Path, size: int) -> None:
    file = saved / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:size])
    with pytest.raises(ModelError, match=r"model\.safetensors: the weight file is damaged"):
        load_model(saved)


def test_missing_files(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model directory"):
        load_model(tmp_path / "nowhere")
    (saved / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no such weight file"):
        load_model(saved)
    (saved / "config.json").unlink()
    with pytest.raises(ModelError, match="no such model configuration"):
        load_model(saved)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("step", ["write_weights", "write_text"])
def test_failed_save_leaves_the_old_directory(
    saved: Path,
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = contents(saved)

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(save, step, full_disk)
    with pytest.raises(ModelError, match=r"can not be written: .*No space"):
        save_model(saved, model, tokenizer, "# new\n")
    assert contents(saved) == before
    assert {path.name for path in saved.parent.iterdir()} == {"model"}


def test_a_file_in_the_way(tmp_path: Path, model: BertForPreTraining, tokenizer: Tokenizer) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelError, match="can not be written"):
        save_model(tmp_path / "file" / "model", model, tokenizer, "")


def test_second_save_replaces_and_keeps_the_notes_of_the_user(
    saved: Path, model: BertForPreTraining, tokenizer: Tokenizer
) -> None:
    (saved / "notes.txt").write_text("mine")
    (saved / "stale").mkdir()
    save_model(saved, model, tokenizer, "# new\n")
    assert (saved / "README.md").read_text() == "# new\n"
    assert (saved / "notes.txt").read_text() == "mine"
    assert {path.name for path in saved.parent.iterdir()} == {"model"}


KILLED = """
import os, signal, sys
from pathlib import Path
from bertsmith.checkpoints import replace
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(replace, sys.argv[2], die)
with replace.atomic_folder(Path(sys.argv[1])) as part:
    (part / "a").write_text("new")
"""


@pytest.mark.parametrize(
    ("moment", "holds"), [("sync", "old"), ("_exchange", "old"), ("_move_rest", "new")]
)
def test_a_kill_leaves_one_whole_folder(tmp_path: Path, moment: str, holds: str) -> None:
    """The next save takes away what was left, and gives a user's files back."""
    target = tmp_path / "model"
    target.mkdir()
    (target / "a").write_text("old")
    (target / "notes").write_text("mine")
    run = subprocess.run([sys.executable, "-c", KILLED, target, moment], check=False)
    assert run.returncode == -signal.SIGKILL
    assert contents(target)["a"] == holds.encode()
    assert len(list(tmp_path.iterdir())) == 2
    with atomic_folder(target) as part:
        (part / "a").write_text("newest")
    assert contents(target) == {"a": b"newest", "notes": b"mine"}
    assert list(tmp_path.iterdir()) == [target]


def test_only_what_a_killed_save_of_the_same_name_left_goes(tmp_path: Path) -> None:
    mine = [".model.abcd123_.part", ".model.abcd1234.old"]
    others = [
        ".model.a.part",
        ".models.abcd1234.part",
        "model.abcd1234.part",
        ".model.x.abcd1234.part",
    ]
    for name in (*mine, *others):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
    with atomic_folder(tmp_path / "model"):
        there = {path.name for path in tmp_path.iterdir()}
        assert there.issuperset(others)
        assert there.isdisjoint(mine)


def test_a_save_under_way_is_not_swept_by_another(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with atomic_folder(target) as first:
        (first / "a").write_text("first")
        with atomic_folder(target) as second:
            (second / "a").write_text("second")
        assert contents(target) == {"a": b"second"}
    assert contents(target) == {"a": b"first"}
    assert list(tmp_path.iterdir()) == [target]


KILLED_VERB = """
import os, signal, sys
from bertsmith.checkpoints import save
from bertsmith.cli.main import main
save.write_weights = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


def test_the_same_command_takes_away_what_a_killed_one_left(saved: Path, tmp_path: Path) -> None:
    words = ["convert", str(saved), str(tmp_path / "out" / "model")]
    run = subprocess.run([sys.executable, "-c", KILLED_VERB, *words], check=False)
    assert run.returncode == -signal.SIGKILL
    (left,) = (tmp_path / "out").iterdir()
    assert left.name.startswith(".model.")
    assert main(words) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model"]


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with atomic_folder(tmp_path / "link") as part:
        (part / "a").write_text("x")
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "real") == ["a"]
