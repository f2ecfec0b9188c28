import json

import pytest
import transformers

from bertsmith.common.errors import InputError
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL, has_capitals, read_vocabulary, write_vocabulary
from tests.data import data

LINES = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n\xe2\x80\xa8\nworld\n"


@pytest.mark.parametrize("content", [LINES, LINES.replace(b"\n", b"\r\n"), LINES[:-1]])
def test_odd_pieces_and_line_ends_do_not_shift_ids(tmp_path, content):
    """I04: a U+2028 entry is an entry; CRLF and a missing last newline change nothing."""
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    tokenizer = Tokenizer.from_vocab_file(path)
    assert tokenizer.size == 8
    assert tokenizer.tokens[6] == "\u2028"
    assert tokenizer.encode("world").ids == [7]


def test_a_blank_entry_keeps_its_id(tmp_path):
    """I04"""
    path = tmp_path / "vocab.txt"
    path.write_bytes(LINES.replace(b"\xe2\x80\xa8", b""))
    assert read_vocabulary(path)[6:] == ["", "world"]


def test_round_trip_is_byte_identical(tmp_path):
    """I04"""
    (tmp_path / "a.txt").write_bytes(LINES)
    write_vocabulary(tmp_path / "b.txt", read_vocabulary(tmp_path / "a.txt"))
    assert (tmp_path / "b.txt").read_bytes() == LINES


def test_a_duplicate_names_both_lines(tmp_path):
    """I04"""
    path = tmp_path / "vocab.txt"
    path.write_bytes(LINES + b"hello\n")
    with pytest.raises(InputError, match=r"line 6 and again on line 9.*'hello'"):
        read_vocabulary(path)


@pytest.mark.parametrize("token", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
def test_a_missing_special_token_is_named(tmp_path, token):
    """I04"""
    path = tmp_path / "vocab.txt"
    path.write_bytes(LINES.replace(token.encode() + b"\n", b""))
    with pytest.raises(InputError, match=rf"lacks \{token[:-1]}\]"):
        read_vocabulary(path)


def test_published_vocabularies_round_trip(tmp_path):
    """I04"""
    sizes = {"uncased": 30522, "cased": 28996, "chinese": 21128, "multilingual-cased": 119547}
    for name, size in sizes.items():
        path = data("vocab", f"bert-base-{name}", "vocab.txt")
        tokens = read_vocabulary(path)
        write_vocabulary(tmp_path / "again.txt", tokens)
        assert len(tokens) == size
        assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_vocabulary(tmp_path / "none.txt")
    (tmp_path / "bad.txt").write_bytes(LINES + b"\xff\n")
    with pytest.raises(InputError, match=f"byte {len(LINES)} "):
        read_vocabulary(tmp_path / "bad.txt")


def test_capitals_tell_a_cased_vocabulary_and_markers_do_not():
    uncased = ["[PAD]", "[unused1]", "<S>", "<T>", "the", "##s", "京"]
    assert not has_capitals(uncased)
    for piece in ("The", "##S", "É", "["):
        assert has_capitals([*uncased, piece]) == (piece != "[")


@pytest.mark.parametrize(
    ("key", "value"), [("lowercase", "yes"), ("strip_accents", 1), ("handle_chinese_chars", None)]
)
def test_settings_of_a_wrong_type_are_named(tmp_path, key, value):
    Tokenizer([*SPECIAL, "a"]).save(tmp_path)
    path = tmp_path / "tokenizer.json"
    raw = json.loads(path.read_text())
    raw["normalizer"][key] = value
    path.write_text(json.dumps(raw))
    with pytest.raises(InputError, match=f"{key} is {value!r}"):
        Tokenizer.load(tmp_path)
    raw["normalizer"] |= {"lowercase": True, "strip_accents": None, "handle_chinese_chars": True}
    raw["model"]["max_input_chars_per_word"] = -1
    path.write_text(json.dumps(raw))
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(InputError, match="a word has 1 to"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("piece", ["a\nb", "a\r", "a\ud800"])
def test_a_piece_that_a_file_can_not_hold(piece):
    with pytest.raises(InputError, match="line end or half a character"):
        Tokenizer([*SPECIAL, piece])


@pytest.mark.parametrize(
    ("key", "value", "text", "pieces"),
    [
        ("do_lower_case", False, "The", ["[UNK]"]),
        ("tokenize_chinese_chars", False, "京京", ["[UNK]"]),
        ("strip_accents", False, "thé", ["[UNK]"]),
    ],
)
def test_tokenizer_config_overrules_the_normalizer_as_in_transformers(
    tmp_path, key, value, text, pieces
):
    """The two files disagree: transformers' BertTokenizer takes the settings."""
    Tokenizer([*SPECIAL, "the", "京"]).save(tmp_path)
    assert "[UNK]" not in Tokenizer.load(tmp_path).encode(text).tokens
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    assert Tokenizer.load(tmp_path).encode(text).tokens == pieces
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.tokenize(text) == pieces


def test_added_tokens_of_other_programs_are_told(tmp_path):
    Tokenizer([*SPECIAL, "the"]).save(tmp_path)
    assert Tokenizer.load(tmp_path).foreign == ()
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    theirs.add_tokens(["catsat"])
    theirs.save_pretrained(tmp_path)
    assert Tokenizer.load(tmp_path).foreign == ("catsat",)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "added_tokens.json").write_text('{"catsat": 6, "[PAD]": 0}')
    write_vocabulary(tmp_path / "vocab.txt", [*SPECIAL, "the"])
    assert Tokenizer.load(tmp_path).foreign == ("catsat",)
