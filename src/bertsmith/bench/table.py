"""Results for people: one table a group, on the screen or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bertsmith.bench.figures import Figures, Spread, figures, paired, per_unit
from bertsmith.bench.results import Record

COLUMNS = ("side", "time (min-max)", "times ours (min-max)", "of the limit", "memory (times ours)")
_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SAME = 1e-4  # numbers of two sides that do the same work


def groups(rows: Mapping[str, Record]) -> dict[str, list[Record]]:
    """The rows by group, in their order."""
    found: dict[str, list[Record]] = {}
    for one in rows.values():
        found.setdefault(one["group"], []).append(one)
    return found


def screen(some: Iterable[Record]) -> list[tuple[str, ...]]:
    """The cells of rows, in the order of COLUMNS; a row's name and unit stand above its sides."""
    found: list[tuple[str, ...]] = []
    for row in some:
        found += [(row["row"], f"a {row['unit']}", "", "", ""), *lines(row)]
    return found


def lines(row: Record) -> list[tuple[str, ...]]:
    """The cells of a row, one line a side, in the order of COLUMNS."""
    found = figures(row["sides"])
    return [
        (name, *_cells(found[name]))
        if name in found
        else (name, f"{side['missing']} is not installed", "", "", "")
        for name, side in row["sides"].items()
    ]


def _cells(one: Figures) -> tuple[str, ...]:
    if one.rate is not None:
        return (f"{spread(one.rate, 1e-9)} GFLOP/s", "", "", "")
    assert one.seconds is not None
    memory = f"{one.memory / 1e6:,.0f} MB"
    return (
        duration(one.seconds),
        "" if one.ratio is None else spread(one.ratio),
        "" if one.limit is None else f"{_rounded(100 * one.limit.median, 3)} %",
        memory if one.memory_ratio is None else f"{memory} ({one.memory_ratio:.2f})",
    )


def duration(seconds: Spread) -> str:
    """In the unit that suits the median."""
    scale, unit = next(
        ((scale, unit) for scale, unit in _SCALES if seconds.median >= scale), _SCALES[-1]
    )
    return f"{spread(seconds, 1 / scale)} {unit}"


def spread(one: Spread, factor: float = 1.0) -> str:
    """``median (low-high)``."""
    middle, low, high = (_rounded(x * factor, 3) for x in (one.median, one.low, one.high))
    return f"{middle} ({low}-{high})"


def _rounded(number: float, digits: int) -> str:
    """So many significant digits, and no exponent."""
    text = f"{number:.{digits}g}"
    return f"{number:.0f}" if "e+" in text else text


def notes(row: Record) -> list[str]:
    """What there is to know about a row beside its figures."""
    name, sides = row["row"], row["sides"]
    first, whole = next(iter(sides.values())), sides.get(row["part_of"], {})
    about = f"; {first['about']}" if first.get("about") else ""
    found = [f"{name}: {row['what']}{about}"]
    speeds = [
        f"{side} {one.tokens_per_second.median:,.0f}"
        for side, one in figures(sides).items()
        if one.tokens_per_second
    ]
    if speeds:
        found.append(f"{name}: tokens a second: {', '.join(speeds)}")
    if "round_seconds" in first and "round_seconds" in whole:
        part = Spread.of(paired(per_unit(first), per_unit(whole)))
        found.append(f"{name}: {spread(part, 100)} % of a {row['part_of']}")
    found += [
        f"{name}: without {side}: {one['missing']} is not installed"
        for side, one in sides.items()
        if "missing" in one
    ]
    apart = row["disagreement"]
    if apart is not None and (isinstance(apart, str) or apart > _SAME):
        found.append(f"{name}: the sides did NOT do the same work (differ by {apart})")
    return found


def machine(row: Record) -> str:
    """One line on what a row was measured on."""
    where = row["machine"]
    versions = ", ".join(f"{name} {one}" for name, one in where["versions"].items() if one)
    threads = next(iter(row["sides"].values())).get("threads") or where["cores"]
    return (
        f"{where['cpu']}; cores: {where['cores']}, threads: {threads}, rounds: {row['rounds']}; "
        f"Python {where['python']}, {versions}"
    )


def machines(rows: Iterable[Record]) -> dict[str, list[str]]:
    """The names of the rows by what they were measured on."""
    found: dict[str, list[str]] = {}
    for one in rows:
        found.setdefault(machine(one), []).append(one["row"])
    return found


def markdown(rows: Mapping[str, Record]) -> str:
    """All groups as Markdown, with notes and machines below."""
    parts = []
    for name, some in groups(rows).items():
        columns = ("row", *COLUMNS)
        grid = [columns, ("---",) * len(columns)]
        for row in some:
            titles = [f"{row['row']}, a {row['unit']}", *[""] * (len(row["sides"]) - 1)]
            grid += [(title, *cells) for title, cells in zip(titles, lines(row), strict=True)]
        said = [f"- {text}" for row in some for text in notes(row)]
        table = "\n".join("| " + " | ".join(cells) + " |" for cells in grid)
        parts += [f"## {name}", table, "\n".join(said)]
    where = [f"- {', '.join(names)}: {text}" for text, names in machines(rows.values()).items()]
    return "\n\n".join([*parts, "## Measured on", "\n".join(where)]) + "\n"
