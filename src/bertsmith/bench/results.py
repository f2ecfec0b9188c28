"""The results file: every row that was measured, with all that it was measured on."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from bertsmith.bench.figures import disagreement, figures
from bertsmith.bench.rows import Row
from bertsmith.common import strict_json
from bertsmith.common.errors import InputError
from bertsmith.common.files import write_json

_FORMAT = 1
Record = dict[str, Any]


def record(row: Row, sides: dict[str, dict[str, Any]], **about: Any) -> Record:
    """One row: what was measured, and the figures that follow from it."""
    apart = disagreement(sides)
    return {
        "row": row.name,
        "group": row.group,
        "unit": row.unit,
        "what": row.what,
        "part_of": row.part_of,
        **about,
        "sides": sides,
        "figures": {name: dataclasses.asdict(one) for name, one in figures(sides).items()},
        # JSON has no infinity.
        "disagreement": "not comparable" if apart is not None and math.isinf(apart) else apart,
    }


def read_results(file: Path) -> dict[str, Record]:
    """The rows of a results file by name; none where there is no file.

    Raises:
        InputError: the file is no results file.
    """
    try:
        found = strict_json.loads(file.read_text("utf-8"))
        rows = found["rows"]
        if found["format"] != _FORMAT:
            raise InputError("the results are of another format", file=file, value=found["format"])
        return {one["row"]: one for one in rows}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"this is no results file of bertsmith bench: {error}", file=file,
            mend="give another file",
        ) from None  # fmt: skip


def as_dict(rows: dict[str, Record]) -> dict[str, Any]:
    """The content of a results file."""
    return {"format": _FORMAT, "rows": list(rows.values())}


def write_results(file: Path, rows: dict[str, Record]) -> None:
    """Write all rows, atomically."""
    write_json(file, as_dict(rows))
