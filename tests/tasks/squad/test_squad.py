"""SQuAD: windows, answers, figures and files."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from bertsmith.common.errors import InputError, SettingsError
from bertsmith.tasks.settings import TaskSettings
from bertsmith.tasks.squad.alignment import align
from bertsmith.tasks.squad.answers import Answer, WindowAbout, predict, rank_answers
from bertsmith.tasks.squad.examples import SquadExample, is_version_2, read_squad
from bertsmith.tasks.squad.folder import find_squad
from bertsmith.tasks.squad.metrics import best_scores
from bertsmith.tasks.squad.task import SquadTask
from bertsmith.tasks.squad.windows import check_room, cut_windows, owners
from bertsmith.tasks.task import Head, Part
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
HEAD = Head("span")
BRIDGE = "The bridge opened in the 1930s in Porto."
LETTERS = [f"c{number}" for number in range(10)]
QUERY = [f"q{number}" for number in range(10)]


def tokenizer(*words: str) -> Tokenizer:
    return Tokenizer([*SPECIAL, *words])


def part_of(*examples: SquadExample) -> Part:
    return Part("train", list(examples))


def settings(**values) -> TaskSettings:
    return TaskSettings(**{"max_query_length": 8, "max_length": 64, **values})


def encode(example: SquadExample, words: Tokenizer, length: int, training: bool = True, **values):
    task = SquadTask(settings(max_length=length, **values))
    part = part_of(example)
    return task.encode(part, words, length, HEAD, training=training), part


# Answers and tokens


@pytest.mark.parametrize(
    ("words", "place", "exact"),
    [(["1930", "##s"], (25, 29), True), (["1930s"], (25, 30), False)],
)
def test_q01_answers_inside_words(words: list[str], place: tuple[int, int], exact: bool) -> None:
    """Q01: an answer is covered by whole tokens, kept, and counted where they are not exact."""
    known = tokenizer("the", "bridge", "opened", "in", *words, "porto", ".")
    example = SquadExample("a", "when", BRIDGE, (("1930", 25),))
    offsets = np.array(known.encode(BRIDGE).offsets)
    found = align(BRIDGE, offsets, "1930", 25)
    assert found is not None
    assert (found.first, found.last, found.exact) == (5, 5, exact)
    assert tuple(offsets[5]) == place
    encoded, part = encode(example, known, 32)
    (feature,) = encoded.features
    query = len(known.encode("when").ids)
    assert feature.target == (5 + query + 2,) * 2
    assert encoded.counts.total() == (0 if exact else 1)
    assert not part.skipped
    gold, _ = best_scores(BRIDGE[slice(*place)], ["1930"], version_2=False)
    assert gold == float(exact)


def test_q01_wrong_answer_start(tmp_path: Path) -> None:
    """Q01: a text that is not at answer_start is reported with the question's id and left out."""
    known = tokenizer("the", "bridge", "opened", "in", "1930s", "porto", ".")
    encoded, part = encode(SquadExample("q7", "when", BRIDGE, (("1930", 24),)), known, 32)
    assert not encoded.features
    assert len(part.skipped) == 1
    assert "q7" in part.skipped[0]
    assert encoded.counts == {
        "questions whose answer does not stand where the file says, left out": 1
    }
    predicting, _ = encode(SquadExample("q7", "when", BRIDGE, (("1930", 24),)), known, 32, False)
    assert len(predicting.features) == 1
    SquadTask(settings()).encode(part, known, 32, HEAD, training=True)
    assert len(part.skipped) == 1  # not told twice
    with pytest.raises(InputError, match="question q7"):
        SquadTask(settings(strict=True)).encode(part, known, 32, HEAD, training=True)


# Windows


