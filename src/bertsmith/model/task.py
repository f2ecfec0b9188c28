"""BERT with the one additional layer of a task (paper, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from bertsmith.model.config import BertConfig
from bertsmith.model.dropout import dropout
from bertsmith.model.encoder import Encoder
from bertsmith.model.initialise import initialise
from bertsmith.model.packed import PackedBatch

Kind = Literal["classes", "labels", "value", "tokens", "span", "choice"]
# The kinds that read the pooled first token of each sequence; the others read every token.
POOLED = ("classes", "labels", "value", "choice")


@dataclass(frozen=True)
class Head:
    """The one additional layer, and how its target and its output look for a feature.

    ==========  ==============================  ==========================================
    kind        target                          output (float32 logits)
    ==========  ==============================  ==========================================
    classes     int, the class                  [n] a score a class
    labels      tuple of n 0/1                  [n] a score a label, each on its own
    value       float                           [1]
    tokens      list of L ints, IGNORE for none [L, n] a score a class for every token
    span        (first, last) token             [L, 2] as first token, as last token
    choice      int, the right sequence         [C] a score for each of the C sequences
    ==========  ==============================  ==========================================

    L counts the tokens of the feature's only sequence, special tokens included; the targets of a
    span are places in it. n is the number of ``labels``, words in the order of the outputs.
    ``features`` names the combination of layers under the BiLSTM of the feature-based way; it is
    empty where the encoder is fine-tuned.
    """

    kind: Kind
    labels: tuple[str, ...] = ()
    features: str = ""

    @property
    def outputs(self) -> int:
        """Width of the layer."""
        return {"value": 1, "span": 2, "choice": 1}.get(self.kind, len(self.labels))


class BertForTask(nn.Module):
    """An encoder with a linear layer over its pooled vectors or over its tokens.

    Dropout stands before the layer, as in the 2018 run_classifier.py, except for answer spans,
    where run_squad.py has none.

    Args:
        config: the shape of the encoder.
        head: what the layer is for.
    """

    def __init__(self, config: BertConfig, head: Head) -> None:
        super().__init__()
        self.config, self.spec = config, head
        self.encoder = Encoder(config, pooler=head.kind in POOLED)
        self.head = nn.Linear(config.hidden_size, head.outputs)
        self._dropout_p = 0.0 if head.kind == "span" else config.hidden_dropout_prob
        initialise(self, config.initializer_range)

    def forward(self, batch: PackedBatch) -> Tensor:
        """[B, n] a row a sequence for the pooled kinds, [T, n] a row a token for the others."""
        x = self.encoder(batch)
        if self.spec.kind in POOLED:
            x = self.encoder.pool(x, batch)
        return self.head(dropout(x, self._dropout_p, self.training))  # type: ignore[no-any-return]
