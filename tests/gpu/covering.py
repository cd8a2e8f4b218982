"""Choose a small set of test cases that contains every pair of values of any two parameters.

In this module, a parameter is called a factor, and a test case is called a row. A row maps each
factor to one of its values.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

Row = dict[str, Any]

TRIES = 8
"""Number of candidates generated per row. The candidate with the most new pairs is used."""


def everything(row: Row) -> bool:
    """Accept every row."""
    return True


def covering(
    factors: Mapping[str, Sequence[Any]],
    allows: Callable[[Row], bool] = everything,
    apart: Collection[str] = (),
) -> list[Row]:
    """Return a list of valid rows that contains every pair of values that occurs in a valid row.

    A row maps each factor to one of its values. A pair consists of the values of two factors in the
    same row. A row is valid if allows(row) is true. `allows` is also called with incomplete rows,
    in which factors are missing. It must return false if no complete row with these values is
    valid.

    Pairs of two factors that are both in `apart` need not occur in the list. But each single value
    that occurs in a valid row also occurs in the list. The same arguments give the same list.
    """
    factors = {name: list(values) for name, values in factors.items()}
    if len(factors) < 2:
        rows = [dict(zip(factors, values, strict=True)) for values in product(factors)]
        return [row for row in rows if allows(row)]
    chance = random.Random(0)
    left = dict.fromkeys(
        ((a, i), (b, j))
        for a, b in itertools.combinations(factors, 2)
        if a not in apart or b not in apart
        for i in range(len(factors[a]))
        for j in range(len(factors[b]))
    )
    left |= dict.fromkeys(((a, i),) for a in factors if a in apart for i in range(len(factors[a])))
    rows = []
    while left:
        seed = next(iter(left))
        found = [_fill(factors, dict(seed), left, allows, chance) for _ in range(TRIES)]
        filled = [place for place in found if place is not None]
        if not filled:
            del left[seed]  # no valid row contains `seed`
            continue
        best = max(filled, key=lambda place: sum(pair in left for pair in _pairs(factors, place)))
        for pair in _pairs(factors, best):
            left.pop(pair, None)
        rows.append(_row(factors, best))
    return rows


def product(factors: Mapping[str, Sequence[Any]]) -> itertools.product[Any]:
    """Return every combination of values, as tuples."""
    return itertools.product(*factors.values())


Place = dict[str, int]  # maps each factor to the index of its value


def _fill(
    factors: Mapping[str, list[Any]],
    place: Place,
    left: Mapping[Any, None],
    allows: Callable[[Row], bool],
    chance: random.Random,
) -> Place | None:
    """Complete a row, choosing for each missing factor a value that covers the most new pairs."""
    if not allows(_row(factors, place)):
        return None
    lacking = [name for name in factors if name not in place]
    chance.shuffle(lacking)
    for name in lacking:
        values = list(range(len(factors[name])))
        chance.shuffle(values)
        gains = {
            i: sum(_pair(factors, (name, i), other) in left for other in place.items())
            + (((name, i),) in left)
            for i in values
        }
        for i in sorted(values, key=gains.__getitem__, reverse=True):
            if allows(_row(factors, {**place, name: i})):
                place = {**place, name: i}
                break
        else:
            return None
    return place


def _row(factors: Mapping[str, list[Any]], place: Place) -> Row:
    return {name: factors[name][place[name]] for name in factors if name in place}


def _pairs(factors: Mapping[str, list[Any]], place: Place) -> list[Any]:
    """Return all pairs of values in a row, and each value on its own."""
    values = [(name, place[name]) for name in factors]
    return [*itertools.combinations(values, 2), *((value,) for value in values)]


def _pair(factors: Mapping[str, list[Any]], x: tuple[str, int], y: tuple[str, int]) -> Any:
    order = list(factors)
    return (x, y) if order.index(x[0]) < order.index(y[0]) else (y, x)