def test_q03_windows_owners_and_targets() -> None:
    """Q03: the stride is a step; a window with half an answer has none; the owner of each token."""
    known = tokenizer(*LETTERS, *QUERY)
    context, question = " ".join(LETTERS), " ".join(QUERY[:3])
    windows = cut_windows(10, 6, 3)
    assert windows == [(0, 6), (3, 6), (6, 4)]
    owner = owners(windows, 10) + 1
    assert [int(owner[at]) for at in (3, 4, 5, 6, 8)] == [1, 1, 2, 2, 3]
    example = SquadExample("a", question, context, (("c8 c9", context.index("c8")),))
    for impossible in (None, False):  # in 1.1 and 2.0 alike
        one = dataclasses.replace(example, impossible=impossible)
        encoded, _ = encode(one, known, 12, doc_stride=3, max_query_length=3)
        assert [feature.target for feature in encoded.features] == [(0, 0), (0, 0), (7, 8)]
        assert [feature.tokens for feature in encoded.features] == [12, 12, 10]
    assert cut_windows(10, 6, 8) == [(0, 6), (6, 4)]


def test_q04_long_questions() -> None:
    """Q04: a question is cut; no room is an error before anything is read; no endless loop."""
    known = tokenizer(*LETTERS, *QUERY)
    context, question = " ".join(LETTERS), " " * 500 + " ".join(QUERY)
    example = SquadExample("a", question, context)
    encoded, _ = encode(example, known, 10, False, max_query_length=4)
    abouts = [feature.about for feature in encoded.features]
    ids = known.encode(" ".join(QUERY[:4])).ids
    assert all(feature.sequences[0][0][1:5] == ids for feature in encoded.features)
    assert [int(about.offsets[0, 0]) // 3 for about in abouts] == [0, 3, 6, 9]
    assert [about.length for about in abouts] == [3, 3, 3, 1]
    assert encoded.counts["questions cut"] == 1
    started = time.monotonic()
    with pytest.raises(
        SettingsError, match=r"max_length 7 .*max_query_length 4 .* 3 special"
    ) as no:
        check_room(7, 4)
    assert "--max-length" in str(no.value)
    with pytest.raises(SettingsError, match=r"max_length 8 .*max_query_length 5 .* 3 special"):
        SquadTask(TaskSettings(max_length=8, max_query_length=5))
    with pytest.raises(SettingsError, match="max_length"):  # no task has so little room
        SquadTask(TaskSettings(max_length=7, max_query_length=4))
    assert time.monotonic() - started < 1
    check_room(8, 4)
    for room, stride in ((0, 3), (-1, 3), (6, 0)):
        with pytest.raises(AssertionError):
            cut_windows(10, room, stride)


def test_memory_of_a_long_text_grows_with_its_tokens_only() -> None:
    windows = cut_windows(30_000, 318, 128)
    tracemalloc.start()
    owner = owners(windows, 30_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 30_000  # not a number a window and token
    assert set(owner.tolist()) == set(range(len(windows)))


@pytest.mark.parametrize("seed", range(20))
def test_windows_cover_everything_once_in_the_owners(seed: int) -> None:
    rng = random.Random(seed)
    tokens, room, stride = rng.randint(0, 60), rng.randint(1, 20), rng.randint(1, 30)
    windows = cut_windows(tokens, room, stride)
    owner = owners(windows, tokens)
    for token in range(tokens):
        having = {
            at: min(token - start, start + length - 1 - token) + 0.01 * length
            for at, (start, length) in enumerate(windows)
            if start <= token < start + length
        }
        assert owner[token] == max(having, key=having.get)
    assert windows[-1][0] + windows[-1][1] == tokens


def test_l01_every_setting_changes_the_features() -> None:
    """L01: nothing is taken from an earlier encoding: other settings or texts, other features."""
    words = [*LETTERS, *QUERY]
    context, question = " ".join(LETTERS).upper(), " ".join(QUERY[:5])
    example = SquadExample("a", question, context, (("C8", context.index("C8")),))

    def features(
        one: SquadExample = example, known: Tokenizer | None = None, length: int = 14, **values
    ):
        encoded, _ = encode(
            one,
            known or Tokenizer([*SPECIAL, *words]),
            length,
            doc_stride=values.pop("doc_stride", 3),
            **values,
        )
        return [(feature.sequences, feature.target) for feature in encoded.features]

    made = [
        features(),
        features(doc_stride=2),
        features(length=13),
        features(max_query_length=3),
        features(known=Tokenizer([*SPECIAL, *words], lowercase=False)),
        features(known=Tokenizer([*SPECIAL, *reversed(words)])),
        features(dataclasses.replace(example, impossible=True)),
        features(
            dataclasses.replace(example, context=context.replace("C8", "C7"), impossible=True)
        ),
    ]
    assert features() == made[0]
    for one, other in itertools.combinations(made, 2):
        assert one != other


def test_l01_a_file_changed_in_place(tmp_path: Path) -> None:
    """L01: the same name and size, other content: other features."""
    known, made, sizes = tokenizer("red", "fox", "runs", "who", "why", "?"), [], set()
    for question in ("who?", "why?"):
        path = write(tmp_path / "train.json", {**QUESTION, "question": question})
        sizes.add(path.stat().st_size)
        part = read_squad([path], "train", strict=False)
        encoded = SquadTask(settings()).encode(part, known, 64, HEAD, training=True)
        made.append(encoded.features[0].sequences)
    assert len(sizes) == 1
    assert made[0] != made[1]


# Ranked answers


def brute_force(context, abouts, outputs, most, longest):
    found = {}
    for about, scores in zip(abouts, outputs, strict=True):
        for i in range(about.length):
            for j in range(i, min(i + longest, about.length)):
                if about.owned[i]:
                    score = float(scores[about.first + i, 0]) + float(scores[about.first + j, 1])
                    text = context[about.offsets[i, 0] : about.offsets[j, 1]]
                    found[text] = max(score, found.get(text, -np.inf))
    return sorted(found.items(), key=lambda one: -one[1])[:most]


@pytest.mark.parametrize(
    ("seed", "most", "vocabulary"),
    [
        *((seed, 5, ["red", "fox", "runs", "far"]) for seed in range(10)),
        *((seed, 20, ["red", "fox"]) for seed in range(10)),  # the same text in many places
    ],
)
def test_the_best_answers_are_those_of_all_pairs(
    seed: int, most: int, vocabulary: list[str]
) -> None:
    rng = np.random.default_rng(seed)
    words = rng.choice(vocabulary, 25).tolist()
    context = " ".join(words)
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    offsets = np.stack([starts, starts + [len(word) for word in words]], axis=1)
    windows = cut_windows(25, 9, 4)
    owner = owners(windows, 25)
    abouts = [
        WindowAbout(3, length, offsets[start : start + length], owner[start : start + length] == at)
        for at, (start, length) in enumerate(windows)
    ]
    outputs = [rng.normal(size=(about.length + 4, 2)).astype(np.float32) for about in abouts]
    found, null = rank_answers(context, abouts, outputs, most, 4)
    expected = brute_force(context, abouts, outputs, most, 4)
    assert len(expected) > 4
    assert [one.text for one in found] == [text for text, _ in expected]
    np.testing.assert_allclose([one.score for one in found], [score for _, score in expected])
    assert all(context[one.start : one.end] == one.text for one in found)
    least = min(outputs, key=lambda one: float(one[0].sum()))
    assert (null.start_logit, null.end_logit) == (least[0, 0], least[0, 1])
    assert null.score == pytest.approx(min(float(one[0].sum()) for one in outputs))
    guess = predict("a", found, null, None, most)
    assert guess.text == found[0].text
    assert sum(chance for _, chance in guess.ranked) == pytest.approx(1)
    assert guess.null_odds is None
    odds = null.score - found[0].score
    assert predict("a", found, null, odds - 0.1, most).text == ""
    assert predict("a", found, null, odds, most).text == found[0].text


def answers(*scores: float) -> list[Answer]:
    return [Answer(f"t{at}", at, at + 1, one, one - 1, 1.0) for at, one in enumerate(scores)]


def test_of_equal_answers_the_first_one_counts() -> None:
    offsets = np.array([[2 * at, 2 * at + 1] for at in range(5)])
    about = WindowAbout(3, 5, offsets, np.ones(5, np.bool_))
    found, _ = rank_answers("a b c d e", [about, about], [np.zeros((9, 2), np.float32)] * 2, 3, 2)
    assert [(one.text, one.start) for one in found] == [("a", 0), ("a b", 0), ("b", 2)]


@pytest.mark.parametrize("score", [9.0, 4.5, -9.0])
@pytest.mark.parametrize("most", [1, 2, 3, 20])
@pytest.mark.parametrize("threshold", [-99.0, 0.0, 99.0])
def test_no_answer_and_the_best_one_are_always_ranked(
    score: float, most: int, threshold: float
) -> None:
    """As the 2018 script adds the empty answer where it is not among the best."""
    null = Answer("", -1, -1, score, score - 2, 2.0)
    guess = predict("a", answers(5.0, 4.0, 3.0)[:most], null, threshold, most)
    ranked = [one.text for one, _ in guess.ranked]
    assert {"", "t0"} <= set(ranked)
    assert len(ranked) <= most + 1
    points = [one.score for one, _ in guess.ranked]
    assert points == sorted(points, reverse=True)
    powers = {one.text: np.exp(one.score) for one, _ in guess.ranked}
    assert guess.text == ("" if score - 5.0 > threshold else "t0")
    assert guess.probability == pytest.approx(powers[guess.text] / sum(powers.values()))
    assert guess.best == "t0"


def test_a_text_without_tokens_has_no_answer() -> None:
    known = tokenizer("what")
    task = SquadTask(settings())
    part = part_of(SquadExample("a", "what", "\u200b"))
    encoded = task.encode(part, known, 64, HEAD, training=False)
    outputs = [np.zeros((feature.tokens, 2), np.float32) for feature in encoded.features]
    (guess,) = task.decide(part, encoded, outputs, HEAD, {})
    assert (guess.text, guess.start) == ("", -1)


# Figures


@pytest.mark.parametrize(
    ("answer", "golds", "exact", "f1"),
    [
        ("19th Century", ["19th century, in Leeds", "the 19th century"], 1, 1.0),
        ("19th Century", ["19th century, in Leeds"], 0, 0.6667),
        ("Leeds Leeds Leeds", ["Leeds"], 0, 0.5),
        ("in Leeds", ["Leeds", "in Leeds, UK"], 0, 0.8),
        ("U.S.A.", ["USA"], 1, 1.0),
        ("well-known", ["well known"], 0, 0.0),
        ("“Leeds”", ["Leeds"], 0, 0.0),
    ],
)
def test_q06_official_rules(answer: str, golds: list[str], exact: float, f1: float) -> None:
    """Q06: all golds count, words count as often as they stand there, only ASCII marks go."""
    for version_2 in (False, True):
        assert best_scores(answer, golds, version_2=version_2) == (
            exact,
            pytest.approx(f1, abs=1e-4),
        )


def test_q06_an_answer_that_is_an_article() -> None:
    """Q06: each version by its own rules."""
    assert best_scores("A", ["A"], version_2=False) == (1.0, 0.0)
    assert best_scores("A", ["A"], version_2=True) == (1.0, 1.0)
    assert best_scores("", [], version_2=True) == (1.0, 1.0)
    assert best_scores("Leeds", [], version_2=True) == (0.0, 0.0)


def version_2_part() -> tuple[Part, list[SquadExample]]:
    examples = [
        SquadExample("a", "?", "red fox", (("red", 0),), False),
        SquadExample("b", "?", "red fox", (), True),
        SquadExample("c", "?", "red fox", (("fox", 4),), False),
        SquadExample("d", "?", "red fox", (), True),
    ]
    return part_of(*examples), examples


def test_figures_of_version_2_are_split() -> None:
    part, examples = version_2_part()
    texts = ["red", "", "red fox", "red"]
    guesses = [
        dataclasses.replace(
            predict(one.id, [], Answer("", -1, -1, 0.0, 0.0, 0.0), 0.0, 1), text=text
        )
        for one, text in zip(examples, texts, strict=True)
    ]
    figures = SquadTask(settings()).score(part, guesses)
    assert figures["exact_match"] == 0.5
    assert figures["f1"] == pytest.approx((1 + 1 + 2 / 3 + 0) / 4)
    assert figures["exact_match, has answer"] == 0.5
    assert figures["f1, has answer"] == pytest.approx(5 / 6)
    assert figures["exact_match, no answer"] == figures["f1, no answer"] == 0.5


# Files


def gold_outputs(encoded, examples) -> list[np.ndarray]:
    """Scores of a model that knows: high at the gold answer, wherever a window has it."""
    found = []
    for feature in encoded.features:
        scores = np.zeros((feature.tokens, 2), np.float32)
        about, one = feature.about, examples[feature.example]
        if one.answers and not one.impossible:
            aligned = align(one.context, about.offsets, *one.answers[0])
            if aligned:
                scores[about.first + aligned.first, 0] = 9
                scores[about.first + aligned.last, 1] = 9
        else:
            scores[0] = 9
        found.append(scores)
    return found


@pytest.mark.parametrize(
    ("file", "vocabulary", "lowercase"),
    [
        ("xquad/xquad.en.json", "bert-base-uncased", True),
        ("xquad/xquad.zh.json", "bert-base-chinese", True),
        ("xquad/xquad.ar.json", "bert-base-multilingual-cased", False),
        ("squad2-slice/dev-v2.0.json", "bert-base-uncased", True),
    ],
)
def test_who_knows_the_answers_gets_full_marks(file, vocabulary, lowercase) -> None:
    """Reading, windows, alignment, ranking and figures on real files: full marks on every question
    but those whose answer ends inside a token, or has more tokens than an answer may have."""
    known = Tokenizer.load(data("vocab", vocabulary), lowercase=lowercase)
    task = SquadTask(TaskSettings())
    (part,) = task.read(data("squad", file), training=False).dev
    encoded = task.encode(part, known, 384, HEAD, training=False)
    targets = task.encode(part, known, 384, HEAD, training=True)
    assert not part.skipped
    assert len(targets.features) == len(encoded.features)
    outputs = [np.zeros((feature.tokens, 2), np.float32) for feature in encoded.features]
    for scores, feature in zip(outputs, targets.features, strict=True):
        first, last = feature.target
        # The windows of an answerable question that do not hold the answer say nothing.
        if first or part.examples[feature.example].impossible:
            scores[first, 0] = scores[last, 1] = 9
    tuned = task.tune(part, encoded, outputs, HEAD)
    guesses = task.decide(part, encoded, outputs, HEAD, tuned)
    offsets = {one.context: np.array(known.encode(one.context).offsets) for one in part.examples}
    reachable = []
    for one, guess in zip(part.examples, guesses, strict=True):
        assert guess.start < 0 or one.context[guess.start : guess.end] == guess.text
        if one.answers:
            aligned = align(one.context, offsets[one.context], *one.answers[0])
            reachable.append(aligned.exact and aligned.last - aligned.first < 30)
        else:
            reachable.append(True)
        if reachable[-1]:
            assert guess.text == (one.answers[0][0] if one.answers else ""), one.id
    assert sum(reachable) / len(reachable) > 0.95
    figures = task.score(part, guesses)
    assert figures["exact_match"] >= sum(reachable) / len(reachable)


def test_real_files_have_the_questions_that_they_should() -> None:
    assert len(read_squad([data("squad/xquad/xquad.zh.json")], "dev", strict=True).examples) == 1190
    task = SquadTask(TaskSettings())
    found = task.read(data("squad/squad2-slice"))
    assert (
        len(found.train.examples),
        sum(bool(one.impossible) for one in found.train.examples),
    ) == (626, 333)
    assert (
        len(found.dev[0].examples),
        sum(bool(one.impossible) for one in found.dev[0].examples),
    ) == (706, 320)
    assert is_version_2(found.train)


def test_five_real_mismatches_are_counted() -> None:
    part = read_squad([data("squad/cmrc2018/cmrc2018_trial.json")], "train", strict=False)
    known = Tokenizer.load(data("vocab", "bert-base-chinese"))
    encoded = SquadTask(TaskSettings()).encode(part, known, 384, HEAD, training=True)
    assert len(part.skipped) == 5
    assert (
        encoded.counts["questions whose answer does not stand where the file says, left out"] == 5
    )
    assert len({feature.example for feature in encoded.features}) == 1002 - 5


def write(path: Path, *questions: dict, version: str = "1.1") -> Path:
    paragraphs = [{"context": "red fox runs", "qas": list(questions)}]
    path.write_text(
        json.dumps({"version": version, "data": [{"title": "t", "paragraphs": paragraphs}]})
    )
    return path


QUESTION = {"id": "a", "question": "who?", "answers": [{"text": "fox", "answer_start": 4}]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": [{"text": "fox"}]}, "question a has no whole number as answer_start"),
        ({"answers": [{"text": 3, "answer_start": 1}]}, "question a has no text 'text'"),
        ({"answers": {"text": "fox"}}, "question a has no list 'answers'"),
        ({"question": None}, "question a has no text 'question'"),
        ({"id": None}, "a question of article 1, paragraph 1 has no id"),
        ({"is_impossible": "no"}, "is_impossible of question a"),
    ],
)
def test_malformed_questions_are_named(tmp_path: Path, change: dict, message: str) -> None:
    path = write(tmp_path / "dev.json", {**QUESTION, **change})
    with pytest.raises(InputError, match=message):
        read_squad([path], "dev", strict=True)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"data": 3}', '{"data": [{}]}', '{"data": []}']
)
def test_what_is_no_squad_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "dev.json").write_text(content)
    with pytest.raises(InputError, match=r"dev\.json"):
        read_squad([tmp_path / "dev.json"], "dev", strict=True)


