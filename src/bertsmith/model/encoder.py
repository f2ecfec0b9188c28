"""The BERT encoder: embeddings, post-LayerNorm layers and the pooler, on packed tokens."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bertsmith.common.errors import ModelError
from bertsmith.model.activations import ACTIVATIONS
from bertsmith.model.attention import attend
from bertsmith.model.config import BertConfig
from bertsmith.model.dropout import dropout, dropout_add
from bertsmith.model.linear import Linear
from bertsmith.model.packed import PackedBatch


class Embeddings(nn.Module):
    """Word, position and segment vectors, added and normalised (2018 modeling.py,
    ``embedding_postprocessor``)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.word = nn.Embedding(config.vocab_size, width)
        self.position = nn.Embedding(config.max_position_embeddings, width)
        self.segment = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout_p = config.hidden_dropout_prob

    def forward(self, batch: PackedBatch) -> Tensor:
        """[T, hidden] the vectors of the tokens."""
        x = self.word(batch.token_ids)
        x = x.add_(self.position(batch.positions)).add_(self.segment(batch.segment_ids))
        return dropout(self.norm(x), self.dropout_p, self.training)


class Layer(nn.Module):
    """Self-attention and feed-forward network, each added to its input and then normalised
    (2018 modeling.py, ``transformer_model``)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        # Queries, keys and values in one product: rows 0..h are the queries' weights, and so on.
        self.qkv = Linear(width, 3 * width)
        self.lora: nn.Module | None = None  # an adapter, see model/lora.py
        self.attention_output = Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.feed_forward = Linear(width, config.intermediate_size)
        self.feed_forward_output = Linear(config.intermediate_size, width)
        self.output_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.activation = ACTIVATIONS[config.hidden_act]
        self.hidden_dropout_p = config.hidden_dropout_prob
        self.attention_dropout_p = config.attention_probs_dropout_prob

    def forward(self, x: Tensor, batch: PackedBatch) -> Tensor:
        """[T, hidden] -> [T, hidden]."""
        qkv = self.qkv(x) if self.lora is None else self.qkv(x) + self.lora(x)
        qkv = qkv.view(-1, 3, self.heads, self.head_size)  # [T, 3, H, D]
        p = self.attention_dropout_p if self.training else 0.0
        return self.finish(x, attend(qkv, batch, p).reshape(x.shape))

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        """The layer after attention, token by token: [T, hidden], twice -> [T, hidden]."""
        y = self.attention_output(mixed)
        x = self.attention_norm(dropout_add(y, x, self.hidden_dropout_p, self.training))
        y = self.feed_forward_output(self.activation(self.feed_forward(x)))
        y = dropout_add(y, x, self.hidden_dropout_p, self.training)
        return self.output_norm(y)  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Embeddings, layers and pooler of a BERT; without a pooler where nothing needs one."""

    def __init__(self, config: BertConfig, pooler: bool = True) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        width = config.hidden_size
        self.pooler = Linear(width, width) if pooler else None

    def forward(self, batch: PackedBatch) -> Tensor:
        """[T, hidden] the last layer's vectors.

        Raises:
            InputError: a sequence is longer than the model's positions, or an id unknown to it.
        """
        x: Tensor = self._embed(batch)
        for layer in self.layers:
            x = layer(x, batch)
        return x

    def every_layer(self, batch: PackedBatch) -> list[Tensor]:
        """Layers + 1 times [T, hidden]: the embeddings, then the output of each layer."""
        states = [self._embed(batch)]
        for layer in self.layers:
            states.append(layer(states[-1], batch))
        return states

    def _embed(self, batch: PackedBatch) -> Tensor:
        c = self.config
        batch.check(c.vocab_size, c.max_position_embeddings, c.type_vocab_size)
        return self.embeddings(batch)  # type: ignore[no-any-return]

    def pool(self, hidden: Tensor, batch: PackedBatch) -> Tensor:
        """[T, hidden] -> [B, hidden]: tanh of a dense layer on each sequence's first token."""
        if self.pooler is None:
            raise ModelError("this model has no pooler", mend="use the mean of the tokens")
        first = hidden.index_select(0, batch.offsets[:-1])
        return torch.tanh(self.pooler(first))
