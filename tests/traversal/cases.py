"""Draw semirings with suitable graphs and start values for property tests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from algorithms.graphs import Edges, graphs
from devices import DEVICE, has_card
from effort import is_full
from hypothesis import strategies as st

import graphla as gl
from semirings import semiring


class Case(NamedTuple):
    """A semiring on one dtype, a graph, and the entries of x at the start."""

    op: Any
    graph: Edges
    starts: dict[int, Any]

    @property
    def x(self) -> gl.Vector:
        values = np.array(list(self.starts.values()), self.op.return_type.np_type)
        return gl.Vector.from_coo(list(self.starts), values, size=self.graph.n)


quarters = st.integers(0, 40).map(lambda k: k / 4)
units = st.integers(0, 8).map(lambda k: k / 8)
small = st.integers(0, 9)
signed = st.integers(-3, 9)
truth = st.booleans()
wild = st.one_of(quarters, st.sampled_from([float("inf"), float("nan"), -0.0]))

INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
FLOATS = ["FP32", "FP64"]
COMPILED = ["BOOL", "INT8", "FP64", *(["INT64", "UINT16"] if is_full() or has_card() else [])]

# Maps the name of a semiring to its dtypes, its weights and its start values. With these weights,
# following a cycle repeatedly does not improve a value forever.
SETTLING: dict[str, tuple[list[str], Any, Any]] = {
    "lor_land": (["BOOL"], truth, truth),
    "land_lor": (["BOOL"], truth, truth),
    "min_plus": ([*INTEGERS, *FLOATS], small, small),
    "max_min": ([*INTEGERS, *FLOATS], small, small),
    "min_max": ([*INTEGERS, *FLOATS], small, small),
    "max_times": (FLOATS, units, units),
    "min_times": ([*INTEGERS, *FLOATS], st.integers(1, 3), small),
    "min_first": ([*INTEGERS, *FLOATS], small, small),
    "max_first": ([*INTEGERS, *FLOATS], small, small),
    "min_second": ([*INTEGERS, *FLOATS], small, small),
    "max_second": ([*INTEGERS, *FLOATS], small, small),
    "min_min": ([*INTEGERS, *FLOATS], small, small),
    "max_max": ([*INTEGERS, *FLOATS], small, small),
}


SELECTING = ["min_plus", "max_min", "min_max", "min_first", "max_second", "min_min"]
"""Semirings whose closures converge even with infinite and NaN weights."""


@st.composite
def cases(
    draw: st.DrawFn,
    names: list[str] | None = None,
    dtypes: list[str] | None = None,
    *,
    weights: Any = None,
    starts: Any = None,
    iso: bool | None = None,
) -> Case:
    """Draw a closure that converges on every graph."""
    # Each semiring and dtype is compiled by Numba or for the GPU, so we use only a few dtypes.
    few = gl.config.compiled is True or (DEVICE == "cuda" and (has_card() or not is_full()))
    known_dtypes = COMPILED if few else INTEGERS + FLOATS + ["BOOL"]
    wanted = set(known_dtypes if dtypes is None else dtypes)
    known = sorted(SETTLING if names is None else names)
    name = draw(st.sampled_from([name for name in known if wanted & set(SETTLING[name][0])]))
    supported, its_weights, its_starts = SETTLING[name]
    dtype = draw(st.sampled_from([each for each in supported if each in wanted]))
    weights = its_weights if weights is None else weights
    if draw(st.integers(0, 3)) == 0 if iso is None else iso:
        weights = st.just(draw(weights))
    graph = draw(graphs(weights=weights, dtype=dtype))
    values = its_starts if starts is None else starts
    if draw(st.booleans()):
        values = st.just(draw(values))
    at = st.dictionaries(st.integers(0, graph.n - 1), values, max_size=4)
    return Case(getattr(semiring, name)[dtype], graph, draw(at))


def masks(n: int) -> st.SearchStrategy[set[int] | None]:
    """Draw the set of vertices at which the mask allows writes, or None for no mask."""
    return st.none() | st.sets(st.integers(0, n - 1))


def as_mask(allowed: set[int] | None, n: int, how: str) -> Any:
    """Return a mask that allows these vertices, built in one of several ways."""
    if allowed is None:
        return None
    others = sorted(set(range(n)) - allowed)
    if how == "structure":
        return gl.Vector.from_coo(sorted(allowed), True, bool, size=n).S
    if how == "complement":
        return ~gl.Vector.from_coo(others, 0, int, size=n).S
    truth = np.isin(np.arange(n), sorted(allowed))
    return gl.Vector.from_dense(truth).V if how == "values" else ~gl.Vector.from_dense(~truth).V


ways = st.sampled_from(["structure", "complement", "values", "complement of values"])
