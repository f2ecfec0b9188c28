"""The packed batch: token sequences laid end to end, without padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bertsmith.common.errors import InputError
from bertsmith.model.layout import Layout, plan_layout

Ints = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class PackedBatch:
    """``B`` sequences with ``T`` tokens in all, laid end to end; every tensor is int64.

    Token ``t`` of the batch belongs to the sequence ``b`` with ``offsets[b] <= t < offsets[b+1]``
    and stands at ``positions[t] = t - offsets[b]`` in it.
    """

    token_ids: Tensor  # [T]
    segment_ids: Tensor  # [T]
    positions: Tensor  # [T]
    lengths: Tensor  # [B]
    offsets: Tensor  # [B + 1]
    max_length: int

    @classmethod
    def from_sequences(
        cls, sequences: Sequence[tuple[Sequence[int], Sequence[int]]]
    ) -> PackedBatch:
        """Pack ``(token ids, segment ids)`` pairs in their order."""
        for number, (ids, segments) in enumerate(sequences):
            if len(ids) != len(segments):
                raise InputError(
                    f"sequence {number} has {len(ids)} token ids and {len(segments)} segment ids"
                )
        flat_ids = [token for ids, _ in sequences for token in ids]
        flat_segments = [segment for _, segments in sequences for segment in segments]
        lengths = [len(ids) for ids, _ in sequences]
        return cls.from_arrays(
            np.array(flat_ids, np.int64),
            np.array(flat_segments, np.int64),
            np.array(lengths, np.int64),
        )

    @classmethod
    def from_arrays(cls, token_ids: Ints, segment_ids: Ints, lengths: Ints) -> PackedBatch:
        """Pack sequences that already lie end to end.

        Args:
            token_ids: [T] ids of all tokens.
            segment_ids: [T] 0 or 1, the sentence each token belongs to.
            lengths: [B] tokens in each sequence, at least 1, with sum T.

        Raises:
            InputError: no sequence, an empty sequence, or lengths that do not add up.
        """
        lengths = np.asarray(lengths, np.int64)
        _check_lengths(lengths, len(token_ids), len(segment_ids))
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        positions = np.arange(len(token_ids)) - np.repeat(offsets[:-1], lengths)
        return cls(
            token_ids=_tensor(token_ids),
            segment_ids=_tensor(segment_ids),
            positions=_tensor(positions),
            lengths=_tensor(lengths),
            offsets=_tensor(offsets),
            max_length=int(lengths.max()),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def token_count(self) -> int:
        """T, the number of tokens of all sequences."""
        return len(self.token_ids)

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.token_ids.device

    def layout(self, heads: int) -> Layout:
        """How attention groups the sequences: computed once a batch, used by every layer."""
        if heads not in self._layouts:
            self._layouts[heads] = plan_layout(self.lengths.tolist(), heads, self.device)
        return self._layouts[heads]

    @cached_property
    def _layouts(self) -> dict[int, Layout]:
        return {}

    @cached_property
    def offsets_int32(self) -> Tensor:
        """[B + 1] the offsets as the variable-length CUDA kernel takes them."""
        return self.offsets.to(torch.int32)

    def to(self, device: torch.device | str) -> PackedBatch:
        """The same batch on another device; copies from pinned memory do not wait."""
        if torch.device(device) == self.device:
            return self
        # Not waiting is safe towards a GPU only: the CPU would read before the copy is there.
        move = partial(Tensor.to, device=device, non_blocking=torch.device(device).type == "cuda")
        return PackedBatch(
            token_ids=move(self.token_ids),
            segment_ids=move(self.segment_ids),
            positions=move(self.positions),
            lengths=move(self.lengths),
            offsets=move(self.offsets),
            max_length=self.max_length,
        )

    def slice_sequences(self, start: int, stop: int) -> PackedBatch:
        """Sequences ``start`` to ``stop`` (excluded) as a batch of their own, sharing memory."""
        if not 0 <= start < stop <= len(self):
            raise InputError(f"sequences {start} to {stop} do not lie in a batch of {len(self)}")
        begin, end = int(self.offsets[start]), int(self.offsets[stop])
        lengths = self.lengths[start:stop]
        return PackedBatch(
            token_ids=self.token_ids[begin:end],
            segment_ids=self.segment_ids[begin:end],
            positions=self.positions[begin:end],
            lengths=lengths,
            offsets=self.offsets[start : stop + 1] - begin,
            max_length=int(lengths.max()),
        )

    def check(self, vocab_size: int, max_positions: int, segments: int) -> None:
        """Refuse what the embedding tables can not hold.

        The ids are looked at on the CPU only: on a GPU that would wait for the device.

        Raises:
            InputError: a sequence is too long, or an id is outside its table.
        """
        if self.max_length > max_positions:
            raise InputError(
                f"a sequence has {self.max_length} tokens, but the model has {max_positions} "
                "positions",
                mend="shorten the sequences, or use a model with more positions",
            )
        if self.device.type != "cpu":
            return
        for what, ids, size in (
            ("token id", self.token_ids, vocab_size),
            ("segment id", self.segment_ids, segments),
        ):
            low, high = (int(bound) for bound in torch.aminmax(ids))
            if low < 0 or high >= size:
                raise InputError(
                    f"a {what} lies outside the model's table of {size} entries",
                    value=low if low < 0 else high,
                    mend="use the tokenizer that belongs to the model",
                )


def _check_lengths(lengths: Ints, tokens: int, segments: int) -> None:
    if lengths.ndim != 1 or len(lengths) == 0:
        raise InputError("a batch needs at least one sequence")
    if lengths.min() < 1:
        raise InputError(f"sequence {int(lengths.argmin())} of the batch is empty")
    if tokens != segments or tokens != lengths.sum():
        raise InputError(
            f"{tokens} token ids, {segments} segment ids and lengths that add up to "
            f"{int(lengths.sum())} do not fit together"
        )


def _tensor(array: Ints) -> Tensor:
    array = np.ascontiguousarray(array, np.int64)
    # torch shares memory with numpy, and warns where that memory is read-only (a memory map).
    return torch.from_numpy(array if array.flags.writeable else array.copy())
