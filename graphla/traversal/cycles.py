"""Detect closures that never end because values improve in each turn around a cycle.

If the parents of the improved entries form a forest, there is no such cycle. But a cycle of parents
does not prove that values improve forever: under min.min, for example, they may improve in one turn
only. So each cycle of parents is tested by following its edges several times.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphla.backends import ClosureResult, backend
from graphla.formats import Csr
from semirings import binary, monoid
from semirings.exceptions import InvalidValue
from semirings.overflow import overflowing
from semirings.structures import TypedSemiring

TURNS = 1000
"""Maximum number of turns around a cycle when we test whether the cycle improves values forever.

If each of these turns improves the values on the cycle, we assume that every further turn does.
"""
STEPS = 50_000
"""Maximum number of edges that the test of one cycle follows. It limits the number of turns around
a long cycle, but not below 3 turns."""
CYCLES = 32
ROUNDED = 2
"""Determines when a closure fails because a cycle improves values only by rounding errors.

Such a cycle is allowed for a limited number of rounds: ROUNDED times the number of rounds before
the first check for endless cycles. After that, the closure raises an error.
"""


class EndlessCycle(InvalidValue):
    """The closure does not end, because values improve in each turn around a cycle.

    `cycle` lists the vertices of the cycle. `is_rounded` is True if the values improve only because
    the sums of the weights are rounded. With exact sums, no value on the cycle would improve.
    """

    def __init__(self, message: str, cycle: list[int], *, is_rounded: bool = False):
        super().__init__(message)
        self.cycle, self.is_rounded = cycle, is_rounded


def endless(closed: ClosureResult, out: Csr, op: TypedSemiring, device: str) -> list[int] | None:
    """Return a cycle around which values improve forever, in the order of its edges, or None."""
    do = backend(device)
    values, present = do.to_host(closed.values.values), do.to_host(closed.values.present)
    parents = _parents(closed, do)
    loops = do.to_host(out.indices[out.indices == do.row_of_entry(out)])
    circles = [[v] for v in loops[present[loops] & (parents[loops] == loops)].tolist()]
    for cycle in [*_cycles(parents)[:CYCLES], *circles]:
        weights = [
            _weight(do, out, u, v) for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)
        ]
        if _goes_on(values[cycle], weights, op):
            return cycle
    return None


def rounded_cycle(closed: ClosureResult, op: TypedSemiring, device: str) -> list[int] | None:
    """Return a cycle of parents if rounded sums may have caused it, otherwise None.

    If ⊗ is not floating-point addition, no sum is rounded, so the result is None.
    """
    if op.binaryop.name != "plus" or not op.return_type.is_float:
        return None
    return next(iter(_cycles(_parents(closed, backend(device)))), None)


def _parents(closed: ClosureResult, do: Any) -> np.ndarray:
    """Return the parent of each vertex. A vertex without a parent is its own parent."""
    present = do.to_host(closed.values.present)
    return np.where(present, do.to_host(closed.parents), np.arange(present.size))


def _cycles(parents: np.ndarray) -> list[list[int]]:
    """Return the cycles of at least two vertices in `parents`, each in the order of its edges."""
    up = parents
    for _ in range(int(parents.size).bit_length()):
        # After the loop, up[v] is at least n steps above v, so it is a root or on a cycle.
        up = up[up]
    found: list[list[int]] = []
    seen: set[int] = set()
    for v in np.unique(up[up != parents[up]]).tolist():
        if v in seen:
            continue
        cycle = [v]
        while (u := int(parents[cycle[-1]])) != v:
            cycle.append(u)
        seen.update(cycle)
        found.append(cycle[::-1])
    return found


def _weight(do: Any, out: Csr, u: int, v: int) -> Any:
    place, _ = do.find(out, u, v)
    return do.to_host(out.values[place : place + 1])


def _goes_on(values: np.ndarray, weights: list[Any], op: TypedSemiring) -> bool:
    """Return whether every further turn around the cycle changes the value of its first vertex."""
    add = op.monoid.monoid
    if op.binaryop.op is binary.plus and (add is monoid.min or add is monoid.max):
        # Compare the exact sum of the weights with 0. With rounded sums, a turn around this cycle
        # alone may change no value, although turns around this and other cycles together improve
        # values forever.
        whole, better = np.concatenate(weights), -1 if add is monoid.min else 1
        if op.return_type.kind in "iu":
            return better * sum(map(int, whole)) > 0
        if np.isfinite(whole).all():
            return better * math.fsum(whole) > 0
    multiply, combine = op.binaryop.numpy, op.monoid.binaryop.numpy
    fits_not = overflowing(op.binaryop)
    types, result = (op.type.np_type, op.type2.np_type), op.return_type.np_type
    at = [values[k : k + 1].astype(result) for k in range(values.size)]
    edges = [(k, (k + 1) % len(at), w.astype(types[1])) for k, w in enumerate(weights)]
    for turn in range(max(3, min(TURNS, STEPS // len(at)))):
        before = at[0]
        for u, v, a in edges:
            x = at[u].astype(types[0])
            if fits_not is not None and fits_not.numpy(x, a)[0]:
                # A product overflows. If this happens after the first turn, the result is True,
                # because every earlier turn has improved the values.
                return turn > 0
            at[v] = combine(at[v], multiply(x, a).astype(result))
        if at[0] == before or (at[0] != at[0] and before != before):
            return bool(np.isinf(at[0]) and np.isfinite(values).any())
    return True
