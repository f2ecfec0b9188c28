import torch
import transformers

from bertsmith.checkpoints.names import from_hugging_face, pretraining_table, to_hugging_face
from bertsmith.model.pretraining import BertForPreTraining


def test_table_covers_both_sides_once(model: BertForPreTraining) -> None:
    table = pretraining_table(model.config.num_hidden_layers)
    assert set(table) == {name for name, _ in model.named_parameters()}
    theirs = transformers.BertForPreTraining(transformers.BertConfig(**model.config.to_mapping()))
    names = [name for parts in table.values() for name in parts]
    assert len(names) == len(set(names))
    assert set(names) == {name for name, _ in theirs.named_parameters()}


def test_there_and_back_is_bit_exact(model: BertForPreTraining) -> None:
    layers = model.config.num_hidden_layers
    table = pretraining_table(layers)
    state = model.state_dict()
    back = from_hugging_face(to_hugging_face(state, table), table)
    assert list(back) == list(table)
    for name, tensor in state.items():
        assert torch.equal(back[name], tensor)


def test_a_parameter_with_an_absent_part_is_left_out(model: BertForPreTraining) -> None:
    named = to_hugging_face(model.state_dict(), pretraining_table(2))
    del named["bert.encoder.layer.1.attention.self.key.bias"]
    back = from_hugging_face(named, pretraining_table(2))
    assert set(model.state_dict()) - set(back) == {"encoder.layers.1.qkv.bias"}
