"""The T cases: what text becomes, for vocabularies of a few pieces."""

import json

import pytest

from bertsmith.common.errors import InputError
from bertsmith.text.tokenizer import Tokenizer
from tests.data import data

UNK = ["[UNK]"]


def test_emoji(make):
    """T01"""
    pieces = ["good", "👍", "👨", "##👩", "##👧", "❤"]
    uncased, cased = make(pieces), make(pieces, lowercase=False)
    glued = uncased.encode("good\U0001f44d")
    assert (glued.tokens, glued.offsets) == (UNK, [(0, 5)])
    assert uncased.encode("good \U0001f44d").tokens == ["good", "👍"]
    family = uncased.encode("\U0001f468\u200d\U0001f469\u200d\U0001f467")
    assert family.tokens == ["👨", "##👩", "##👧"]
    assert family.offsets == [(0, 1), (2, 3), (4, 5)]
    assert uncased.encode("\u2764\ufe0f").tokens == ["❤"]
    assert cased.encode("\u2764\ufe0f").tokens == UNK
    assert uncased.encode("\U0001f44d\U0001f3fd").tokens == UNK


def test_accents(make):
    """T02"""
    pieces = ["cafe", "caf\u00e9", "##e", "caf", "CAFE", "CAF\u00c9"]
    uncased, cased = make(pieces), make(pieces, lowercase=False)
    assert uncased.encode("Caf\u00e9").tokens == ["cafe"]
    assert uncased.encode("Cafe\u0301").tokens == ["cafe"]
    assert cased.encode("caf\u00e9").tokens == ["caf\u00e9"]
    assert cased.encode("cafe\u0301").tokens == UNK
    kept = make(pieces, lowercase=True, strip_accents=False)
    assert kept.encode("CAF\u00c9").tokens == ["caf\u00e9"]
    assert kept.encode("CAFE\u0301").tokens == UNK
    assert make(pieces, lowercase=False, strip_accents=True).encode("CAF\u00c9").tokens == ["CAFE"]


def test_end_offsets_cover_removed_accents(make):
    """Decision 3 of the cases: a slice of the original text is whole."""
    tokenizer = make(["cafe", "noir", "##s"])
    text = "Cafe\u0301 noir\u0323\u0301s"
    found = tokenizer.encode(text)
    assert found.tokens == ["cafe", "noir", "##s"]
    assert [text[a:b] for a, b in found.offsets] == ["Cafe\u0301", "noir\u0323\u0301", "s"]


def test_marks_of_other_scripts(make):
    """T03"""
    uncased = make(["म", "पदो", "पोसट", "ทน", "นำ", "て", "ᄋ", "##ᅡ", "##ᆫ"])
    expected = {
        "में": "म", "पदों": "पदो", "पोस्ट": "पोसट", "ที่นี่": "ทน", "น้ำ": "นำ", "で": "て",
    }  # fmt: skip
    for text, token in expected.items():
        assert uncased.encode(text).tokens == [token]
    hangul = uncased.encode("안")
    assert hangul.tokens == ["ᄋ", "##ᅡ", "##ᆫ"]
    assert hangul.offsets == [(0, 1)] * 3
    words = ["में", "पदों", "ที่นี่", "で", "안"]
    cased = make(words, lowercase=False)
    for word in words:
        assert cased.encode(word).tokens == [word]


def test_removed_and_separating_characters(make):
    """T05"""
    tokenizer = make(["hello", "world", "##world"])
    for text in ("hel\u200blo", "hel\ufffdlo", "hel\x00lo", "hel\u00adlo"):
        found = tokenizer.encode(text)
        assert (found.tokens, found.offsets) == (["hello"], [(0, 6)])
    assert tokenizer.encode("\ufeffhello").offsets == [(1, 6)]
    for char in "\x0b\x0c\x1c\x85":
        assert tokenizer.encode(f"hello{char}world").tokens == ["hello", "##world"]
    for gap in ("\t", "\r\n", "\u00a0", "\u202f", "\u3000", "\u2028", "\u2029"):
        assert tokenizer.encode(f"hello{gap}world").tokens == ["hello", "world"]
    assert tokenizer.encode("\u200b\u200d\ufeff").tokens == []
    assert tokenizer.encode("hello \uf059").tokens == ["hello"]


