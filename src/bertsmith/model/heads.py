"""The heads of pre-training: which word was here, and does B follow A?"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parameter import Parameter

from bertsmith.model.activations import ACTIVATIONS
from bertsmith.model.config import BertConfig
from bertsmith.model.linear import Linear, linear
from bertsmith.model.vocabulary_loss import vocabulary_loss


class MaskedLMHead(nn.Module):
    """Scores over the vocabulary (2018 run_pretraining.py, ``get_masked_lm_output``).

    The decoder's matrix is the word embedding itself, handed in at each call: there is no second
    parameter that could come apart from it. A model whose configuration says that the two are not
    tied has a matrix of its own.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.activation = ACTIVATIONS[config.hidden_act]
        own = not config.tie_word_embeddings
        self.decoder = Linear(config.hidden_size, config.vocab_size, bias=False) if own else None
        self.bias = Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Tensor, word_embeddings: Tensor) -> Tensor:
        """[M, hidden], [V, hidden] -> [M, V] logits; M may be 0."""
        return linear(self._transform(hidden), self._matrix(word_embeddings), self.bias)

    def loss(
        self, hidden: Tensor, word_embeddings: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor]:
        """[M, hidden], [V, hidden], [M] ids -> summed cross-entropy, number of right predictions.

        M may be 0: the loss is then exactly 0.
        """
        x, matrix = self._transform(hidden), self._matrix(word_embeddings)
        # In half precision (autocast rounds x) all logits are made float32 before their softmax.
        if x.dtype == matrix.dtype and x.element_size() >= 4 and x.device.type == "cpu":
            return vocabulary_loss(x, matrix, self.bias, labels)
        logits = F.linear(x, matrix, self.bias)
        loss = F.cross_entropy(logits.float(), labels, reduction="sum")
        return loss, (logits.detach().argmax(-1) == labels).sum()

    def _transform(self, hidden: Tensor) -> Tensor:
        return self.norm(self.activation(self.dense(hidden)))  # type: ignore[no-any-return]

    def _matrix(self, word_embeddings: Tensor) -> Tensor:
        return word_embeddings if self.decoder is None else self.decoder.weight


class NextSentenceHead(nn.Module):
    """Two scores a sequence (2018 run_pretraining.py, ``get_next_sentence_output``)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, 2)

    def forward(self, pooled: Tensor) -> Tensor:
        """[B, hidden] -> [B, 2] logits: column 0 for "B follows A", 1 for "B is random"."""
        return self.dense(pooled)  # type: ignore[no-any-return]
