"""The model at work: packed sequences, finite numbers, and whether blanks are answered."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from bertsmith.checkpoints.architectures import Model, table_of
from bertsmith.checkpoints.checkpoint import Checkpoint
from bertsmith.checkpoints.weights import fill_model
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations
from bertsmith.model.encoder import Encoder
from bertsmith.model.packed import PackedBatch
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.predict.fill import fill_ids
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.tokenizer_files import PREFIX

# Of float32 sums in another order; times the largest number where that is above 1.
PACKED_TOLERANCE = 1e-5
# Entropy over that of equal chances. Random weights give 0.98 and more; whoever knows no more than
# how frequent words are has 0.65 with 30,000 pieces of English, 0.85 with 200.
UNIFORM = 0.97
# Greatest distance (half the sum of differences) of the chances at two blanks. Texts as unlike as
# these have above 0.5 where the model reads them at all.
CONSTANT = 0.05
# Above this share of [UNK], the vocabulary is not of the text's language.
UNKNOWN = 0.2
# Plain sentences; those in the language that the vocabulary fits best are used.
TEXTS = {
    "English": (
        "The capital of France is [MASK].",
        "She opened the [MASK] and went out of the house.",
        "In the year 1990 he was [MASK] by the people of the city.",
    ),
    "Chinese": ("北京是中国的[MASK]都。", "今天天[MASK]很好。", "他在学[MASK]里读书。"),
    "Russian": (
        "Москва — столица [MASK].",
        "Она открыла [MASK] и вышла из дома.",
        "В 1990 году он был [MASK] в этом городе.",
    ),
}


def load(checkpoint: Checkpoint, model: Model) -> Model:
    """Put the weights into a model whose tensors were found right.

    Raises:
        ModelError: a tensor is not what the model takes.
    """
    fill_model(model, checkpoint, table_of(model))
    return model.eval()


@torch.inference_mode()
def packed(encoder: Encoder, tokenizer: Tokenizer) -> Observations:
    """Whether outputs are finite, and those of a text the same whatever it is packed with."""
    texts = [_cut(ids, encoder.config.max_position_embeddings) for ids in texts_for(tokenizer)[1]]
    sequences = [(ids, [0] * len(ids)) for ids in texts]
    together = encoder(PackedBatch.from_sequences(sequences))
    if not torch.isfinite(together).all():
        yield Finding(
            Grade.BROKEN,
            "the outputs of the encoder are not finite numbers, although texts are plain",
            "", "the weights are too large or damaged: take them from their source",
        )  # fmt: skip
        return
    alone = torch.cat([encoder(PackedBatch.from_sequences([one])) for one in sequences])
    difference = float((together - alone).abs().max())
    yield Fact(
        "packing",
        difference,
        "the vectors of a text are the same alone and among others"
        + (f", to {difference:.0e}" if difference else ""),
    )
    allowed = PACKED_TOLERANCE * max(1.0, float(alone.abs().max()))
    if difference > allowed:
        yield Finding(
            Grade.BROKEN,
            f"the vectors of a text change with the texts around it, by up to {difference:.1e}",
            "", "this is a fault of bertsmith or of this machine, not of the model: report it",
        )  # fmt: skip


@torch.inference_mode()
def blanks(model: BertForPreTraining, tokenizer: Tokenizer) -> Observations:
    """What the model says at blanks, and whether it says anything."""
    language, texts = texts_for(tokenizer)
    texts = [_cut(ids, model.config.max_position_embeddings, tokenizer.ids.mask) for ids in texts]
    places = [ids.index(tokenizer.ids.mask) for ids in texts]
    batch = PackedBatch.from_sequences([(ids, [0] * len(ids)) for ids in texts])
    logits, _ = model(batch, torch.tensor(places) + batch.offsets[:-1])  # [M, V]
    chances = logits[:, : tokenizer.size].float().softmax(-1)
    if not torch.isfinite(chances).all():
        yield Finding(
            Grade.BROKEN, "the probabilities at a blank are not finite numbers", "",
            "the weights of the masked-LM head are too large or damaged: take them from their "
            "source",
        )  # fmt: skip
        return
    best = fill_ids(model, tokenizer, [texts[0][1:-1]])[0][0]
    form = ".1%" if best[0].probability > 0.01 else ".3%"
    words = "  ".join(f"{one.token} {one.probability:{form}}" for one in best)
    said = TEXTS[language][0] if language else "random pieces"
    yield Fact(
        "blank",
        {"text": said, "words": {one.token: one.probability for one in best}},
        f"{said}\n{words}",
    )
    entropy, distance = _entropy(chances), _distance(chances)
    if entropy > UNIFORM:
        yield Finding(
            Grade.WARNING,
            f"at a blank, all words are about equally likely ({entropy:.0%} of the greatest "
            "entropy): the masked-LM head, or the model, was not trained",
            "", "bertsmith pretrain CORPUS --from MODEL trains it further",
        )  # fmt: skip
    elif distance < CONSTANT:
        yield Finding(
            Grade.WARNING,
            f"the answers at blanks hardly depend on the text ({distance:.1%} of the probability "
            "moves): the model knows how frequent words are, and no more",
            "", "bertsmith pretrain CORPUS --from MODEL trains it further",
        )  # fmt: skip


def _entropy(chances: Tensor) -> float:
    """Mean entropy of the rows, as a share of that of equal chances."""
    each = -(chances * chances.clamp_min(1e-30).log()).sum(-1)
    return float(each.mean()) / math.log(max(2, chances.shape[-1]))


def _distance(chances: Tensor) -> float:
    """Greatest total variation between two rows."""
    return float(torch.cdist(chances, chances, p=1).max()) / 2


def texts_for(tokenizer: Tokenizer) -> tuple[str | None, list[list[int]]]:
    """Texts with a blank each, with control tokens around, and their language.

    Raises:
        InputError: see :class:`~bertsmith.text.tokenizer.Tokenizer`.
    """
    special = tokenizer.ids
    best: tuple[tuple[bool, float], str, list[list[int]]] | None = None
    for language, texts in TEXTS.items():
        found = [tokenizer.encode(text, blanks=True).ids for text in texts]
        flat = [token for ids in found for token in ids]
        unknown = flat.count(special.unk) / len(flat)
        # A vocabulary has the words of its own language whole.
        cut = sum(tokenizer.tokens[token].startswith(PREFIX) for token in flat) / len(flat)
        key = (unknown > UNKNOWN, unknown + cut)
        if best is None or key < best[0]:
            best = key, language, found
    assert best is not None
    (foreign, _), language, found = best
    if foreign:
        found = _random_pieces(tokenizer)
    return None if foreign else language, [[special.cls, *ids, special.sep] for ids in found]


def _random_pieces(tokenizer: Tokenizer) -> list[list[int]]:
    usual = [n for n in range(tokenizer.size) if n not in tokenizer.special_ids]
    usual = usual or [tokenizer.ids.unk]
    generator = torch.Generator().manual_seed(0)
    texts = []
    for length in (4, 7, 12):
        picks = torch.randint(len(usual), (length,), generator=generator).tolist()
        ids = [usual[one] for one in picks]
        texts.append([*ids[: length // 2], tokenizer.ids.mask, *ids[length // 2 :]])
    return texts


def _cut(ids: Sequence[int], positions: int, keep: int | None = None) -> list[int]:
    """At most ``positions`` of the ids; where ``keep`` is given, it is among them."""
    first = 0 if keep is None else max(0, min(ids.index(keep) - 1, len(ids) - positions))
    return list(ids[first : first + positions])
