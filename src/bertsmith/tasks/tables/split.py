"""A dev part out of the training rows, where there is none."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

from bertsmith.common.randomness import SPLIT, stream


def dev_rows(
    percent: float,
    seed: int,
    strata: Sequence[str],
    groups: Sequence[str] | None = None,
) -> list[int]:
    """Numbers of the rows to hold back, ascending; a function of the arguments alone.

    Rows of each stratum are held back in proportion, by largest remainders. A stratum of one row
    stays in training whole; one of more has a row in dev, where the share allows one each.

    Args:
        percent: share of the rows, above 0 and below 100; at least one row is held back.
        seed: of the choice.
        strata: the stratum of each row: its label, or the same for all.
        groups: rows of one group stay together; strata then do not count.

    Returns:
        Fewer than there are rows; none where there are fewer than two rows or groups.
    """
    if groups is not None:
        return _whole_groups(percent, seed, groups)
    members: dict[str, list[int]] = {}
    for at, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(at)
    wanted = _wanted(percent, len(strata))
    seats = seats_of({name: len(members[name]) for name in sorted(members)}, wanted)
    chosen: list[int] = []
    for number, name in enumerate(sorted(members)):
        order = stream(seed, SPLIT, number).permutation(len(members[name]))
        chosen += [members[name][at] for at in order[: seats[name]].tolist()]
    return sorted(chosen)


def dev_rows_apart(
    percent: float, seed: int, strata: Sequence[str], texts: Sequence[Hashable]
) -> list[int]:
    """As :func:`dev_rows`, with rows of equal text on one side.

    Distinct texts are held back by the stratum of their first row, and all rows of a text go with
    it; a text that alone has more rows than dev is to have stays in training. Where no text stands
    twice, and where nearly all rows have the same few texts, the rows are those of
    :func:`dev_rows`; :func:`across` tells how many are then on both sides.

    Returns:
        Numbers of the rows to hold back, ascending.
    """
    members: dict[Hashable, list[int]] = {}
    for at, text in enumerate(texts):
        members.setdefault(text, []).append(at)
    most = max(1, _wanted(percent, len(texts)))
    groups = [rows for rows in members.values() if len(rows) <= most]
    if len(groups) < 2:
        return dev_rows(percent, seed, strata)
    chosen = dev_rows(percent, seed, [strata[rows[0]] for rows in groups])
    return sorted(at for one in chosen for at in groups[one])


def across(texts: Sequence[Hashable], chosen: Iterable[int]) -> int:
    """How many of the chosen rows have a text that others have, too."""
    held = set(chosen)
    kept = {text for at, text in enumerate(texts) if at not in held}
    return sum(texts[at] in kept for at in held)


def equal_text_notes(texts: Sequence[Hashable], chosen: Iterable[int]) -> list[str]:
    """What people are told of equal texts when dev was made; nothing where all texts differ."""
    twice, both = len(texts) - len(set(texts)), across(texts, chosen)
    if both:
        return [f"{both} examples of dev have a text that is in training, too: dev flatters"]
    return [f"{twice} texts stand more than once: equal ones stay on one side"] if twice else []


def seats_of(sizes: Mapping[str, int], wanted: int) -> dict[str, int]:
    """How many of ``wanted`` rows come from each stratum of these sizes."""
    total = sum(sizes.values())
    quota = {name: wanted * size / total for name, size in sizes.items()}
    most = {name: max(0, size - 1) for name, size in sizes.items()}
    if sum(most.values()) < wanted:  # strata of one row have to give too
        most = dict(sizes)
    able = [name for name, size in sizes.items() if size > 1]
    least = {name: int(name in able and len(able) <= wanted) for name in sizes}
    seats = {name: min(most[name], max(least[name], math.floor(quota[name]))) for name in sizes}
    while sum(seats.values()) < wanted:
        open_ = [name for name in sizes if seats[name] < most[name]]
        seats[max(open_, key=lambda name: quota[name] - seats[name])] += 1
    while sum(seats.values()) > wanted:
        open_ = [name for name in sizes if seats[name] > least[name]]
        seats[max(open_, key=lambda name: seats[name] - quota[name])] -= 1
    return seats


def rarest(labels: Sequence[Sequence[str]]) -> list[str]:
    """For rows of several labels, the label of each that fewest rows have: its stratum."""
    counts: dict[str, int] = {}
    for one in labels:
        for label in one:
            counts[label] = counts.get(label, 0) + 1
    return [min(one, key=lambda label: (counts[label], label), default="") for one in labels]


def _wanted(percent: float, rows: int) -> int:
    return min(rows - 1, max(1, math.floor(rows * percent / 100 + 0.5))) if rows > 1 else 0


def _whole_groups(percent: float, seed: int, groups: Sequence[str]) -> list[int]:
    names = sorted(set(groups))
    wanted = _wanted(percent, len(groups))
    sizes: dict[str, int] = {}
    for one in groups:
        sizes[one] = sizes.get(one, 0) + 1
    taken: set[str] = set()
    count = 0
    for at in stream(seed, SPLIT).permutation(len(names))[:-1].tolist():
        # The first group always, so that there is a dev part; then those that still fit.
        if not taken or count + sizes[names[at]] <= wanted:
            taken.add(names[at])
            count += sizes[names[at]]
    return [at for at, one in enumerate(groups) if one in taken]