@pytest.mark.parametrize("limit", [100, 200])
def test_long_words(make, tmp_path, limit):
    """T07"""
    pieces = ["a", "##a", "é", "##é", "i", "##i"]
    uncased = make(pieces, longest_word=limit)
    uncased.save(tmp_path)
    uncased = Tokenizer.load(tmp_path)  # the limit is stored
    assert len(uncased.encode("a" * limit).ids) == limit
    too_long = uncased.encode("a" * (limit + 1))
    assert (too_long.tokens, too_long.offsets) == (UNK, [(0, limit + 1)])
    cased = make(pieces, lowercase=False, longest_word=limit)
    assert len(cased.encode("é" * limit).ids) == limit
    assert len(uncased.encode("\u0130" * limit).ids) == limit
    assert uncased.encode("\u0130" * (limit + 1)).tokens == UNK


def test_control_tokens_in_text(make):
    """T08"""
    tokenizer = make(["hello", "world", "mask", "sep", "[", "]", "cls"])
    a, b = tokenizer.encode("hello [SEP] world"), tokenizer.encode("[MASK] hello")
    ids = [2, *a.ids, 3, *b.ids, 3]
    assert ids == [2, 5, 9, 8, 10, 6, 3, 9, 7, 10, 5, 3]
    assert (ids.count(3), ids.count(4)) == (2, 0)
    assert tokenizer.encode_ids(["hello [SEP] world"]) == [a.ids]
    a = tokenizer.encode("hello [SEP] world", blanks=True)
    b = tokenizer.encode("[MASK] hello", blanks=True)
    assert [2, *a.ids, 3, *b.ids, 3] == [2, 5, 3, 6, 3, 4, 5, 3]
    assert a.offsets == [(0, 5), (6, 11), (12, 17)]
    assert tokenizer.encode("[mask]", blanks=True).ids == [9, 7, 10]


def test_lone_surrogates(make):
    """T10"""
    tokenizer = make(["hello", "world"])
    assert tokenizer.encode("hello \ud83d world").tokens == ["hello", "world"]
    broken = tokenizer.encode("hel\ud800lo")
    assert (broken.tokens, broken.offsets) == (["hello"], [(0, 6)])
    pair = tokenizer.encode("hello \ud83c\udf37 world")
    assert pair.tokens == ["hello", "[UNK]", "world"]
    assert pair.offsets == [(0, 5), (6, 8), (9, 14)]
    body = json.loads('{"text":"hello \\ud83d world"}')["text"]
    assert tokenizer.encode(body).ids == [5, 6]
    assert tokenizer.encode_ids([body, "\ud83c\udf37"]) == [[5, 6], [1]]


def test_saved_and_loaded(make, tmp_path):
    tokenizer = make(["hello", "##s"], lowercase=False, strip_accents=True, longest_word=50)
    tokenizer.save(tmp_path)
    again = Tokenizer.load(tmp_path)
    assert again.digest == tokenizer.digest
    (tmp_path / "tokenizer.json").unlink()
    assert Tokenizer.load(tmp_path).digest == tokenizer.digest
    assert Tokenizer.load(tmp_path / "vocab.txt").digest == tokenizer.digest
    other = make(["hello", "##s"], lowercase=True, strip_accents=True, longest_word=50)
    assert other.digest != tokenizer.digest


def test_properties(make):
    tokenizer = make(["hello", "##s", "!"])
    assert tokenizer.size == 8
    assert tokenizer.is_continuation.tolist() == [False] * 6 + [True, False]
    assert tokenizer.special_ids == {0, 1, 2, 3, 4}
    assert tokenizer.decode([5, 6, 7, 5]) == "hellos! hello"
    assert tokenizer.encode("").ids == []


def test_special_tokens_may_stand_anywhere():
    tokenizer = Tokenizer.load(data("vocab", "bert-base-uncased", "vocab.txt"))
    ids = tokenizer.ids
    assert (ids.pad, ids.unk, ids.cls, ids.sep, ids.mask) == (0, 100, 101, 102, 103)
    assert tokenizer.encode("[MASK]", blanks=True).ids == [103]


def test_unreadable_tokenizers(tmp_path):
    with pytest.raises(InputError, match="no such tokenizer"):
        Tokenizer.load(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        Tokenizer.load(tmp_path)
    path = tmp_path / "tokenizer.json"
    for content in ('{"model": {}}', "[]", "{", '{"model": {"type": "BPE"}, "normalizer": null}'):
        path.write_text(content)
        with pytest.raises(InputError, match=r"tokenizer\.json"):
            Tokenizer.load(path)
