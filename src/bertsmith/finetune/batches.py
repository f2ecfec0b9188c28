"""Fine-tuning batch number n, as a function of features, seed and n alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bertsmith.common.randomness import ORDER, stream
from bertsmith.tasks.batch import TaskBatch
from bertsmith.tasks.task import Feature, Head
from bertsmith.train.processes import bounds


class FeatureBatches:
    """The batches of a run: every epoch goes once over all features, in an order of its own.

    Orders are plainly random, as in the 2018 code: packing makes sorting by length needless, so
    that no batch is biased towards a length.

    Args:
        features: those to train on; all have targets.
        head: what the targets are for.
        batch_size: features a batch; the last one of an epoch has what is left.
        seed: seed of the orders.
    """

    def __init__(self, features: Sequence[Feature], head: Head, batch_size: int, seed: int) -> None:
        self._features, self._head = features, head
        self._batch_size, self._seed = batch_size, seed
        self.steps_an_epoch = math.ceil(len(features) / batch_size)
        self._order = lru_cache(maxsize=2)(self._compute_order)

    def batch(self, step: int, share: int = 0, shares: int = 1) -> TaskBatch:
        """Batch number ``step``, counted from 0, or one of its shares.

        A share is a run of neighbours; an empty one, of a last batch that does not go round, is
        spare.
        """
        epoch, place = divmod(step, self.steps_an_epoch)
        start = place * self._batch_size
        numbers = self._order(epoch)[start : start + self._batch_size]
        first, stop = bounds(len(numbers), share, shares)
        some = numbers[first:stop] if first < stop else numbers[:1]
        features = [self._features[one] for one in some.tolist()]
        return TaskBatch.of(features, self._head, spare=first == stop)

    def _compute_order(self, epoch: int) -> np.ndarray:
        return stream(self._seed, ORDER, epoch).permutation(len(self._features))
