"""An encoder with the next-sentence head and no masked LM: ``BertForNextSentencePrediction``."""

from __future__ import annotations

from bertsmith.model.bare import BareBert
from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder
from bertsmith.model.heads import NextSentenceHead


class NextSentenceBert(BareBert):
    """What is left of a pre-trained model whose masked-LM head was thrown away.

    It is read, converted and exported; no command of ours trains or asks it.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__(Encoder(config))
        self.next_sentence = NextSentenceHead(config)