def test_the_same_id_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "train.json", QUESTION, QUESTION)
    part = read_squad([path], "train", strict=False)
    assert len(part.examples) == 1
    assert part.counts.total() == 1
    with pytest.raises(InputError, match="same id"):
        read_squad([path], "dev", strict=True)


def test_versions_and_unanswered_files(tmp_path: Path) -> None:
    one = read_squad([write(tmp_path / "a.json", QUESTION)], "dev", strict=True)
    assert not is_version_2(one)
    two = read_squad([write(tmp_path / "b.json", QUESTION, version="v2.0")], "dev", strict=True)
    assert is_version_2(two)
    test = read_squad(
        [write(tmp_path / "c.json", {**QUESTION, "answers": []})], "test", strict=True
    )
    assert (one.labelled, two.labelled, test.labelled) == (True, True, False)


@pytest.mark.parametrize(
    ("version", "second"),
    [
        ("v2.0", True),
        ("2.0", True),
        (2, True),
        ("v2.0-dev", True),
        ("v1.1", False),
        ("2018-05", False),
        (None, False),
    ],
)
def test_the_version_a_file_says(tmp_path: Path, version: object, second: bool) -> None:
    path = write(tmp_path / "a.json", QUESTION, version=version)
    assert is_version_2(read_squad([path], "dev", strict=True)) == second


