"""The configuration: what kind of BERT it describes."""

from __future__ import annotations

from bertsmith.doctor.chart import Fact, Finding, Grade, Observations, counted
from bertsmith.model.config import PRESETS, BertConfig, preset

_EPS = 1e-12  # modeling.py of 2018, and every BERT published with it
_ACTIVATIONS = {
    "gelu": "exact GELU",
    "gelu_new": "GELU by its tanh approximation",
    "gelu_pytorch_tanh": "GELU by its tanh approximation",
}


def shape(config: BertConfig, where: str) -> Observations:
    """Sizes, activation and constants; ``where`` is the file's name, for findings."""
    names = config.extra.get("architectures")
    name = str(names[0]) if isinstance(names, list | tuple) and names else ""
    size = {
        "layers": config.num_hidden_layers,
        "width": config.hidden_size,
        "heads": config.num_attention_heads,
        "feed_forward": config.intermediate_size,
    }
    same = _preset(config)
    yield Fact("class", name or None, name or "none named")
    yield Fact(
        "size",
        {**size, "preset": same},
        f"{counted(size['layers'], 'layer')} of {size['width']:,}, "
        f"{counted(size['heads'], 'head')}, feed-forward {size['feed_forward']:,}"
        + (f" (BERT {same})" if same else ""),
    )
    form = _ACTIVATIONS.get(config.hidden_act)
    yield Fact(
        "activation",
        config.hidden_act,
        f"{form} ({config.hidden_act})" if form else config.hidden_act,
    )
    yield Fact("LayerNorm epsilon", config.layer_norm_eps)
    yield from _epsilon(config.layer_norm_eps, where)
    spread = config.initializer_range
    if not isinstance(spread, int | float) or isinstance(spread, bool) or spread <= 0:
        yield Finding(Grade.BROKEN, f"initializer_range takes a number above 0, not {spread!r}",
                      where, 'write "initializer_range": 0.02')  # fmt: skip


def _epsilon(eps: object, where: str) -> Observations:
    if not isinstance(eps, int | float) or isinstance(eps, bool) or not 0 < eps < 1:
        yield Finding(
            Grade.BROKEN, f"layer_norm_eps takes a small number above 0, not {eps!r}",
            where, f'write "layer_norm_eps": {_EPS}',
        )  # fmt: skip
    elif eps != _EPS:
        yield Finding(
            Grade.NOTE,
            f"layer_norm_eps is {eps}, while the BERTs of 2018 have {_EPS}: right only if the "
            "model was trained so",
            where,
        )


def _preset(config: BertConfig) -> str | None:
    """The published size that this one is, whatever its vocabulary."""
    for name in PRESETS:
        known = preset(name, config.vocab_size)
        sizes = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size")
        if all(getattr(known, one) == getattr(config, one) for one in sizes):
            return name
    return None
