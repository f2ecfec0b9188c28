"""Ways to make one vector a token of the states of all layers (paper, table 7)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Combine = Callable[[list[Tensor]], Tensor]

# From layers + 1 states [T, hidden], the embeddings first, to [T, hidden], or to [T, 4 * hidden]
# where four lie side by side. The paper's "weighted sum" has no weights that it tells of.
LAYERS: dict[str, Combine] = {
    "last": lambda states: states[-1],
    "second-to-last": lambda states: states[-2],
    "embeddings": lambda states: states[0],
    "sum-last-four": lambda states: torch.stack(states[-4:]).sum(0),
    "concat-last-four": lambda states: torch.cat(states[-4:], dim=1),
    "sum-all": lambda states: torch.stack(states[1:]).sum(0),
}


def has_layers(name: str, layers: int) -> bool:
    """Whether a model of so many layers has what the combination needs."""
    return name in LAYERS and (layers >= 4 or "four" not in name)


def known_layers(layers: int) -> list[str]:
    """The combinations that a model of so many layers has."""
    return [name for name in LAYERS if has_layers(name, layers)]


def width(name: str, hidden_size: int) -> int:
    """Numbers in a token's vector."""
    return 4 * hidden_size if name == "concat-last-four" else hidden_size