def test_a_file_is_in_one_part(tmp_path: Path) -> None:
    names = ["Train-v1.1", "dev_orig", "dev-test", "train-dev", "cmrc2018_trial", "test",
             "latest", "industrial", "invalid", "strain"]  # fmt: skip
    for name in names:
        write(tmp_path / f"{name}.json", QUESTION)
    (tmp_path / "inner" / "deeper").mkdir(parents=True)
    write(tmp_path / "inner" / "valid.json", QUESTION)
    write(tmp_path / "inner" / "deeper" / "train.json", QUESTION)
    found = {part: sorted(one.stem for one in some) for part, some in find_squad(tmp_path).items()}
    assert found == {
        "train": ["Train-v1.1", "train-dev"],
        "dev": ["cmrc2018_trial", "dev-test", "dev_orig", "valid"],
        "test": ["test"],
    }


def test_lone_surrogates_survive(tmp_path: Path) -> None:
    """Case T10: read, encoded, answered and written, without an error and without a change."""
    half = chr(0xD83D)
    questions = [{"id": f"q{half}", "question": f"who {half}?",
                  "answers": [{"text": f"{half}fox", "answer_start": 5}]}]  # fmt: skip
    paragraphs = [{"context": f"red {half}{half}fox runs", "qas": questions}]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    task, known = SquadTask(settings()), tokenizer("red", "fox", "runs", "who", "?")
    (part,) = task.read(path, training=False).dev
    assert part.examples[0].context == f"red {half}{half}fox runs"
    encoded = task.encode(part, known, 64, HEAD, training=True)
    assert encoded.features[0].target == (5, 5)
    outputs = [np.zeros((feature.tokens, 2), np.float32) for feature in encoded.features]
    outputs[0][5] = 9
    guesses = task.decide(part, encoded, outputs, HEAD, {})
    paths = task.write(tmp_path, part, guesses)
    assert json.loads(paths[0].read_text()) == {f"q{half}": guesses[0].text}
    assert guesses[0].text.endswith("fox")


