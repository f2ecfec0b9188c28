"""How many tokens can go through a model at once."""

from __future__ import annotations

import os

import torch

from bertsmith.model.config import BertConfig
from bertsmith.train.processes import local_size

_LEAST, _MOST = 2048, 65536
_SHARE = 0.25  # of the machine's memory, for the activations of one micro-batch


def choose_micro_tokens(config: BertConfig, length: int) -> int:
    """Most tokens a micro-batch may have so that its activations fit a quarter of the memory.

    Args:
        config: the model.
        length: longest sequence, in tokens.
    """
    if torch.cuda.is_available():
        memory = torch.cuda.mem_get_info()[0]
    else:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // local_size()
    fits = int(memory * _SHARE / activation_bytes(config, length))
    return max(_LEAST, min(_MOST, fits))


def activation_bytes(config: BertConfig, length: int) -> int:
    """Bytes of float32 activations kept for the backward pass, a token.

    Counted from the tensors of a layer: queries, keys, values, context, two residual sums, two
    normalised outputs with their dropout masks (10 hidden), feed-forward before and after its
    activation (2 intermediate), scores, probabilities and dropout mask (3 x heads x length); and
    the masked-LM logits, their softmax and its gradient for 15 % of the tokens.
    """
    layer = (
        10 * config.hidden_size
        + 2 * config.intermediate_size
        + 3 * config.num_attention_heads * length
    )
    head = 0.15 * 3 * config.vocab_size
    return int(4 * (config.num_hidden_layers * layer + head))
