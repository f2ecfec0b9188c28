import json
from pathlib import Path

import pytest
import torch

from bertsmith.common.errors import InputError
from bertsmith.model.config import BertConfig
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.predict import fill as fill_module
from bertsmith.predict.fill import fill, fill_ids
from bertsmith.text.tokenizer import Tokenizer

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", "."]
LINES = ["The [MASK] sat on the [MASK].", "[MASK]", "the cat [MASK] [MASK] the mat."]


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS) + "\n")
    return Tokenizer.load(tmp_path)


@pytest.fixture
def model() -> BertForPreTraining:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=12, initializer_range=0.5,
    )  # fmt: skip
    return BertForPreTraining(config)


def test_blanks_are_ranked_with_the_model_s_probabilities(
    model: BertForPreTraining, tokenizer: Tokenizer
) -> None:
    filled = fill(model, tokenizer, LINES, top_k=3)
    assert [one.line for one in filled] == [1, 2, 3]
    assert [len(one.blanks) for one in filled] == [2, 1, 2]
    assert model.training
    ids = [2, 5, 4, 7, 8, 5, 4, 10, 3]
    model.eval()
    with torch.inference_mode():
        batch = PackedBatch.from_sequences([(ids, [0] * len(ids))])
        chances = model(batch, torch.tensor([2, 6]))[0].softmax(-1)
    for row, blank in zip(chances, filled[0].blanks, strict=True):
        best = sorted(range(5, 11), key=lambda token: -row[token])[:3]
        assert [answer.id for answer in blank] == best
        assert [answer.token for answer in blank] == [TOKENS[token] for token in best]
        for answer in blank:
            assert answer.probability == pytest.approx(row[answer.id].item(), abs=1e-6)


def test_batches_do_not_change_the_answers(
    model: BertForPreTraining, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = fill(model, tokenizer, LINES * 3)
    monkeypatch.setattr(fill_module, "_BLANKS", 1)
    alone = fill(model, tokenizer, LINES * 3)
    for a, b in zip(together, alone, strict=True):
        assert (a.line, a.text) == (b.line, b.text)
        for left, right in zip(a.blanks, b.blanks, strict=True):
            assert [one.probability for one in left] == pytest.approx(
                [one.probability for one in right], abs=1e-5
            )


def test_never_more_answers_than_tokens(model: BertForPreTraining, tokenizer: Tokenizer) -> None:
    (only,) = fill(model, tokenizer, ["[MASK]"], top_k=1000)
    assert sorted(answer.id for answer in only.blanks[0]) == list(range(5, 11))


def test_json_and_text(model: BertForPreTraining, tokenizer: Tokenizer) -> None:
    two, one = fill(model, tokenizer, LINES[:2], top_k=2)
    value = json.loads(json.dumps(two.as_dict()))
    assert value["line"] == 1
    assert set(value["blanks"][1][0]) == {"token", "probability", "id"}
    assert two.as_text().splitlines()[0] == LINES[0]
    assert two.as_text().splitlines()[2].startswith("  [MASK] 2: ")
    assert len(one.as_text().splitlines()) == 2


def test_ids_in_place_of_text(model: BertForPreTraining, tokenizer: Tokenizer) -> None:
    (from_text,) = fill(model, tokenizer, ["the [MASK]"])
    assert fill_ids(model, tokenizer, [[5, 4]]) == [from_text.blanks]
    assert fill_ids(model, tokenizer, []) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [("the cat", "line 2: there is no blank"), ("[MASK] " * 11, "line 2: the line has 13 tokens")],
)
def test_lines_that_can_not_be_filled(
    model: BertForPreTraining, tokenizer: Tokenizer, line: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as error:
        fill(model, tokenizer, ["[MASK]", line])
    assert error.value.mend


def test_top_k_below_1(model: BertForPreTraining, tokenizer: Tokenizer) -> None:
    with pytest.raises(InputError, match="at least one answer"):
        fill(model, tokenizer, ["[MASK]"], top_k=0)
