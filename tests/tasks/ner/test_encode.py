from __future__ import annotations

import random

import numpy as np

from bertsmith.tasks.ner.encode import Places, encode_sentences
from bertsmith.tasks.ner.examples import TaggedSentence
from bertsmith.tasks.task import IGNORE, Encoded
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

LABELS = ("O", "B-LOC", "B-PER", "I-LOC", "I-PER")


def encode(
    examples: list[TaggedSentence], tokenizer: Tokenizer, length: int = 128, *,
    context: bool = False, training: bool = True,
) -> Encoded:  # fmt: skip
    return encode_sentences(examples, tokenizer, length, LABELS, context=context, training=training)


N01 = TaggedSentence(
    ("Ana", "\u200b", "lives", "in", "\ufeff", "Rome"), ("B-PER", "O", "O", "O", "O", "B-LOC")
)


def test_words_without_tokens_and_pieces_of_words() -> None:
    """Case N01: labels go by word, to the first piece of each."""
    tokenizer = Tokenizer([*SPECIAL, "ana", "lives", "in", "ro", "##me"])
    encoded = encode([N01], tokenizer)
    [feature] = encoded.features
    [(ids, segments)] = feature.sequences
    assert [tokenizer.tokens[one] for one in ids] == [
        "[CLS]", "ana", "lives", "in", "ro", "##me", "[SEP]",
    ]  # fmt: skip
    assert segments == [0] * 7
    assert feature.target == [IGNORE, 2, 0, 0, 1, IGNORE, IGNORE]
    assert feature.about == Places((0, 2, 3, 5), (1, 2, 3, 4))
    assert encoded.counts == {"words without tokens": 2}


def test_control_tokens_are_words(letters: Tokenizer) -> None:
    """Case T08: a word that reads [SEP] is no [SEP]."""
    [feature] = encode([TaggedSentence(("[SEP]", "a"), ("O", "B-PER"))], letters).features
    ids = feature.sequences[0][0]
    assert ids.count(letters.ids.sep) == ids.count(letters.ids.cls) == 1
    assert feature.target.index(2) == feature.about.tokens[1] == len(ids) - 2


def test_odd_words_do_no_harm(letters: Tokenizer) -> None:
    """Spaces in a word, half a surrogate pair, no character at all."""
    words = ("a b", "\ud83d", "", "c\ude00", " ")
    encoded = encode([TaggedSentence(words, ("B-PER",) * 5)], letters)
    [feature] = encoded.features
    assert feature.about == Places((0, 3), (1, 3))
    assert len(feature.sequences[0][0]) == 5
    assert encoded.counts["words without tokens"] == 3


def test_a_sentence_without_tokens(letters: Tokenizer) -> None:
    """It has a feature to predict on, but none to train on."""
    empty = TaggedSentence(("\u200b",), ("O",))
    encoded = encode([empty], letters, training=False)
    assert [one.sequences for one in encoded.features] == [(([2, 3], [0, 0]),)]
    assert encoded.features[0].about == Places((), ())
    encoded = encode([empty, N01], letters)
    assert [one.example for one in encoded.features] == [1]
    assert encoded.counts["sentences without tokens"] == 1


def test_a_sentence_without_tags(letters: Tokenizer) -> None:
    one = TaggedSentence(("ab", "c"))
    [feature] = encode([one], letters, training=False).features
    assert feature.target is None
    assert feature.about == Places((0, 1), (1, 3))
    encoded = encode([one], letters, training=True)
    assert not encoded.features
    assert encoded.counts == {"sentences without tags": 1}


def test_a_tag_that_the_model_lacks(letters: Tokenizer) -> None:
    encoded = encode([TaggedSentence(("a", "b"), ("B-ORG", "B-PER"))], letters)
    assert encoded.features[0].target == [IGNORE, IGNORE, 2, IGNORE]
    assert encoded.counts == {"words with a tag that the model lacks": 1}


