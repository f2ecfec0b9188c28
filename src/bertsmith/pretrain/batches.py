"""Pre-training batch number n, as a function of corpus, seed and n alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from bertsmith.common.randomness import BATCH, stream
from bertsmith.corpus.corpus import Corpus
from bertsmith.model.packed import PackedBatch
from bertsmith.pretrain.masking import Masking, Vocabulary, choose, hide
from bertsmith.pretrain.pairs import Pair, PairCounts, PairMaker
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.pretrain.tiles import SPECIALS, Tiling
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.train.processes import bounds


@dataclass(frozen=True)
class PretrainingBatch:
    """A batch, or a micro-batch of it.

    Attributes:
        packed: the input, tokens already masked.
        masked_positions: ``[M]`` int64, where to predict, sorted.
        masked_labels: ``[M]`` int64, the ids that stood there.
        next_labels: ``[B]`` int64, 0 where B is the continuation of A, 1 where it is random.
        pairs: whether the next-sentence labels mean anything.
        pair_counts: what was cut to make the pairs (of the whole batch).
    """

    packed: PackedBatch
    masked_positions: torch.Tensor
    masked_labels: torch.Tensor
    next_labels: torch.Tensor
    pairs: bool
    pair_counts: PairCounts

    @property
    def tokens(self) -> int:
        """Tokens in the batch, special tokens counted in."""
        return int(self.packed.token_ids.numel())

    @property
    def targets(self) -> dict[str, int]:
        """Number of targets of each loss."""
        result = {"masked_lm": int(self.masked_labels.numel())}
        if self.pairs:
            result["next_sentence"] = int(self.next_labels.numel())
        return result

    @property
    def counts(self) -> dict[str, int]:
        """What was cut to make the pairs, by name."""
        return self.pair_counts.as_dict()

    @property
    def spare(self) -> bool:
        """Every share has sequences: a batch has at least as many as there are processes."""
        return False

    def micro_batches(self, most_tokens: int) -> Iterator[PretrainingBatch]:
        """The batch in pieces of whole sequences, each of at most ``most_tokens`` tokens.

        A sequence longer than that makes a piece of its own.
        """
        offsets = self.packed.offsets.tolist()
        start = 0
        while start < len(offsets) - 1:
            stop = start + 1
            while stop < len(offsets) - 1 and offsets[stop + 1] - offsets[start] <= most_tokens:
                stop += 1
            yield self._slice(start, stop, offsets)
            start = stop

    def _slice(self, start: int, stop: int, offsets: list[int]) -> PretrainingBatch:
        if start == 0 and stop == len(offsets) - 1:
            return self
        bounds = torch.tensor([offsets[start], offsets[stop]])
        low, high = torch.searchsorted(self.masked_positions, bounds).tolist()
        return PretrainingBatch(
            self.packed.slice_sequences(start, stop),
            self.masked_positions[low:high] - offsets[start],
            self.masked_labels[low:high],
            self.next_labels[start:stop],
            self.pairs,
            self.pair_counts,
        )


class Batches:
    """The batches of one phase of a run.

    Args:
        corpus: the corpus part to draw from.
        tokenizer: its tokenizer.
        batch_size: sequences a batch.
        max_length: tokens a sequence at most, special tokens included.
        short_probability: share of examples with a shorter target length.
        masking: the masking rule.
        pairs: whether half of the pairs are random ones; needs two documents.
        seed: the seed of the run.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokenizer: Tokenizer,
        *,
        batch_size: int,
        max_length: int,
        short_probability: float,
        masking: Masking,
        pairs: bool,
        seed: int,
    ) -> None:
        self.tiling = Tiling(corpus, max_length, short_probability, pairs, seed)
        self._maker = PairMaker(corpus, max_length - SPECIALS, pairs)
        self._masking, self._batch_size, self._pairs = masking, batch_size, pairs
        self._seed, self._max_length = seed, max_length
        self._ids = tokenizer.ids
        special = np.zeros(tokenizer.size, dtype=bool)
        special[list(tokenizer.special_ids)] = True
        self._vocabulary = Vocabulary(self._ids.mask, special, tokenizer.is_continuation)

    @classmethod
    def of(
        cls,
        settings: PretrainSettings,
        corpus: Corpus,
        tokenizer: Tokenizer,
        length: int,
        pairs: bool,
    ) -> Batches:
        """The batches of a run with these settings, in its phase of that length."""
        return cls(
            corpus,
            tokenizer,
            batch_size=settings.batch_size,
            max_length=length,
            short_probability=settings.short_probability,
            masking=settings.masking,
            pairs=pairs,
            seed=settings.seed,
        )

    @property
    def steps_an_epoch(self) -> float:
        """Steps that it takes to see all the text once."""
        return len(self.tiling) / self._batch_size

    def batch(self, step: int, share: int = 0, shares: int = 1) -> PretrainingBatch:
        """Batch number ``step``, counted from 0, or one of its shares.

        Args:
            step: number of the batch.
            share: which share, counted from 0.
            shares: how many there are; neighbouring sequences, in numbers that differ by one at
                most. A share is made without the others: every sequence has random numbers of its
                own, and the whole batch is the shares end to end.
        """
        return self._assemble(*self._make(step, share, shares))

    def documents(self, step: int) -> list[tuple[int, int | None]]:
        """Numbers of the documents that A and B of each sequence of a batch are from.

        The second is None where there is no B.
        """
        pairs, _, _ = self._make(step, 0, 1)
        return [pair.documents for pair in pairs]

    def _make(
        self, step: int, share: int, shares: int
    ) -> tuple[list[Pair], list[np.random.Generator], PairCounts]:
        first, stop = bounds(self._batch_size, share, shares)
        examples = range(step * self._batch_size + first, step * self._batch_size + stop)
        rngs = [stream(self._seed, BATCH, one, self._max_length) for one in examples]
        counts = PairCounts()
        tiles = self.tiling.tiles(examples.start, len(examples))
        pairs = [self._maker.make(*one, counts) for one in zip(tiles, rngs, strict=True)]
        return pairs, rngs, counts

    def _assemble(
        self, pairs: list[Pair], rngs: list[np.random.Generator], counts: PairCounts
    ) -> PretrainingBatch:
        token_ids, segment_ids, lengths = pack(pairs, self._ids.cls, self._ids.sep)
        positions = choose(token_ids, lengths, self._masking, self._vocabulary, rngs)
        hidden = hide(token_ids, lengths, positions, self._masking, self._vocabulary, rngs)
        return PretrainingBatch(
            PackedBatch.from_arrays(hidden, segment_ids, lengths),
            torch.from_numpy(positions),
            torch.from_numpy(token_ids[positions]),
            torch.tensor([pair.label for pair in pairs]),
            self._pairs,
            counts,
        )


def pack(pairs: list[Pair], cls: int, sep: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``[CLS] A [SEP] B [SEP]`` of all pairs, end to end.

    Returns:
        Token ids ``[T]``, segment ids ``[T]`` and lengths ``[B]``, all int64. A pair whose B is
        empty becomes ``[CLS] A [SEP]``.
    """
    lengths = np.array(
        [len(pair.a) + len(pair.b) + 2 + (len(pair.b) > 0) for pair in pairs], dtype=np.int64
    )
    token_ids = np.empty(int(lengths.sum()), dtype=np.int64)
    segment_ids = np.zeros(len(token_ids), dtype=np.int64)
    at = 0
    for pair in pairs:
        a_end = at + 1 + len(pair.a)
        token_ids[at] = cls
        token_ids[at + 1 : a_end] = pair.a
        token_ids[a_end] = sep
        at = a_end + 1
        if len(pair.b):
            b_end = at + len(pair.b)
            token_ids[at:b_end] = pair.b
            token_ids[b_end] = sep
            segment_ids[at : b_end + 1] = 1
            at = b_end + 1
    return token_ids, segment_ids, lengths
