"""Implement GraphBLAS on dictionaries of entries, following the text of its C API 2.1.

A vector of size n is represented as an n x 1 table, so that each operation is defined only once. If
an implementation may choose a value (the `any` monoid), the entry is `OneOf` the legal values. If
the standard does not define a value (a cast of a float to an integer type with too small a range),
the entry is `UNDEFINED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce as fold
from itertools import product
from typing import Any

import numpy as np

Key = tuple[int, int]
BOOL, INT64 = np.dtype(bool), np.dtype(np.int64)


class OneOf(tuple):
    """A set of values from which an implementation may choose any."""


class _Undefined:
    """A value that the standard leaves undefined."""

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = _Undefined()


@dataclass(frozen=True)
class Table:
    """A matrix, or a vector as one column, given by its shape, dtype and stored entries."""

    shape: Key
    dtype: np.dtype
    entries: dict[Key, Any]


@dataclass(frozen=True)
class Mask:
    """A mask, which selects the positions that an operation may write.

    A structural mask selects the positions at which `table` has an entry. Any other mask selects
    the positions at which `table` has a true entry. `complement` inverts the selection.
    """

    table: Table
    structural: bool = True
    complement: bool = False

    def allows(self, key: Key) -> bool:
        """Return whether the mask is true at `key`."""
        there = key in self.table.entries
        truth = there and (self.structural or bool(self.table.entries[key]))
        return truth != self.complement


# --- scalars ----------------------------------------------------------------------------------
def cast(value: Any, dtype: Any) -> Any:
    """Return the value converted to another dtype, as `astype` converts it."""
    dtype = np.dtype(dtype)
    if isinstance(value, OneOf):
        return OneOf(cast(x, dtype) for x in value)
    if value is UNDEFINED:
        return UNDEFINED
    value = np.asarray(value)
    if value.dtype.kind == "f" and dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not np.isfinite(value) or not low <= int(value) <= high:
            return UNDEFINED
    with np.errstate(all="ignore"):
        return value.astype(dtype)[()]


def lift(function: Callable[..., Any], *values: Any) -> Any:
    """Apply the function to the values, or to each combination of choices if a value is `OneOf`."""
    if any(value is UNDEFINED for value in values):
        return UNDEFINED
    with np.errstate(all="ignore"):
        if not any(isinstance(value, OneOf) for value in values):
            return function(*values)
        choices = [value if isinstance(value, OneOf) else (value,) for value in values]
        return OneOf(lift(function, *choice) for choice in product(*choices))


def _same(function: Callable[..., Any]) -> Callable[[np.dtype], tuple[np.dtype, Callable]]:
    return lambda t: (t, lambda *xs: t.type(function(*xs)))


def _to_bool(function: Callable[..., Any]) -> Callable[[np.dtype], tuple[np.dtype, Callable]]:
    return lambda t: (BOOL, lambda *xs: np.bool_(function(*xs)))


def _minus(x: Any, y: Any) -> Any:
    return x ^ y if isinstance(x, np.bool_) else x - y


# Each function takes the common dtype of the operands, and returns the dtype of the result and
# a function on NumPy scalars.
BINARY = {
    "plus": _same(lambda x, y: x + y),
    "minus": _same(_minus),
    "rminus": _same(lambda x, y: _minus(y, x)),
    "times": _same(lambda x, y: x * y),
    "min": _same(np.minimum),
    "max": _same(np.maximum),
    "first": _same(lambda x, y: x),
    "second": _same(lambda x, y: y),
    "pair": _same(lambda x, y: 1),
    "any": lambda t: (t, lambda x, y: OneOf([x, y])),
    "eq": _to_bool(lambda x, y: x == y),
    "ne": _to_bool(lambda x, y: x != y),
    "lt": _to_bool(lambda x, y: x < y),
    "gt": _to_bool(lambda x, y: x > y),
    "le": _to_bool(lambda x, y: x <= y),
    "ge": _to_bool(lambda x, y: x >= y),
    "lor": _same(lambda x, y: x != 0 or y != 0),
    "land": _same(lambda x, y: x != 0 and y != 0),
    "lxor": _same(lambda x, y: (x != 0) != (y != 0)),
    "isgt": _same(lambda x, y: x > y),
    "band": _same(lambda x, y: x & y),
    "bor": _same(lambda x, y: x | y),
    "bxor": _same(lambda x, y: x ^ y),
}
# Let x have the position (ix, jx), and y the position (iy, jy). A positional operator returns one
# of these four indices: element POSITIONAL[name] of the tuple (ix, jx, iy, jy).
POSITIONAL = {
    "firsti": 0,
    "firstj": 1,
    "secondi": 2,
    "secondj": 3,
}
UNARY = {
    "identity": _same(lambda x: x),
    "ainv": _same(lambda x: x if isinstance(x, np.bool_) else -x),
    "abs": _same(abs),
    "one": _same(lambda x: 1),
    "lnot": _same(lambda x: x == 0),
    "bnot": _same(lambda x: ~x),
}
INDEX = {
    "rowindex": lambda i, j, s: i + s,
    "colindex": lambda i, j, s: j + s,
    "diagindex": lambda i, j, s: j - i + s,
}
SELECT = {
    "tril": lambda x, i, j, s: j <= i + s,
    "triu": lambda x, i, j, s: j >= i + s,
    "diag": lambda x, i, j, s: j == i + s,
    "offdiag": lambda x, i, j, s: j != i + s,
    "rowle": lambda x, i, j, s: i <= s,
    "rowgt": lambda x, i, j, s: i > s,
    "colle": lambda x, i, j, s: j <= s,
    "colgt": lambda x, i, j, s: j > s,
    "valueeq": lambda x, i, j, s: x == s,
    "valuene": lambda x, i, j, s: x != s,
    "valuelt": lambda x, i, j, s: x < s,
    "valuele": lambda x, i, j, s: x <= s,
    "valuegt": lambda x, i, j, s: x > s,
    "valuege": lambda x, i, j, s: x >= s,
}


@dataclass(frozen=True)
class Op:
    """A binary operator on two dtypes; `op(x, y, ix, jx, iy, jy)` returns a scalar of `dtype`."""

    name: str
    left: np.dtype
    right: np.dtype
    dtype: np.dtype
    function: Callable[..., Any]

    def __call__(self, x: Any, y: Any, *where: int) -> Any:
        if self.name in POSITIONAL:
            return np.int64(where[POSITIONAL[self.name]])
        return lift(self.function, cast(x, self.left), cast(y, self.right))


def binary(name: str, left: Any, right: Any) -> Op:
    """Return the binary operator `name` for operands of the dtypes `left` and `right`.

    Most operators cast both operands to a common dtype, by the promotion rules of NumPy 2. `first`
    and `second` return one operand without a cast. `pair` and the positional operators return
    INT64.
    """
    left, right = np.dtype(left), np.dtype(right)
    if name in POSITIONAL:
        return Op(name, left, right, INT64, lambda: None)
    if name in ("first", "second"):
        kept = left if name == "first" else right
        return Op(name, left, right, kept, BINARY[name](kept)[1])
    common = np.promote_types(left, right)
    if name == "pair":
        common = INT64
    dtype, function = BINARY[name](common)
    return Op(name, common, common, dtype, function)


def sum_dtype(add: str, mult: Op) -> np.dtype:
    """Return the dtype of a semiring's result."""
    return monoid_dtype(add, mult.dtype)


