"""Failures of pre-training as the checks see them, and text shown again."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from bertsmith.cli import corpus_show
from bertsmith.cli.main import Parser
from bertsmith.common.errors import InputError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.overlap import overlap
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.pretrain.phases import phase_of
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.pretrain.show import Run, show_batch
from bertsmith.pretrain.watch import (
    LeakingPairs,
    StuckAtUnigram,
    look_at,
    overlap_warning,
    seen_in_training,
)
from bertsmith.train.clock import Clock
from bertsmith.train.folder import RunFolder
from bertsmith.train.loop import Step
from bertsmith.train.source import Source
from bertsmith.train.watch import Watch

WORDS = ["".join(pair) + end for pair in ("ba", "de", "fi", "go", "lu") for end in "kmnrst"]


class NoLog:
    def write(self, record: dict[str, Any]) -> None:
        pass


def warnings(check: Any, steps: int, losses: Any, right: Any = lambda _: 0.5) -> list[str]:
    """What a check says of a run with these masked-LM losses and next-sentence accuracies."""
    watch = Watch(Clock(), NoLog(), [check])
    for at in range(steps):
        accuracies = {"masked_lm": 0.1, "next_sentence": right(at)}
        losses_of = {"masked_lm": losses(at), "next_sentence": 0.5}
        watch.see(Step(at + 1, 9, losses_of, accuracies, 1.0, 1e-3, 0.1), at / steps)
    return watch.warnings


def test_a_loss_at_the_unigram_entropy() -> None:
    (text,) = warnings(StuckAtUnigram(6.25, 0.1), 1000, lambda at: 6.3 - at / 10000)
    assert text.startswith("step 401:")  # 300 steps after the end of the warm-up
    assert "6.265 nats" in text
    assert "6.250" in text
    # The plateau of a healthy run ends before, and a run may be too short to tell.
    assert warnings(StuckAtUnigram(6.25, 0.1), 1000, lambda at: 6.3 if at < 300 else 5.9) == []
    assert warnings(StuckAtUnigram(6.25, 0.1), 300, lambda at: 6.3) == []
    # One that falls back to it does not go unseen.
    assert warnings(StuckAtUnigram(6.25, 0.1), 1000, lambda at: 6.3 if at > 700 else 5.0)


def test_pairs_that_leak() -> None:
    (text,) = warnings(LeakingPairs(6.0), 300, lambda at: 5.8, lambda at: 0.995)
    assert "99.5% of the pairs" in text
    assert warnings(LeakingPairs(6.0), 300, lambda at: 5.3, lambda at: 0.995) == []
    assert warnings(LeakingPairs(6.0), 300, lambda at: 5.8, lambda at: 0.95) == []


def document(rng: random.Random) -> list[list[str]]:
    return [rng.choices(WORDS, k=12) for _ in range(6)]


def build(folder: Path, documents: list[list[list[str]]], **more: Any) -> Corpus:
    folder.mkdir()
    text = "\n\n".join("\n".join(" ".join([*s, "."]) for s in one) for one in documents)
    (folder / "text.txt").write_text(text + "\n")
    given = {"vocab_size": 200, "workers": 1, "held_out_percent": 20.0, "format": "sentences"}
    build_corpus([str(folder / "text.txt")], folder / "corpus", CorpusSettings(**{**given, **more}))
    return Corpus.open(folder / "corpus", "train")


def test_repeated_passages_with_another_beginning(tmp_path) -> None:
    """No copy of a document, so --deduplicate keeps all of them, but for the first word the same."""
    rng = random.Random(0)
    different = [document(rng) for _ in range(120)]
    repeated = [
        [[rng.choice(WORDS), *one[0][1:]], *one[1:]] for one in different for _ in range(2)
    ]  # fmt: skip
    found = seen_in_training(build(tmp_path / "repeated", repeated, deduplicate=True))
    assert found is not None
    assert found.share > 0.5
    text = overlap_warning(found)
    assert text is not None
    assert f"{found.share:.1%} of the held-out passages of 32 tokens ({found.seen:,} of" in text
    healthy = seen_in_training(build(tmp_path / "different", different))
    assert healthy is not None
    assert healthy.windows > 50
    assert (healthy.seen, overlap_warning(healthy)) == (0, None)


def test_the_overlap_is_that_of_a_plain_count(tmp_path) -> None:
    rng = random.Random(1)
    documents = [document(rng) for _ in range(80)]
    documents = [one[: rng.randint(2, 6)] + rng.choice(documents)[2:] for one in documents * 2]
    train = build(tmp_path / "one", documents, shard_mb=0.02)
    held_out = Corpus.open(train.folder, "held_out")

    def windows(corpus: Corpus) -> list[tuple[int, ...]]:
        result = []
        for number in range(corpus.documents):
            one = corpus.document(number)
            for start in one.sentence_starts[:-1].tolist():
                if start + 32 <= len(one.tokens):
                    result.append(tuple(one.tokens[start : start + 32].tolist()))
        return result

    known, held = set(windows(train)), windows(held_out)
    found = overlap(train, held_out)
    assert len(train.shards) > 2
    assert (found.windows, found.seen) == (len(held), sum(one in known for one in held))
    assert 0 < found.seen < found.windows
    # Of more than is looked at, a part, and that is said.
    part = overlap(train, held_out, most_held_out=20, most_train=train.sentences // 2)
    assert part.windows <= 20
    assert 0.3 < part.train_share < 0.7


def a_run(tmp_path: Path, **given: Any) -> Path:
    rng = random.Random(2)
    corpus = build(tmp_path / "made", [document(rng) for _ in range(30)])
    settings = PretrainSettings(**{"steps": 10, "batch_size": 4, "lengths": (32, 64), **given})
    source = Source(str(corpus.folder), corpus.manifest.contents())
    RunFolder.open(tmp_path / "run", settings, {"corpus": source}, keep=1).close()
    return tmp_path / "run"


def test_a_batch_as_text_is_the_batch(tmp_path) -> None:
    run = Run.open(a_run(tmp_path))
    for number, length in ((0, 32), (8, 32), (9, 64)):
        shown = show_batch(run, number)
        batch = run.batches(length).batch(number)
        assert (shown["length"], shown["tokens"]) == (length, batch.tokens)
        assert sum(one["masked"] for one in shown["sequences"]) == len(batch.masked_labels)
        for one, label in zip(shown["sequences"], batch.next_labels.tolist(), strict=True):
            assert one["next_sentence"] == ("next", "random")[label]
            first, second = one["documents"]
            assert (first == second) == (label == 0)
            assert one["text"].count("<") == one["masked"]
            # What was hidden put back, the text of A stands in its document, that of B in its own.
            words = [w.split("<")[-1].strip(">") if "<" in w else w for w in one["text"].split()]
            a, b = " ".join(words).removeprefix("[CLS] ").removesuffix(" [SEP]").split(" [SEP] ")
            for text, place in ((a, first), (b, second)):
                tokenizer, ids = run.corpus.tokenizer(), run.corpus.document(place).tokens
                pieces = " ".join(tokenizer.tokens[n] for n in ids.tolist()).replace(" ##", "")
                assert text.replace(" ##", "") in pieces


def test_what_is_no_batch(tmp_path) -> None:
    run = Run.open(a_run(tmp_path))
    for wrong in (-1, 10):
        with pytest.raises(InputError, match="10 batches, counted from 0"):
            show_batch(run, wrong)
    with pytest.raises(InputError, match="32 or 64 tokens"):
        show_batch(run, 0, 128)


def test_a_budget_of_tokens_does_not_tell_the_phase(tmp_path) -> None:
    folder = a_run(tmp_path, steps=0, tokens=5000)
    run = Run.open(folder)
    with pytest.raises(InputError, match="--length 32 or 64"):
        show_batch(run, 3)
    command = look_at(folder, 3, run.settings, 0.95)
    assert command == f"bertsmith corpus show {folder} --batch 3 --length 64"
    assert show_batch(run, 3, 64)["length"] == 64


def test_the_phase_of_a_step() -> None:
    settings = PretrainSettings(steps=10)
    assert [phase_of(settings, n / 10) for n in range(10)] == [0] * 9 + [1]


def show(*words: object) -> int:
    parser = Parser(prog="bertsmith corpus show")
    corpus_show.add_arguments(parser)
    return corpus_show.run(parser.parse_known([str(word) for word in words]))


def test_the_command(tmp_path, capsys) -> None:
    run = a_run(tmp_path)
    assert show(run, "--batch", 9) == 0
    out = capsys.readouterr().out
    assert out.startswith("batch 9: 4 sequences of at most 64 tokens")
    assert out.count("\nsequence ") == 4
    assert f"from {tmp_path / 'made' / 'text.txt'})" in out
    show(run, "--batch", 9, "--json")
    assert json.loads(capsys.readouterr().out)["batch"] == 9
    corpus = tmp_path / "made" / "corpus"
    show(corpus, "--document", 1, "--part", "held_out")
    head, _, *sentences = capsys.readouterr().out.splitlines()
    assert head.startswith("held_out document 1 (000000.held_out.arrow, place 1, text hash ")
    text = (tmp_path / "made" / "text.txt").read_text()
    assert "\n".join(one.removesuffix(".") + " ." for one in sentences) in text
    with pytest.raises(InputError, match="a batch is of a run"):
        show(corpus, "--batch", 1)
    with pytest.raises(InputError, match="documents, counted from 0"):
        show(corpus, "--document", 99)
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(InputError, match="not a pre-training run"):
        show(tmp_path, "--batch", 1)