def test_a_single_file_is_split_by_article() -> None:
    found = SquadTask(TaskSettings(dev_percent=20.0)).read(data("squad/xquad/xquad.en.json"))
    train = {one.article for one in found.train.examples}
    dev = {one.article for one in found.dev[0].examples}
    assert not train & dev
    assert len(found.train.examples) + len(found.dev[0].examples) == 1190
    assert 0.1 < len(found.dev[0].examples) / 1190 < 0.35
    assert "articles" in found.notes[0]


def test_output_files_are_the_official_ones(tmp_path: Path) -> None:
    part, _ = version_2_part()
    task = SquadTask(settings())
    known = tokenizer("red", "fox", "?")
    encoded = task.encode(part, known, 64, HEAD, training=False)
    outputs = gold_outputs(encoded, part.examples)
    guesses = task.decide(part, encoded, outputs, HEAD, {"null_threshold": 0.0})
    paths = task.write(tmp_path, part, guesses)
    assert [path.name for path in paths] == [
        "predictions.json", "nbest_predictions.json", "null_odds.json",
    ]  # fmt: skip
    assert json.loads(paths[0].read_text()) == {"a": "red", "b": "", "c": "fox", "d": ""}
    ranked = json.loads(paths[1].read_text())["a"]
    assert set(ranked[0]) == {"text", "probability", "start_logit", "end_logit"}
    assert sum(one["probability"] for one in ranked) == pytest.approx(1)
    odds = json.loads(paths[2].read_text())
    assert odds["a"] < 0 < odds["b"]


def test_no_answer_throughout_is_the_baseline_of_version_2() -> None:
    part, _ = version_2_part()
    task = SquadTask(settings())
    assert task.score(part, task.most_frequent(part, part))["f1"] == 0.5
    one = part_of(SquadExample("a", "?", "red fox", (("red", 0),)))
    assert task.most_frequent(one, one) is None


def test_empty_texts_are_counted() -> None:
    words = tokenizer("a", "b")
    examples = [
        SquadExample("0", "a", " "), SquadExample("1", " ", "b"), SquadExample("2", "a", "b")
    ]  # fmt: skip
    task = SquadTask(settings())
    encoded = task.encode(part_of(*examples), words, 384, Head("span"), training=False)
    assert encoded.counts == {"examples with an empty text": 2}
