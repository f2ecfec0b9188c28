"""Figures and tables of hand-made times; expected values are computed by hand."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from bertsmith.bench.figures import Spread, disagreement, figures
from bertsmith.bench.results import record
from bertsmith.bench.rows import Choices, catalogue
from bertsmith.bench.table import duration, lines, machine, markdown, notes, screen, spread
from bertsmith.model.config import PRESETS


def side(seconds: list[float], count: int, memory: int, **more) -> dict:
    """What a worker says of a side."""
    told = {"flops": 0.0, "tokens": 0, "check": [], "about": "", "threads": 2}
    return {**told, "count": count, "round_seconds": seconds, "memory": memory, **more}


# Two steps a round of 30 operations each. Round by round: ours 1, 2, 1.5 s a step, theirs 3, 2, 6.
OURS = side([2.0, 4.0, 3.0], 2, 100_000_000, flops=60.0, tokens=8, check=[1.0, 2.0], about="made")
THEIRS = side([3.0, 2.0, 6.0], 1, 250_000_000, check=[1.0, 2.5])
LIMIT = side([1.0, 1.0, 1.0], 1, 1, rates=[60.0, 30.0, 80.0])
SIDES = {"bertsmith": OURS, "other": THEIRS, "gone": {"missing": "gone-package"}, "limit": LIMIT}
MACHINE = {
    "cpu": "A processor", "cores": 2, "load": 0.5, "python": "3.11.7",
    "versions": {"torch": "2.13.0", "datasets": None},
}  # fmt: skip


def test_times_are_of_one_unit() -> None:
    found = figures(SIDES)
    assert found["bertsmith"].seconds == Spread(1.5, 1.0, 2.0)
    assert found["other"].seconds == Spread(3.0, 2.0, 6.0)
    assert found["bertsmith"].tokens_per_second == Spread(
        pytest.approx(8 / 3), pytest.approx(2.0), pytest.approx(4.0)
    )
    assert found["other"].tokens_per_second is None


def test_ratios_are_of_the_same_round() -> None:
    """3/1, 2/2, 6/1.5: the median is 3, whereas that of the medians would be 2."""
    found = figures(SIDES)
    assert found["other"].ratio == Spread(3.0, 1.0, 4.0)
    assert found["bertsmith"].ratio is None
    assert found["other"].memory_ratio == 2.5
    assert "gone" not in found


def test_the_share_of_the_limit_is_of_the_same_round() -> None:
    """30 operations in 1, 2, 1.5 s against 60, 30, 80 a second: 0.5, 0.5, 0.25."""
    found = figures(SIDES)
    assert found["bertsmith"].limit == Spread(0.5, 0.25, 0.5)
    # Only the first side counts operations; the others do the same work: 10/60, 15/30, 5/80.
    assert found["other"].limit == Spread(
        pytest.approx(1 / 6), pytest.approx(1 / 16), pytest.approx(1 / 2)
    )
    assert found["limit"].rate == Spread(60.0, 30.0, 80.0)


def test_without_limit_or_first_side_there_is_nothing_to_compare() -> None:
    found = figures({"bertsmith": {"missing": "x"}, "other": THEIRS})
    assert found["other"].ratio is None
    assert found["other"].memory_ratio is None
    assert found["other"].limit is None
    assert found["other"].seconds == Spread(3.0, 2.0, 6.0)


def test_sides_that_do_other_work_are_told() -> None:
    assert disagreement(SIDES) == 0.5
    assert disagreement({"a": OURS, "b": LIMIT}) is None
    assert disagreement({"a": OURS, "b": {"check": [1.0]}}) == float("inf")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (Spread(12.345, 9.0, 1234.5), "12.3 (9-1234) s"),
        (Spread(0.0123, 0.001, 0.2), "12.3 (1-200) ms"),
        (Spread(4.56e-5, 1e-5, 1e-4), "45.6 (10-100) µs"),
    ],
)
def test_durations_have_the_unit_of_their_median(seconds: Spread, text: str) -> None:
    assert duration(seconds) == text


def test_rounding_keeps_digits_and_has_no_exponent() -> None:
    assert spread(Spread(123456.0, 1.23456, 0.0)) == "123456 (1.23-0)"


def made_row() -> dict:
    row = catalogue(Choices())["pretrain-tiny-128"]
    return record(row, SIDES, rounds=3, machine=MACHINE, command="bertsmith bench")


def test_the_lines_of_a_row() -> None:
    assert lines(made_row()) == [
        ("bertsmith", "1.5 (1-2) s", "", "50 %", "100 MB"),
        ("other", "3 (2-6) s", "3 (1-4)", "16.7 %", "250 MB (2.50)"),
        ("gone", "gone-package is not installed", "", "", ""),
        ("limit", "6e-08 (3e-08-8e-08) GFLOP/s", "", "", ""),
    ]
    assert screen([made_row()])[0] == ("pretrain-tiny-128", "a step", "", "", "")


def test_what_is_below_the_table() -> None:
    said = notes(made_row())
    assert said[0].startswith("pretrain-tiny-128: one optimizer step, 2 layers of 128")
    assert said[0].endswith("; made")
    assert said[1] == "pretrain-tiny-128: tokens a second: bertsmith 3"
    assert said[2] == "pretrain-tiny-128: without gone: gone-package is not installed"
    assert said[3] == "pretrain-tiny-128: the sides did NOT do the same work (differ by 0.5)"
    assert machine(made_row()) == (
        "A processor; cores: 2, threads: 2, rounds: 3; Python 3.11.7, torch 2.13.0"
    )


def test_a_part_of_another_side() -> None:
    """A batch of 1, 2, 1.5 s in steps of 3, 2, 6 s: 33, 100 and 25 %."""
    row = catalogue(Choices())["batches"]
    sides = {"bertsmith": OURS | {"check": []}, "mini-step": THEIRS | {"check": []}}
    made = record(row, sides, rounds=3, machine=MACHINE, command="bertsmith bench")
    assert notes(made)[-1] == "batches: 33.3 (25-100) % of a mini-step"


def test_markdown_has_a_table_a_group() -> None:
    text = markdown({"pretrain-tiny-128": made_row()})
    assert text.count("## ") == 2
    grid = [line for line in text.splitlines() if line.startswith("|")]
    assert len(grid) == 2 + 4
    assert len({line.count("|") for line in grid}) == 1
    assert "| gone | gone-package is not installed |" in text


def test_rows_have_the_shapes_of_their_presets() -> None:
    for name, row in catalogue(Choices()).items():
        if name.startswith("pretrain-"):
            _, preset, length = name.split("-")
            for one in row.sides.values():
                if one.arguments:
                    shape = (one.arguments["layers"], one.arguments["hidden"])
                    assert (shape, one.arguments["length"]) == (PRESETS[preset], int(length))


def test_every_factory_exists() -> None:
    """Without importing it: the module has a function of that name with those arguments."""
    for row in catalogue(Choices()).values():
        for one in row.sides.values():
            module, function = one.factory.split(":")
            spec = importlib.util.find_spec(module)
            tree = ast.parse(Path(spec.origin).read_text())
            found = {part.name: part for part in tree.body if isinstance(part, ast.FunctionDef)}
            names = [argument.arg for argument in found[function].args.args]
            optional = len(found[function].args.defaults)
            given = {"folder", *one.arguments}
            assert given <= set(names), (row.name, one)
            assert set(names[: len(names) - optional]) <= given, (row.name, one)
