"""config.json: any content is a shape that can be written again, or refused by name."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bertsmith.model.config import BertConfig, parameter_count
from tests.fuzz.inputs import answer, damaged, fuzzed, odd_json

VALID = BertConfig(
    vocab_size=15, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=8, max_position_embeddings=8, extra={"id2label": {"0": "a"}, "x": [1.5]},
).to_mapping()  # fmt: skip
SMALL = odd_json(VALID)


@fuzzed(250)
@given(st.one_of(SMALL, damaged(json.dumps(VALID).encode())))
def test_config(tmp_path_factory: object, data: bytes) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "config.json"  # type: ignore[attr-defined]
    file.write_bytes(data)
    config = answer(lambda: BertConfig.from_json(file), file)
    if config is None:
        return
    assert parameter_count(config) <= 1e11
    said = json.loads(data)
    assert config.hidden_size == said.get("hidden_size", 768)
    config.to_json(file)
    again = BertConfig.from_json(file)
    assert again == config
    assert {**again.extra, **config.extra} == again.extra
