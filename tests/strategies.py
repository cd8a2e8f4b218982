"""Draw small tables, masks, operators and index selections; convert tables to graphla objects."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from devices import DEVICE
from effort import is_full
from hypothesis import strategies as st
from invariants import verify
from oracle import BINARY, UNDEFINED, Mask, OneOf, Table, transpose

import graphla as gl
from graphla.expression import Operand

# The simulator compiles a program per operator and dtype, so `make test` draws few dtypes there.
KINDS = "? i1 i8 u2 f4" if DEVICE == "cuda" and not is_full() else "? i1 i2 i4 i8 u1 u2 u4 u8 f4 f8"
DTYPES = [np.dtype(kind) for kind in KINDS.split()]
INTEGERS = [dtype for dtype in DTYPES if dtype.kind in "iu"]
MONOIDS = ["plus", "times", "min", "max", "any", "lor", "land", "lxor"]
ACCUMS = ["plus", "minus", "times", "min", "max", "first", "second", "lor", "land"]
VALUED = [name for name in BINARY if name[0] != "b"]
BITWISE = ["band", "bor", "bxor"]
SEMIRINGS = [
    *("plus_times", "min_plus", "max_plus", "min_first", "max_second", "any_pair", "lor_land"),
    *("any_secondi", "min_firstj", "plus_pair", "min_max", "max_min", "any_first", "any_second"),
    *("plus_first", "plus_second", "max_times", "lxor_land", "times_second", "min_times"),
    *("plus_minus", "any_firsti", "max_secondj", "min_secondi", "plus_firsti", "plus_min"),
]

dtypes = st.sampled_from(DTYPES)
sizes = st.integers(0, 6)


def numbers(dtype: np.dtype, *, wild: bool = True) -> st.SearchStrategy[Any]:
    """Draw values of a dtype.

    If `wild` is false, floating-point values are small multiples of 1/4, so that their sums are
    exact.
    """
    if dtype.kind == "b":
        return st.booleans().map(np.bool_)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        few = st.integers(max(-3, int(info.min)), 3)
        ends = st.sampled_from([int(info.min), int(info.max), int(info.max) - 1])
        return st.one_of(few, few, ends).map(dtype.type)
    quarters = st.integers(-16, 16).map(lambda k: k / 4)
    specials = st.sampled_from([float("nan"), float("inf"), -float("inf"), -0.0])
    if not wild:
        return st.one_of(quarters, quarters, quarters, specials).map(dtype.type)
    ends = np.finfo(dtype)
    extremes = st.sampled_from([ends.max, ends.min, ends.tiny, ends.smallest_subnormal])
    return st.one_of(quarters, quarters, specials, extremes).map(dtype.type)


@st.composite
def tables(
    draw: st.DrawFn, shape: Any = None, dtype: Any = None, *, wild: bool = True, values: Any = None
) -> Table:
    """Draw tables up to 6 x 6: empty, sparse, full, iso-valued, symmetric or with stored zeros."""
    rows, columns = draw(st.tuples(sizes, sizes) if shape is None else shape)
    dtype = draw(dtypes) if dtype is None else dtype
    values = numbers(dtype, wild=wild) if values is None else values
    places = list(product(range(rows), range(columns)))
    density = draw(st.sampled_from(["any", "any", "half", "full", "empty"]))
    if density == "any" and places:
        places = sorted(draw(st.lists(st.sampled_from(places), unique=True, max_size=14)))
    elif density == "half":
        bits = draw(st.integers(0, (1 << len(places)) - 1))
        places = [place for k, place in enumerate(places) if bits >> k & 1]
    elif density == "empty":
        places = []
    if places and draw(st.integers(0, 4)) == 0:
        entries = dict.fromkeys(places, draw(values))
    else:
        entries = {place: draw(values) for place in places}
    if rows == columns > 1 and draw(st.integers(0, 3)) == 0:
        upper = {(i, j): x for (i, j), x in entries.items() if i <= j}
        entries = {**upper, **{(j, i): x for (i, j), x in upper.items()}}
    return Table((rows, columns), dtype, entries)


def suited(monoid: str, dtype: np.dtype) -> st.SearchStrategy[Any]:
    """Draw values whose reduction with a monoid gives the same bits in any order."""
    if monoid == "times" and dtype.kind == "f":
        return st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0, -2.0, np.inf, np.nan]).map(dtype.type)
    return numbers(dtype, wild=monoid != "plus")


def columns(size: Any = None, dtype: Any = None, **options: Any) -> st.SearchStrategy[Table]:
    """Draw tables of one column, which represent vectors."""
    size = sizes if size is None else st.just(size)
    return size.flatmap(lambda n: tables(st.just((n, 1)), dtype, **options))


@st.composite
def symmetric(draw: st.DrawFn, dtype: Any = None, **options: Any) -> Table:
    """Draw square tables that equal their transposes."""
    n = draw(sizes)
    A = draw(tables(st.just((n, n)), dtype, **options))
    upper = {(i, j): x for (i, j), x in A.entries.items() if i <= j}
    return Table(A.shape, A.dtype, {**upper, **{(j, i): x for (i, j), x in upper.items()}})


def masks(shape: tuple[int, int]) -> st.SearchStrategy[Mask | None]:
    """Draw no mask, or a structural or value mask of any dtype, complemented or not."""
    held = st.builds(Mask, tables(st.just(shape)), st.booleans(), st.booleans())
    return st.one_of(st.none(), held, held, held)


@st.composite
def selections(draw: st.DrawFn, size: int, *, duplicates: bool) -> tuple[Any, list[int]]:
    """Draw an index as a user writes it, and the list of positions that it selects."""
    if draw(st.integers(0, 2)) == 0:
        ends = st.none() | st.integers(-size - 1, size + 1)
        step = draw(st.none() | st.sampled_from([1, 2, 3, -1, -2]))
        index = slice(draw(ends), draw(ends), step)
        return index, list(range(size))[index]
    if size == 0:
        return [], []
    least = draw(st.sampled_from([0, 1, 1, 1]))
    spots = st.integers(0, size - 1)
    places = draw(st.lists(spots, min_size=least, unique=not duplicates, max_size=7))
    written = [i - size if draw(st.booleans()) else i for i in places]
    form = draw(st.sampled_from(["list", "array", "Vector"])) if places else "list"
    if form == "list":
        return written, places
    if form == "array":
        return np.array(written, dtype=np.int64), places
    kinds = [dtype for dtype in INTEGERS if dtype.kind == "i" or min(written) >= 0]
    dtype = draw(st.sampled_from(kinds))
    table = Table((len(places), 1), dtype, {(k, 0): dtype.type(i) for k, i in enumerate(written)})
    return vector(table, draw(LAYOUTS["vector"])), places


# --- converting tables ------------------------------------------------------------------------
def matrix(table: Table, how: str = "coo") -> gl.Matrix:
    """Return the table as a Matrix stored in layout `how`; `both` stands for CSR and CSC."""
    if how == "transposed":
        return matrix(transpose(table)).T.new()
    keys = list(table.entries)
    if how == "backwards":
        keys.reverse()
    values = np.array([table.entries[key] for key in keys], dtype=table.dtype)
    flipped = transpose(table).entries
    is_symmetric = flipped.keys() == table.entries.keys() and all(
        agrees(flipped[key], x) for key, x in table.entries.items()
    )
    A = gl.Matrix.from_coo(
        [i for i, _ in keys],
        [j for _, j in keys],
        values,
        nrows=table.shape[0],
        ncols=table.shape[1],
        symmetric=how == "both" and is_symmetric and table.shape[0] == table.shape[1],
    )
    if how == "both":
        A.T.new()
    return A


def vector(table: Table, how: str = "coo") -> gl.Vector:
    """Return the table as a Vector stored in layout `how`."""
    if how == "assigned":
        w = gl.Vector(table.dtype, table.shape[0])
        for (i, _), x in table.entries.items():
            w[i] = x
        return w
    if how == "dense" and len(table.entries) == table.shape[0] > 0:
        return gl.Vector.from_dense(
            np.array([table.entries[i, 0] for i in range(table.shape[0])], dtype=table.dtype)
        )
    keys = list(table.entries)
    if how == "backwards":
        keys.reverse()
    values = np.array([table.entries[key] for key in keys], dtype=table.dtype)
    return gl.Vector.from_coo([i for i, _ in keys], values, size=table.shape[0])


LAYOUTS = {
    "matrix": st.sampled_from(["coo", "transposed", "backwards", "both"]),
    "vector": st.sampled_from(["coo", "assigned", "assigned", "dense", "backwards"]),
}


def mask_of(mask: Mask, noun: Any) -> Any:
    """Return the mask as a user writes it: noun.S, noun.V, or their complements."""
    view = noun.S if mask.structural else noun.V
    return ~view if mask.complement else view


def read(noun: Any) -> Table:
    """Check the object's storage, and return the object as a table."""
    if issubclass(type(noun), Operand):  # test_compat also reads python-graphblas objects
        verify(noun)
    dtype = np.dtype(noun.dtype.np_type)
    if noun.ndim == 1:
        indices, values = noun.to_coo()
        entries = {(int(i), 0): x for i, x in zip(indices, values, strict=True)}
        assert len(entries) == noun.nvals == len(indices)
        assert all(0 <= i < noun.size for i, _ in entries)
        return Table((noun.size, 1), dtype, entries)
    rows, cols, values = noun.to_coo()
    entries = {(int(i), int(j)): x for i, j, x in zip(rows, cols, values, strict=True)}
    assert len(entries) == noun.nvals == len(rows)
    assert all(0 <= i < noun.nrows and 0 <= j < noun.ncols for i, j in entries)
    return Table((noun.nrows, noun.ncols), dtype, entries)


def agrees(got: Any, expected: Any) -> bool:
    """Return whether a value equals the expected value, or one of several allowed values.

    NaN equals NaN.
    """
    if expected is UNDEFINED:
        return True
    if isinstance(expected, OneOf):
        return any(agrees(got, choice) for choice in expected)
    return bool(got == expected or (got != got and expected != expected))


def same(noun: Any, expected: Table) -> None:
    """Assert that the object has exactly the expected entries and dtype."""
    got = read(noun)
    if noun.ndim == 2:
        by_columns = transpose(read(noun.T)).entries
        verify(noun)  # reading may have built more storage forms; all must agree
        assert by_columns.keys() == got.entries.keys(), "rows and columns hold other places"
        assert all(agrees(by_columns[key], x) for key, x in got.entries.items())
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    assert got.dtype == expected.dtype, f"dtype {got.dtype}, expected {expected.dtype}"
    lacking = expected.entries.keys() - got.entries.keys()
    surplus = got.entries.keys() - expected.entries.keys()
    assert not lacking and not surplus, f"lacks {sorted(lacking)}, has besides {sorted(surplus)}"
    for key, value in expected.entries.items():
        assert agrees(got.entries[key], value), f"{key} is {got.entries[key]}, not {value}"