def monoid_dtype(name: str, dtype: Any) -> np.dtype:
    """Return the dtype of a monoid's result on values of `dtype`: BOOL for a logical monoid."""
    return BOOL if name in ("lor", "land", "lxor") else np.dtype(dtype)


def collapse(name: str, values: Sequence[Any], dtype: Any) -> Any:
    """Reduce one or more values with the monoid."""
    dtype = monoid_dtype(name, dtype)
    if name == "any":
        return OneOf(cast(value, dtype) for value in values)
    op = binary(name, dtype, dtype)
    return fold(op, [cast(value, dtype) for value in values])


# --- write rule -------------------------------------------------------------------------------
def write(
    C: Table,
    T: Table,
    mask: Mask | None = None,
    accum: str | None = None,
    replace: bool = False,
    region: Iterable[Key] | None = None,
) -> Table:
    """C⟨mask, replace⟩ = C ⊙ T, where ⊙ is the operator `accum`. Without `accum`, T replaces C.

    `region` is a set of positions; by default, all positions. T has entries only in the region.
    Outside the region, C does not change, except that `replace` deletes the entries that the mask
    forbids.
    """
    reached = set(product(*map(range, C.shape)) if region is None else region)
    Z = {key: value for key, value in C.entries.items() if accum or key not in reached}
    for key, value in T.entries.items():
        if accum and key in C.entries:
            value = binary(accum, C.dtype, C.dtype)(C.entries[key], value, *key, *key)
        Z[key] = cast(value, C.dtype)
    if mask is None:
        return Table(C.shape, C.dtype, Z)
    kept = {} if replace else {k: x for k, x in C.entries.items() if not mask.allows(k)}
    return Table(C.shape, C.dtype, {**kept, **{k: x for k, x in Z.items() if mask.allows(k)}})


