"""An encoder by itself, without the head of any task."""

from __future__ import annotations

from torch import nn

from bertsmith.model.config import BertConfig
from bertsmith.model.encoder import Encoder


class BareBert(nn.Module):
    """Holds an encoder under the name that it has inside the other models.

    Args:
        encoder: the encoder; it may have no pooler.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.config: BertConfig = encoder.config
        self.encoder = encoder
