"""An exported graph in ONNX Runtime, fed as others feed it: with padding and a mask."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from bertsmith.export.graph import INPUTS

Pair = tuple[Sequence[int], Sequence[int]]  # ids and segments of a sequence
Feed = dict[str, np.ndarray]


class OnnxSession:
    """A graph on the CPU.

    Args:
        file: the graph.
        threads: threads of one operator, 0 for the runtime's own choice.
    """

    def __init__(self, file: Path, threads: int = 0) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        self.outputs = [one.name for one in self._session.get_outputs()]

    def run(self, feed: Feed) -> dict[str, np.ndarray]:
        """The outputs by name."""
        return dict(zip(self.outputs, self._session.run(None, feed), strict=True))


def padded(sequences: Sequence[Pair], choices: int = 0, pad: int = 0) -> Feed:
    """Sequences as a rectangle.

    Args:
        sequences: ids and segments of each.
        choices: sequences that form an item, 0 where each is its own.
        pad: id of the padding.
    """
    longest = max(len(ids) for ids, _ in sequences)
    shape = (len(sequences), longest)
    feed = dict(zip(INPUTS, (np.full(shape, pad, np.int64), *np.zeros((2, *shape), np.int64)),
                    strict=True))  # fmt: skip
    for row, (ids, segments) in enumerate(sequences):
        for name, values in zip(INPUTS, (ids, [1] * len(ids), segments), strict=True):
            feed[name][row, : len(ids)] = values
    if choices:
        feed = {name: one.reshape(-1, choices, longest) for name, one in feed.items()}
    return feed
