"""New words start where their pieces are, take unused entries first, and cost the old ones nothing."""

from pathlib import Path

import pytest
import torch

from bertsmith.checkpoints.directory import load_model
from bertsmith.checkpoints.extend import add_tokens
from bertsmith.checkpoints.save import save_model
from bertsmith.model.config import BertConfig
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.counts import count_tokens
from bertsmith.text.tokenizer import Tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = ["[unused0]", "the", "kid", "##ney", "##itis", "a", "##s", "[unused1]", "neph", "##r"]


def made(
    tied: bool = True, rows: int = 15, lowercase: bool = True
) -> tuple[BertForPreTraining, Tokenizer]:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=rows, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=16, tie_word_embeddings=tied,
    )  # fmt: skip
    model = BertForPreTraining(config)
    with torch.no_grad():
        model.masked_lm.bias.normal_()
    return model.eval(), Tokenizer(SPECIALS + PIECES, lowercase)


@pytest.mark.parametrize("tied", [True, False])
def test_a_word_is_the_mean_of_its_pieces(tied: bool) -> None:
    model, tokenizer = made(tied)
    changed, extended, added = add_tokens(
        model, tokenizer, ["Kidney", "nephritis", "kids", "##neys", "the", "kidney", "Kidney"]
    )
    assert isinstance(changed, BertForPreTraining)
    assert added.ids == {"kidney": 5, "nephritis": 12, "kids": 15, "##neys": 16}
    assert added.pieces == {
        "kidney": ["kid", "##ney"],
        "nephritis": ["neph", "##r", "##itis"],
        "kids": ["kid", "##s"],
        "##neys": ["##ney", "##s"],
    }
    assert (added.reused, added.known, added.unreachable) == (2, ["the", "kidney"], [])
    assert extended.size == changed.config.vocab_size == 17
    assert extended.encode("The kidney, nephritis").tokens == [
        "the",
        "kidney",
        "[UNK]",
        "nephritis",
    ]

    tables = [(one.encoder.embeddings.word.weight, one.masked_lm.bias) for one in (model, changed)]
    if not tied:
        assert model.masked_lm.decoder is not None
        tables = [
            (*pair, one.masked_lm.decoder.weight)
            for pair, one in zip(tables, (model, changed), strict=True)
        ]
    for old, new in zip(*tables, strict=True):
        torch.testing.assert_close(new[5], (old[7] + old[8]) / 2)
        torch.testing.assert_close(new[12], (old[13] + old[14] + old[9]) / 3)
        torch.testing.assert_close(new[16], (old[8] + old[11]) / 2)
        for number in (*range(5), 6, 7, 8, 9, 10, 11, 13, 14):
            assert torch.equal(new[number], old[number])


def test_text_without_new_words_is_as_before() -> None:
    model, tokenizer = made()
    changed, extended, _ = add_tokens(model, tokenizer, ["kidney", "nephritis", "kids"])
    ids = tokenizer.encode("the a kid").ids
    assert extended.encode("the a kid").ids == ids
    batch = PackedBatch.from_sequences([(ids, [0] * len(ids))])
    with torch.inference_mode():
        assert torch.equal(changed.encode(batch), model.encode(batch))
        logits, longer = model(batch, torch.tensor([1]))[0], changed(batch, torch.tensor([1]))[0]
    kept = [number for number in range(15) if number not in (5, 12)]
    torch.testing.assert_close(longer[:, kept], logits[:, kept])


def test_rows_beyond_the_vocabulary_are_used_before_new_ones() -> None:
    model, tokenizer = made(rows=16)
    changed, extended, added = add_tokens(
        model, tokenizer, ["kidney", "nephritis", "kids", "kidneys"]
    )
    assert list(added.ids.values()) == [5, 12, 15, 16]
    assert added.reused == 3
    assert changed.config.vocab_size == extended.size == 17


def test_words_that_can_not_be_are_told() -> None:
    model, tokenizer = made()
    words = ["kid-ney", "kid ney", "肾炎", "x" * 101, "[MASK]", "zzz", ""]
    _, extended, added = add_tokens(model, tokenizer, words)
    assert added.unreachable == ["kid-ney", "kid ney", "肾炎", "x" * 101, "[MASK]", ""]
    assert added.unknown == ["zzz"]
    assert extended.encode("zzz").tokens == ["zzz"]


def test_a_word_of_unknown_letters_starts_at_the_mean_of_all() -> None:
    model, tokenizer = made()
    changed, _, added = add_tokens(model, tokenizer, ["zzz"])
    words = model.encoder.embeddings.word.weight
    new = changed.encoder.embeddings.word.weight[added.ids["zzz"]]
    torch.testing.assert_close(new, words.mean(0))


def test_case_is_that_of_the_tokenizer() -> None:
    _, _, added = add_tokens(*made(lowercase=False), ["Kid", "kid"])
    assert list(added.ids) == ["Kid"]


def test_it_is_saved_and_opened_and_counts_fewer_tokens(tmp_path: Path) -> None:
    model, tokenizer = made()
    changed, extended, _ = add_tokens(model, tokenizer, ["kidney", "nephritis", "kids"])
    save_model(tmp_path, changed, extended, "")
    loaded = load_model(tmp_path)
    assert loaded.tokenizer.digest == extended.digest
    assert loaded.model.config.vocab_size == 16
    lines = ["The kidney's nephritis", "kids"]
    assert count_tokens(tokenizer, lines) == {
        "words": 6, "tokens": 10, "tokens_a_word": 10 / 6, "unknown": 2,
    }  # fmt: skip
    assert count_tokens(extended, lines)["tokens"] == 6
