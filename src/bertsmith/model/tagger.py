"""The feature-based way: a frozen encoder under a BiLSTM (paper, section 5.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from bertsmith.common.errors import ModelError
from bertsmith.model.config import BertConfig
from bertsmith.model.dropout import dropout
from bertsmith.model.initialise import initialise
from bertsmith.model.layers import LAYERS, has_layers, known_layers, width
from bertsmith.model.packed import PackedBatch
from bertsmith.model.task import BertForTask, Head

_SIZE, _DEPTH = 768, 2  # of the paper's BiLSTM, in each direction


class FeatureTagger(BertForTask):
    """A two-layer BiLSTM of 768 numbers a direction and a linear layer, over vectors of tokens that
    do not learn.

    The encoder is always in evaluation mode and gets no gradient.

    Raises:
        ModelError: the head names no combination of layers that the model has, or is not one of
            tokens.
    """

    def __init__(self, config: BertConfig, head: Head) -> None:
        super().__init__(config, head)
        if head.kind != "tokens" or not has_layers(head.features, config.num_hidden_layers):
            there = ", ".join(known_layers(config.num_hidden_layers))
            raise ModelError(
                f"a model of {config.num_hidden_layers} layers has no such features for tagging",
                value=head.features,
                mend=f"it has: {there}",
            )
        self.lstm = nn.LSTM(
            width(head.features, config.hidden_size), _SIZE, _DEPTH, bidirectional=True
        )
        self.head = nn.Linear(2 * _SIZE, head.outputs)
        initialise(self.head, config.initializer_range)
        self.encoder.requires_grad_(False)

    def train(self, mode: bool = True) -> FeatureTagger:
        """Training mode for what is above the encoder."""
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, batch: PackedBatch) -> Tensor:
        """[T, n] scores of the classes for every token."""
        with torch.no_grad():
            states = self.encoder.every_layer(batch)
            x = LAYERS[self.spec.features](states)  # [T, width]
        x = dropout(x, self._dropout_p, self.training)
        parts = pack_sequence(list(torch.split(x, batch.lengths.tolist())), enforce_sorted=False)
        found, _ = self.lstm(parts)
        x = torch.cat(unpack_sequence(found))  # [T, 2 * 768]
        return self.head(dropout(x, self._dropout_p, self.training))  # type: ignore[no-any-return]


def task_model(config: BertConfig, head: Head) -> BertForTask:
    """The model of a head: fine-tuned, or feature-based where the head names features."""
    return FeatureTagger(config, head) if head.features else BertForTask(config, head)
