"""``transformers`` reads what is saved and gives the same ids."""

import pytest

from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.trainer import train_wordpiece
from tests.data import data


@pytest.mark.parametrize("lowercase", [True, False])
def test_transformers_reads_what_is_saved(lowercase, tmp_path):
    transformers = pytest.importorskip("transformers")
    sample = [
        line
        for path in sorted(data("pretrain", "udhr").glob("*.txt"))
        for line in path.read_text("utf-8").split("\n")[:40]
    ]
    tokenizer = train_wordpiece(sample, 2000, lowercase=lowercase)
    tokenizer.save(tmp_path)
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer.ids
    assert [auto.pad_token_id, auto.unk_token_id, auto.cls_token_id] == [ids.pad, ids.unk, ids.cls]
    assert [auto.sep_token_id, auto.mask_token_id] == [ids.sep, ids.mask]
    assert len(auto) == tokenizer.size
    for text in [*sample[::5], "Café [MASK] x" + "a" * 150]:
        own = [ids.cls, *tokenizer.encode(text, blanks=True).ids, ids.sep]
        assert auto(text)["input_ids"] == own
    pair = auto("a b", "c d")
    assert pair["token_type_ids"] == [0] * 4 + [1] * 3


def test_transformers_reads_a_published_vocabulary(tmp_path):
    transformers = pytest.importorskip("transformers")
    path = data("vocab", "bert-base-uncased", "vocab.txt")
    tokenizer = Tokenizer.from_vocab_file(path, longest_word=200)
    tokenizer.save(tmp_path)
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in ("Hello [MASK] wörld!", "a" * 150, "x" * 201):
        own = [101, *tokenizer.encode(text, blanks=True).ids, 102]
        assert auto(text)["input_ids"] == own
