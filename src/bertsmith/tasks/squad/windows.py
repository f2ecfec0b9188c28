"""Long texts in overlapping windows (2018 run_squad.py, ``convert_examples_to_features``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bertsmith.common.errors import SettingsError

SPECIALS = 3  # [CLS] question [SEP] window [SEP]
Window = tuple[int, int]  # first token of the text, number of tokens


def check_room(max_length: int, max_query_length: int) -> None:
    """Refuse lengths that leave no room for the text.

    Raises:
        SettingsError: the longest question and the special tokens fill the sequence.
    """
    if max_length - max_query_length - SPECIALS < 1:
        raise SettingsError(
            f"max_length {max_length} leaves no room for the text beside a question of "
            f"max_query_length {max_query_length} tokens and {SPECIALS} special tokens",
            mend="raise --max-length or lower --max-query-length",
        )


def cut_windows(tokens: int, room: int, stride: int) -> list[Window]:
    """The windows over a text; each begins ``stride`` tokens after the one before.

    A stride is a step, as in the 2018 script, not an overlap. Where it is longer than a window the
    next one begins where the last one ends: no token is ever skipped. A text without tokens is one
    empty window.

    Args:
        tokens: tokens of the text.
        room: most tokens of a window, at least 1.
        stride: at least 1.
    """
    assert room >= 1  # else it never ends; see check_room
    assert stride >= 1
    found, start = [(0, min(tokens, room))], 0
    while start + found[-1][1] < tokens:
        start += min(stride, found[-1][1])
        found.append((start, min(tokens - start, room)))
    return found


def owners(windows: list[Window], tokens: int) -> npt.NDArray[np.int64]:
    """[tokens] the window in which each token has most context on its poorer side.

    ``min(left, right) + 0.01 * length``, the first of equals (``_check_is_max_context``).
    """
    most, owner = np.full(tokens, -np.inf), np.zeros(tokens, np.int64)
    for at, (start, length) in enumerate(windows):
        left = np.arange(length)
        here = np.minimum(left, left[::-1]) + 0.01 * length
        better = here > most[start : start + length]
        most[start : start + length][better] = here[better]
        owner[start : start + length][better] = at
    return owner
