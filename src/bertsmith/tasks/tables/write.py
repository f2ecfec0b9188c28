"""Predictions as files that the user's own programs read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bertsmith.common.files import write_text


def write_both(
    folder: Path, name: str, rows: Iterable[Sequence[str]], objects: Iterable[Mapping[str, Any]]
) -> list[Path]:
    """``<name>.csv`` with the columns id and prediction, and ``<name>.jsonl`` with all there is.

    Args:
        folder: where to.
        name: that of the part.
        rows: (id, prediction) of each example.
        objects: what the line of each example holds.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("id", "prediction"))
    table.writerows(rows)
    lines = [json.dumps(dict(one), ensure_ascii=False, allow_nan=False) + "\n" for one in objects]
    paths = [folder / f"{name}.csv", folder / f"{name}.jsonl"]
    write_text(paths[0], text.getvalue())
    write_text(paths[1], "".join(lines))
    return paths
