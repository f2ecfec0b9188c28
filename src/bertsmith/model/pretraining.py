"""BERT with its pre-training heads."""

from __future__ import annotations

from torch import Tensor, nn

from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder
from bertsmith.model.heads import MaskedLMHead, NextSentenceHead
from bertsmith.model.initialise import initialise
from bertsmith.model.packed import PackedBatch


class BertForPreTraining(nn.Module):
    """The model of Devlin et al. 2018, section 3.1, on packed batches.

    New weights are those of :func:`~bertsmith.model.initialise.initialise`.

    Args:
        config: the shape of the model.
        next_sentence: False for a model that is not trained on sentence pairs: it has neither the
            head nor the pooler, which would stay at random.
    """

    def __init__(self, config: BertConfig, next_sentence: bool = True) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config, pooler=next_sentence)
        self.masked_lm = MaskedLMHead(config)
        self.next_sentence = NextSentenceHead(config) if next_sentence else None
        initialise(self, config.initializer_range)

    def forward(self, batch: PackedBatch, masked_positions: Tensor) -> tuple[Tensor, Tensor | None]:
        """Score the masked tokens and the sentence pairs.

        Args:
            batch: B sequences with T tokens.
            masked_positions: [M] int64, places in the packed tokens (0 to T - 1); M may be 0.

        Returns:
            Masked-LM logits [M, V] and next-sentence logits [B, 2], None without that head.

        Raises:
            InputError: a sequence is too long, or an id is unknown to the model.
        """
        hidden = self.encoder(batch)  # [T, hidden]
        masked = hidden.index_select(0, masked_positions)  # [M, hidden]
        words = self.masked_lm(masked, self.encoder.embeddings.word.weight)  # [M, V]
        if self.next_sentence is None:
            return words, None
        return words, self.next_sentence(self.encoder.pool(hidden, batch))

    def losses(
        self, batch: PackedBatch, masked_positions: Tensor, masked_labels: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """What training needs, without keeping the logits of the vocabulary.

        Args:
            batch: B sequences with T tokens.
            masked_positions: [M] int64, places in the packed tokens.
            masked_labels: [M] int64, the ids that stood there.

        Returns:
            The summed masked-LM loss, its number of right predictions, and next-sentence logits
            [B, 2], None without that head.
        """
        hidden = self.encoder(batch)
        masked = hidden.index_select(0, masked_positions)
        words = self.encoder.embeddings.word.weight
        loss, correct = self.masked_lm.loss(masked, words, masked_labels)
        if self.next_sentence is None:
            return loss, correct, None
        return loss, correct, self.next_sentence(self.encoder.pool(hidden, batch))

    def encode(self, batch: PackedBatch) -> Tensor:
        """[T, hidden] the vectors of the last layer."""
        return self.encoder(batch)  # type: ignore[no-any-return]
