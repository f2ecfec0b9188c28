from pathlib import Path

import numpy as np
import pytest
import transformers
from tests.checkpoints.tensorflow.made import bundle
from tests.data import data

from bertsmith.checkpoints.tensorflow import (
    TensorBundle,
    find_prefix,
    to_google_names,
    to_hugging_face_names,
    write_bundle,
)
from bertsmith.checkpoints.tensorflow.names import RULES
from bertsmith.common.errors import ModelError

CONFIG = transformers.BertConfig(
    vocab_size=15, hidden_size=4, num_hidden_layers=12, num_attention_heads=4, intermediate_size=16,
    max_position_embeddings=16, num_labels=3,
)  # fmt: skip
CLASSES = (
    transformers.BertForPreTraining,
    transformers.BertForSequenceClassification,
    transformers.BertForQuestionAnswering,
)


def tiny() -> TensorBundle:
    prefix = find_prefix(data("checkpoints", "google-tf-tiny"))
    assert prefix is not None
    return TensorBundle(prefix)


def test_each_name_is_in_the_table_once() -> None:
    assert len({rule.google for rule in RULES}) == len(RULES)
    assert len({rule.hugging_face for rule in RULES}) == len(RULES)


def test_a_real_checkpoint_has_all_that_transformers_expects() -> None:
    """Names and shapes of the class of all heads; kernels are not square, so turned ones show."""
    tensors, renamed, skipped = to_hugging_face_names(tiny())
    config = transformers.BertConfig.from_json_file(
        data("checkpoints", "google-tf-tiny") / "bert_config.json"
    )
    theirs = transformers.BertForPreTraining(config)
    assert {name: tensor.shape for name, tensor in tensors.items()} == {
        name: tuple(tensor.shape) for name, tensor in theirs.named_parameters()
    }
    assert set(renamed.values()) == set(tensors)
    assert set(skipped.values()) == {"state of the optimizer", "a counter of steps"}
    assert len(renamed) == 46
    assert len(skipped) == 93
    assert all(tensor.flags.c_contiguous for tensor in tensors.values())


def test_kernels_are_transposed_and_nothing_else() -> None:
    stored = tiny()
    tensors, renamed, _ = to_hugging_face_names(stored)
    for name, new in renamed.items():
        wanted = stored.read(name)
        wanted = wanted.T if name.endswith("/kernel") else wanted
        assert np.array_equal(tensors[new], wanted)


def test_a_real_checkpoint_there_and_back(tmp_path: Path) -> None:
    stored = tiny()
    tensors, renamed, _ = to_hugging_face_names(stored)
    write_bundle(tmp_path / "bert_model.ckpt", to_google_names(tensors))
    again = TensorBundle(tmp_path / "bert_model.ckpt")
    assert set(again.entries) == set(renamed)
    for name in again.entries:
        a, b = again.read(name), stored.read(name)
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_all_parameters_of_a_class_there_and_back(kind: type, tmp_path: Path) -> None:
    named = {name: tensor.detach().numpy() for name, tensor in kind(CONFIG).named_parameters()}
    write_bundle(tmp_path / "m", to_google_names(named))
    tensors, renamed, skipped = to_hugging_face_names(TensorBundle(tmp_path / "m"))
    assert set(tensors) == set(named)
    assert len(renamed) == len(named)
    assert not skipped
    assert all(np.array_equal(tensors[name], named[name]) for name in named)


def test_heads_have_the_names_and_shapes_of_the_2018_code() -> None:
    weights = np.zeros((3, 4), np.float32)
    named = to_google_names({
        "classifier.weight": weights,
        "classifier.bias": weights[:, 0],
        "qa_outputs.weight": weights[:2],
        "cls.seq_relationship.weight": weights[:2],
        "cls.predictions.bias": weights[:, 0],
        "bert.encoder.layer.11.intermediate.dense.weight": weights,
    })  # fmt: skip
    assert {name: tensor.shape for name, tensor in named.items()} == {
        "output_weights": (3, 4),
        "output_bias": (3,),
        "cls/squad/output_weights": (2, 4),
        "cls/seq_relationship/output_weights": (2, 4),
        "cls/predictions/output_bias": (3,),
        "bert/encoder/layer_11/intermediate/dense/kernel": (4, 3),
    }


@pytest.mark.parametrize(
    "name",
    [
        "bert/pooler/dense/kernel/adam_m",
        "bert/pooler/dense/kernel/adam_v",
        "bert/pooler/dense/kernel/Adam",
        "bert/pooler/dense/kernel/Adam_1",
        "bert/pooler/dense/kernel/lamb_m",
        "bert/pooler/dense/kernel/LAMB/v",
        "bert/pooler/dense/kernel/LAMBOptimizer_1",
        "bert/pooler/dense/kernel/AdamWeightDecayOptimizer",
        "bert/pooler/dense/kernel/AdamWeightDecayOptimizer_1",
        "beta1_power",
        "training/beta2_power",
        "global_step",
    ],
)
def test_what_is_no_weight_is_skipped_with_a_reason(name: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", {name: np.zeros(2, np.float32)})
    tensors, renamed, skipped = to_hugging_face_names(TensorBundle(tmp_path / "m"))
    assert not tensors
    assert not renamed
    reason = "a counter of steps" if name == "global_step" else "state of the optimizer"
    assert skipped == {name: reason}


@pytest.mark.parametrize(
    "name",
    [
        "bert/encoder/layer_*/output/dense/kernel",
        "bert/encoder/layer_01/output/dense/kernel",
        "bert/encoder/layer_x/output/dense/kernel",
        "bert/encoder/layer_1/output/dense/kernel/more",
        "bert/pooler/dense/kernel/ExponentialMovingAverage",
        "module/bert/pooler/dense/kernel",
        "cls/output_weights",
        "loss/output_bias",
        "Adam",
    ],
)
def test_an_unknown_variable_keeps_its_name(name: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", {name: np.ones((1, 2), np.float32)})
    tensors, renamed, skipped = to_hugging_face_names(TensorBundle(tmp_path / "m"))
    assert list(tensors) == [name]
    assert tensors[name].shape == (1, 2)
    assert not renamed
    assert not skipped


def test_text_is_no_weight(tmp_path: Path) -> None:
    prefix = bundle(tmp_path, {b"": b"\x08\x01", b"vocabulary": b"\x08\x07"})
    _, _, skipped = to_hugging_face_names(TensorBundle(prefix))
    assert skipped == {"vocabulary": "text, not numbers"}


def test_a_checkpoint_of_objects_is_named(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", {"model/w/.ATTRIBUTES/VARIABLE_VALUE": np.zeros(2)})
    with pytest.raises(ModelError, match="one of objects, as TensorFlow 2 saves them"):
        to_hugging_face_names(TensorBundle(tmp_path / "m"))


@pytest.mark.parametrize(
    "name",
    [
        "cls.predictions.decoder.weight",
        "bert.embeddings.position_ids",
        "bert.encoder.layer.*.output.dense.weight",
        "lstm.weight_ih_l0",
        "classifier.dense.weight",
    ],
)
def test_what_the_2018_code_has_no_variable_for(name: str) -> None:
    with pytest.raises(ModelError, match="no variable for this tensor") as caught:
        to_google_names({name: np.zeros(2)})
    assert caught.value.value == name