def test_a_word_longer_than_a_sequence_keeps_its_first_pieces(letters: Tokenizer) -> None:
    sentence = TaggedSentence(("ab", "abcdefghij", "c"), ("O", "B-LOC", "O"))
    encoded = encode([sentence], letters, 8)
    ids = [one.sequences[0][0][1:-1] for one in encoded.features]
    assert [5, 32, 33, 34, 35, 36] in ids
    assert sorted(word for one in encoded.features for word in one.about.words) == [0, 1, 2]
    assert encoded.counts == {
        "words cut": 1, "tokens cut": 4, "sentences cut into windows": 1,
    }  # fmt: skip


def random_documents(seed: int) -> list[TaggedSentence]:
    chance = random.Random(seed)

    def sentence(document: int) -> TaggedSentence:
        words = tuple(
            "".join(chance.choice("abcdefgh\u200b") for _ in range(chance.choice([1, 1, 2, 5])))
            for _ in range(chance.choice([1, 4, 30]))
        )
        return TaggedSentence(words, tuple(chance.choice(LABELS) for _ in words), document)

    return [sentence(document) for document in (1, 1, 1, 2, 3, 3, 3, 3, 3, 3)]


def test_every_word_with_tokens_has_one_target(letters: Tokenizer) -> None:
    """With windows and with context: targets stand at the first piece of the sentence's own words,
    each word once, and nowhere else."""
    for seed in range(30):
        examples = random_documents(seed)
        for context in (False, True):
            encoded = encode(examples, letters, 16, context=context)
            seen: dict[int, list[int]] = {}
            for one in encoded.features:
                [(ids, _)] = one.sequences
                assert len(ids) == len(one.target) <= 16
                assert (ids[0], ids[-1], ids[1:-1].count(3)) == (2, 3, 0)
                example = examples[one.example]
                own = dict(zip(one.about.tokens, one.about.words, strict=True))
                for at, target in enumerate(one.target):
                    assert (target != IGNORE) == (at in own)
                    if at in own:
                        word = example.words[own[at]]
                        assert LABELS[target] == (example.tags or ())[own[at]]
                        assert (
                            letters.encode_ids([word])[0]
                            == ids[at : at + len(word)][: len(letters.encode_ids([word])[0])]
                        )
                seen.setdefault(one.example, []).extend(one.about.words)
            for at, example in enumerate(examples):
                there = [n for n, word in enumerate(example.words) if word.strip("\u200b")]
                assert sorted(seen.get(at, [])) == there


def test_context_is_of_the_same_document(letters: Tokenizer) -> None:
    tags = ("O", "O")
    examples = [
        TaggedSentence(("a", "b"), tags, 1),
        TaggedSentence(("c", "d"), tags, 1),
        TaggedSentence(("e", "f"), tags, 1),
        TaggedSentence(("g", "h"), tags, 2),
    ]

    def text(length: int, at: int) -> tuple[str, list[int]]:
        one = encode(examples, letters, length, context=True).features[at]
        ids = one.sequences[0][0][1:-1]
        return "".join(letters.tokens[n] for n in ids), [
            place for place, target in enumerate(one.target) if target != IGNORE
        ]

    assert text(128, 0) == ("abcdef", [1, 2])
    assert text(128, 1) == ("abcdef", [3, 4])
    assert text(128, 2) == ("abcdef", [5, 6])
    assert text(128, 3) == ("gh", [1, 2])
    assert text(6, 1) == ("bcde", [2, 3])
    assert text(6, 0) == ("abcd", [1, 2])
    assert text(6, 2) == ("cdef", [3, 4])


def test_targets_count_the_words_of_the_sentences_only(letters: Tokenizer) -> None:
    """Context must not be trained on twice: as many targets with it as without."""
    examples = random_documents(99)
    counts = [
        sum(np.count_nonzero(np.array(one.target) != IGNORE)
            for one in encode(examples, letters, 16, context=context).features)
        for context in (False, True)
    ]  # fmt: skip
    longer = [
        sum(one.tokens for one in encode(examples, letters, 16, context=context).features)
        for context in (False, True)
    ]
    assert counts[0] == counts[1]
    assert longer[0] < longer[1]
