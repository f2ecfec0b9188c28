"""What a run is made from, and how it differs from what the run began with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from bertsmith.common.files import sha256, short

_SHOWN = 3  # differences in a message


@dataclass(frozen=True)
class Source:
    """A corpus, a model, data.

    Attributes:
        place: where it lies, which may change.
        parts: what it is made of: by name, words that change with the content.
    """

    place: str
    parts: Mapping[str, str]

    def changes(self, before: Mapping[str, str]) -> str:
        """What is not as it was ``before``, in words; empty where all is."""
        both = {
            name: (before.get(name, "none"), self.parts.get(name, "none"))
            for name in {**before, **self.parts}
        }
        told = [f"{name}: {was} then, {now} now" for name, (was, now) in both.items() if was != now]
        more = [f"and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
        return "; ".join([*told[:_SHOWN], *more])


def of_files(paths: Iterable[Path]) -> dict[str, str]:
    """Parts that are files, called by their paths inside the folder that has all of them."""
    found = sorted(set(paths))
    root = commonpath([path.parent for path in found]) if found else ""
    return {path.relative_to(root).as_posix(): short(sha256(path)) for path in found}