def assign(
    C: Table, I: Sequence[int], J: Sequence[int], A: Table, mask=None, accum=None, replace=False
) -> Table:
    """C⟨mask, replace⟩(I, J) ⊙= A, where the mask spans all of C.

    If an index occurs twice in I or J, several values of A have the same position in C. Then ⊙
    also combines these values.
    """
    T: dict[Key, Any] = {}
    for (i, j), x in sorted(A.entries.items()):
        key = I[i], J[j]
        if accum and key in T:
            x = binary(accum, C.dtype, C.dtype)(cast(T[key], C.dtype), cast(x, C.dtype), *key, *key)
        T[key] = x
    return write(C, Table(C.shape, A.dtype, T), mask, accum, replace, product(I, J))


def subassign(
    C: Table, I: Sequence[int], J: Sequence[int], A: Table, mask=None, accum=None, replace=False
) -> Table:
    """C(I, J)⟨mask, replace⟩ ⊙= A, where mask and replace affect only the region."""
    inside = write(extract(C, I, J), A, mask, accum, replace)
    outside = {key: x for key, x in C.entries.items() if key not in set(product(I, J))}
    placed = {(I[i], J[j]): x for (i, j), x in inside.entries.items()}
    return Table(C.shape, C.dtype, {**outside, **placed})


def filled(shape: Key, value: Any, dtype: Any) -> Table:
    """Return a table with the scalar in every element, as the source of a scalar assignment."""
    rows, columns = shape
    entries = {key: value for key in product(range(rows), range(columns))}
    return Table(shape, np.dtype(dtype), entries)


# --- operations that compute a result T; the write rule is not applied ----------------
def mxm(A: Table, B: Table, semiring: str) -> Table:
    """T(i, j) = ⊕ₖ A(i, k) ⊗ B(k, j)."""
    add, mult = semiring.split("_")
    op = binary(mult, A.dtype, B.dtype)
    products: dict[Key, list] = {}
    for (i, k), x in sorted(A.entries.items()):
        for (kk, j), y in sorted(B.entries.items()):
            if k == kk:
                products.setdefault((i, j), []).append(op(x, y, i, k, k, j))
    dtype = sum_dtype(add, op)
    entries = {key: collapse(add, values, dtype) for key, values in products.items()}
    return Table((A.shape[0], B.shape[1]), dtype, entries)


def transpose(A: Table) -> Table:
    """T(j, i) = A(i, j)."""
    rows, columns = A.shape
    return Table((columns, rows), A.dtype, {(j, i): x for (i, j), x in A.entries.items()})


def ewise_mult(A: Table, B: Table, name: str) -> Table:
    """T(i, j) = A(i, j) ⊗ B(i, j), on the intersection."""
    op = binary(name, A.dtype, B.dtype)
    both = A.entries.keys() & B.entries.keys()
    entries = {(i, j): op(A.entries[i, j], B.entries[i, j], i, j, i, j) for i, j in both}
    return Table(A.shape, op.dtype, entries)


def ewise_add(A: Table, B: Table, name: str) -> Table:
    """T(i, j) = A(i, j) ⊕ B(i, j) where both have an entry; any other entry is copied."""
    T = ewise_mult(A, B, name)
    alone = {k: cast(x, T.dtype) for k, x in {**A.entries, **B.entries}.items()}
    return Table(A.shape, T.dtype, {**alone, **T.entries})


def ewise_union(A: Table, B: Table, name: str, alpha: Any, beta: Any) -> Table:
    """T(i, j) = A(i, j) ⊕ B(i, j) on the union; alpha replaces an absent A(i, j), beta B(i, j)."""
    op = binary(name, A.dtype, B.dtype)
    either = A.entries.keys() | B.entries.keys()
    entries = {k: op(A.entries.get(k, alpha), B.entries.get(k, beta), *k, *k) for k in either}
    return Table(A.shape, op.dtype, entries)


def apply(A: Table, name: str) -> Table:
    """T(i, j) = f(A(i, j))."""
    dtype, function = UNARY[name](A.dtype)
    return Table(A.shape, dtype, {k: lift(function, x) for k, x in A.entries.items()})


