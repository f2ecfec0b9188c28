import subprocess
import sys
from collections import Counter

import pytest
from tokenizers import normalizers, pre_tokenizers

from bertsmith.common.errors import InputError
from bertsmith.text.trainer import Alphabet, train_wordpiece
from bertsmith.text.vocabulary import SPECIAL

TEXT = [
    "The quick brown fox jumps over the lazy dog; naïve cafés, déjà vu!",
    "में पदों पोस्ट 안녕하세요 で 世界人权宣言 low lower lowest newer newest wide wider widest",
    "family \U0001f468\u200d\U0001f469 x\u200by hel\ud800lo [SEP]",
] * 3


def test_special_tokens_come_first():
    tokenizer = train_wordpiece(TEXT, 300)
    assert tokenizer.tokens[:5] == list(SPECIAL)
    assert tokenizer.size <= 300
    assert tokenizer.encode("lowest").tokens != ["[UNK]"]
    assert {"世", "##e"} <= set(tokenizer.tokens)


@pytest.mark.parametrize("size", [100, 120, 4000])
def test_the_size_is_a_bound(size):
    assert train_wordpiece(TEXT, size).size <= size


def test_two_processes_make_the_same_vocabulary():
    """The library alone does not: it numbers ties in the order of a hash table."""
    program = (
        "import sys; from bertsmith.text.trainer import train_wordpiece;"
        "import importlib.util as u; s = u.spec_from_file_location('t', sys.argv[1]);"
        "m = u.module_from_spec(s); s.loader.exec_module(m);"
        "print(train_wordpiece(m.TEXT, 300).digest)"
    )
    command = [sys.executable, "-c", program, __file__]
    found = {subprocess.run(command, capture_output=True, text=True, check=True).stdout}
    found.add(train_wordpiece(reversed(TEXT), 300).digest + "\n")
    assert len(found) == 1


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip", [None, True, False])
def test_the_alphabet_is_that_of_the_tokenizer(lowercase, strip):
    """Counting characters one by one gives what cleaning and splitting the whole text gives."""
    alphabet = Alphabet(lowercase, strip)
    text = "\n".join(TEXT).replace("\ud800", "\ufffd")
    alphabet.add(text)
    cleaned = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip)
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(cleaned.normalize_str(text))
    first = Counter(char for word, _ in words for char in word)
    inside = {"##" + char for word, _ in words for char in word[1:]}
    pieces = alphabet.pieces(10**6)
    assert set(pieces) == first.keys() | inside
    assert pieces[: len(first)] == sorted(first, key=lambda char: (-first[char], char))


def test_nothing_to_train_on():
    with pytest.raises(InputError, match="no character"):
        train_wordpiece(["", " \u200b"], 300)
