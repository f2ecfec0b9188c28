"""The heads of pre-training: which word was here, and does B follow A?"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parameter import Parameter

from bertsmith.model.activations import ACTIVATIONS
from bertsmith.model.config import BertConfig


class MaskedLMHead(nn.Module):
    """Scores over the vocabulary (2018 run_pretraining.py, ``get_masked_lm_output``).

    The decoder's matrix is the word embedding itself, handed in at each call: there is no second
    parameter that could come apart from it. A model whose configuration says that the two are not
    tied has a matrix of its own.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.activation = ACTIVATIONS[config.hidden_act]
        own = not config.tie_word_embeddings
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size, bias=False) if own else None
        self.bias = Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Tensor, word_embeddings: Tensor) -> Tensor:
        """[M, hidden], [V, hidden] -> [M, V] logits; M may be 0."""
        matrix = word_embeddings if self.decoder is None else self.decoder.weight
        return F.linear(self.norm(self.activation(self.dense(hidden))), matrix, self.bias)


class NextSentenceHead(nn.Module):
    """Two scores a sequence (2018 run_pretraining.py, ``get_next_sentence_output``)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, 2)

    def forward(self, pooled: Tensor) -> Tensor:
        """[B, hidden] -> [B, 2] logits: column 0 for "B follows A", 1 for "B is random"."""
        return self.dense(pooled)  # type: ignore[no-any-return]