def apply_bound(A: Table, name: str, scalar: Any, side: str) -> Table:
    """T(i, j) = A(i, j) ⊗ s, or s ⊗ A(i, j); dtypes are promoted as NumPy promotes them."""
    common = np.result_type(A.dtype, scalar)
    if name in ("first", "second"):
        common = A.dtype if (name == "first") == (side == "right") else common
    op = binary(name, common, common)
    s = common.type(scalar)
    entries = {
        k: op(x, s, *k, *k) if side == "right" else op(s, x, *k, *k) for k, x in A.entries.items()
    }
    return Table(A.shape, op.dtype, entries)


def apply_index(A: Table, name: str, thunk: int) -> Table:
    """T(i, j) = f(A(i, j), i, j, s)."""
    dtype = A.dtype if A.dtype == np.int32 else INT64
    return Table(A.shape, dtype, {k: dtype.type(INDEX[name](*k, thunk)) for k in A.entries})


def select(A: Table, name: str, thunk: Any) -> Table:
    """T = the entries A(i, j) for which the operator f is true: f(A(i, j), i, j, thunk)."""
    held = {k: x for k, x in A.entries.items() if SELECT[name](x, *k, thunk)}
    return Table(A.shape, A.dtype, held)


def reduce_rowwise(A: Table, monoid: str) -> Table:
    """t(i) = ⊕ⱼ A(i, j); an empty row has no entry."""
    rows: dict[Key, list] = {}
    for (i, _), x in sorted(A.entries.items()):
        rows.setdefault((i, 0), []).append(x)
    entries = {key: collapse(monoid, values, A.dtype) for key, values in rows.items()}
    return Table((A.shape[0], 1), monoid_dtype(monoid, A.dtype), entries)


def reduce_scalar(A: Table, monoid: str) -> Any:
    """s = ⊕ᵢⱼ A(i, j); None if A has no entries."""
    values = [x for _, x in sorted(A.entries.items())]
    return collapse(monoid, values, A.dtype) if values else None


def extract(A: Table, I: Sequence[int], J: Sequence[int]) -> Table:
    """T = A(I, J); indices may repeat."""
    spots = product(enumerate(I), enumerate(J))
    entries = {(p, q): A.entries[i, j] for (p, i), (q, j) in spots if (i, j) in A.entries}
    return Table((len(I), len(J)), A.dtype, entries)


def kronecker(A: Table, B: Table, name: str) -> Table:
    """T(i·m + k, j·n + l) = A(i, j) ⊗ B(k, l), where B is m x n."""
    op, (m, n) = binary(name, A.dtype, B.dtype), B.shape
    entries = {
        (i * m + k, j * n + l): op(x, y, i, j, k, l)
        for (i, j), x in A.entries.items()
        for (k, l), y in B.entries.items()
    }
    return Table((A.shape[0] * m, A.shape[1] * n), op.dtype, entries)


def diag(v: Table, k: int) -> Table:
    """Return the matrix with v on its k-th diagonal."""
    n = v.shape[0] + abs(k)
    down, right = max(-k, 0), max(k, 0)
    return Table((n, n), v.dtype, {(i + down, i + right): x for (i, _), x in v.entries.items()})


def diagonal(A: Table, k: int) -> Table:
    """v(i) = the i-th element of A's k-th diagonal."""
    down, right = max(-k, 0), max(k, 0)
    size = max(0, min(A.shape[0] - down, A.shape[1] - right))
    entries = {(i - down, 0): x for (i, j), x in A.entries.items() if j - i == k}
    return Table((size, 1), A.dtype, entries)


def reposition(A: Table, rows: int, columns: int, shape: Key) -> Table:
    """T(i + rows, j + columns) = A(i, j), if this position of T is inside `shape`."""
    moved = {(i + rows, j + columns): x for (i, j), x in A.entries.items()}
    inside = set(product(*map(range, shape)))
    return Table(shape, A.dtype, {key: x for key, x in moved.items() if key in inside})


def build(shape: Key, dtype: Any, tuples: Iterable[tuple[int, int, Any]], dup: str) -> Table:
    """Build a matrix from tuples (row, column, value).

    The operator `dup` combines the values of tuples at the same position, in the order of the
    tuples.
    """
    places: dict[Key, list] = {}
    for i, j, x in tuples:
        places.setdefault((i, j), []).append(x)
    op = binary(dup, dtype, dtype)
    return Table(shape, np.dtype(dtype), {k: cast(fold(op, xs), dtype) for k, xs in places.items()})
