"""Compare each operation with the specification, for all masks, accumulators, dtypes and layouts.

A test draws the operands, and passes two things to `check`: the expression and the result of the
oracle. `check` draws an output (a new object or one of the operands), a mask (possibly a view of
the output), an accumulator and `replace`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import Mask, Table
from strategies import (
    ACCUMS,
    BITWISE,
    DTYPES,
    INTEGERS,
    LAYOUTS,
    MONOIDS,
    SEMIRINGS,
    VALUED,
    agrees,
    columns,
    dtypes,
    mask_of,
    masks,
    matrix,
    numbers,
    read,
    same,
    selections,
    sizes,
    suited,
    tables,
    vector,
)

import graphla as gl

data = st.data()


# --- random writes ----------------------------------------------------------------------------
class Operand:
    """A Matrix or Vector, and the table that it represents."""

    def __init__(self, draw: Callable[..., Any], table: Table, kind: str = "matrix"):
        self.table, self.kind = table, kind
        self.layout = draw(LAYOUTS[kind], label=f"layout of {kind}")
        self.restore()

    def restore(self) -> None:
        """Rebuild the Matrix or Vector from the table."""
        make: Any = matrix if self.kind == "matrix" else vector
        self.noun = make(self.table, self.layout)

    def is_like(self, shape: tuple[int, int], kind: str) -> bool:
        return self.kind == kind and self.table.shape == shape


def draw_output(draw: Callable[..., Any], shape, kind: str, inputs: tuple[Operand, ...]) -> Operand:
    """Draw the output: an input of the right shape, or a new object of any dtype."""
    alike = [operand for operand in inputs if operand.is_like(shape, kind)]
    if alike and draw(st.booleans(), label="output is an input"):
        return draw(st.sampled_from(alike))
    return Operand(draw, draw(tables(st.just(shape)), label="output"), kind)


def draw_write(
    draw: Callable[..., Any], shape, kind: str, nouns: tuple[Operand, ...]
) -> tuple[Mask | None, Any, str | None, bool]:
    """Draw a mask, an accumulator and `replace`. The mask may be a view of an operand."""
    mask = draw(masks(shape), label="mask")
    accum = draw(st.none() | st.sampled_from(ACCUMS), label="accum")
    if mask is None:
        return None, None, accum, False
    alike = [operand for operand in nouns if operand.is_like(shape, kind)]
    if alike and draw(st.integers(0, 2), label="mask is a noun of the statement") == 0:
        operand = draw(st.sampled_from(alike))
        mask = Mask(operand.table, mask.structural, mask.complement)
    else:
        operand = Operand(draw, mask.table, kind)
    return mask, mask_of(mask, operand.noun), accum, draw(st.booleans(), label="replace")


def updater(C: Any, view: Any, accum: str | None, replace: bool) -> Any:
    """Return C(mask, accum, replace), omitting arguments that are None or False."""
    given = {"mask": view, "accum": getattr(gl.binary, accum) if accum else None}
    given = {name: value for name, value in given.items() if value is not None}
    return C(**given, replace=True) if replace else C(**given)


def check(
    draw: Callable[..., Any],
    make: Callable[[], Any],
    expected: Table,
    *inputs: Operand,
    kind: str = "matrix",
) -> None:
    """Assert that `make()` computes `expected`, and that writing it obeys the write rule."""
    same(make().new(), expected)
    C = draw_output(draw, expected.shape, kind, inputs)
    mask, view, accum, replace = draw_write(draw, expected.shape, kind, (C, *inputs))
    after = oracle.write(C.table, expected, mask, accum, replace)
    if mask is not None:
        empty = Table(expected.shape, expected.dtype, {})
        same(make().new(mask=view), oracle.write(empty, expected, mask))
    updater(C.noun, view, accum, replace) << make()
    same(C.noun, after)
    for operand in inputs:
        if operand is C:
            operand.restore()
        else:
            same(operand.noun, operand.table)


def at(module: Any, name: str) -> Any:
    return getattr(module, name)


# --- products ---------------------------------------------------------------------------------
@st.composite
def factors(draw: st.DrawFn, rows: Any, inner: Any, columns: Any) -> tuple[Table, Table, str]:
    """Draw two tables that can be multiplied, and a semiring defined on their dtypes."""
    semiring = draw(st.sampled_from(SEMIRINGS))
    add, mult = semiring.split("_")
    left = draw(dtypes)
    mixes = add not in ("lor", "land", "lxor") and mult in ("plus", "times", "min", "max")
    right = draw(dtypes) if mixes and draw(st.booleans()) else left
    n, k, m = draw(rows), draw(inner), draw(columns)
    # Exclude float entries whose products are rounded, because their sum depends on the order.
    strict = (left.kind == "f" or right.kind == "f") and add in ("plus", "times")
    values = [suited(add, dtype) if strict else numbers(dtype) for dtype in (left, right)]
    if strict and left != right:
        values = [numbers(dtype, wild=False) for dtype in (left, right)]
        assume(left.itemsize < 4 or left.kind == "f")
        assume(right.itemsize < 4 or right.kind == "f")
    A = draw(tables(st.just((n, k)), left, values=values[0]))
    B = draw(tables(st.just((k, m)), right, values=values[1]))
    return A, B, semiring


@given(data)
def test_matrix_products_agree_with_the_specification_for_any_semiring(data):
    A, B, semiring = data.draw(factors(sizes, sizes, sizes))
    C, D = Operand(data.draw, A), Operand(data.draw, B)
    op = at(gl.semiring, semiring)
    check(data.draw, lambda: op(C.noun @ D.noun), oracle.mxm(A, B, semiring), C, D)


@given(data)
def test_matrix_products_of_transposed_operands_agree_with_the_specification(data):
    A, B, semiring = data.draw(factors(sizes, sizes, sizes))
    C, D = Operand(data.draw, oracle.transpose(A)), Operand(data.draw, oracle.transpose(B))
    op = at(gl.semiring, semiring)
    check(data.draw, lambda: C.noun.T.mxm(D.noun.T, op), oracle.mxm(A, B, semiring), C, D)


@given(data)
def test_products_of_a_matrix_with_itself_and_its_transpose_agree_with_the_specification(data):
    n = data.draw(sizes)
    A = data.draw(tables(st.just((n, n)), np.dtype(np.int32)))
    C, op, flipped = Operand(data.draw, A), gl.semiring.plus_times, oracle.transpose(A)
    check(data.draw, lambda: op(C.noun @ C.noun), oracle.mxm(A, A, "plus_times"), C)
    check(data.draw, lambda: op(C.noun @ C.noun.T), oracle.mxm(A, flipped, "plus_times"), C)
    check(data.draw, lambda: op(C.noun.T @ C.noun), oracle.mxm(flipped, A, "plus_times"), C)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@given(data)
def test_mxv_agrees_with_the_specification_for_any_semiring(direction, data):
    A, u, semiring = data.draw(factors(sizes, sizes, st.just(1)))
    C, v = Operand(data.draw, A), Operand(data.draw, u, "vector")
    op = at(gl.semiring, semiring)
    with gl.direction(direction):
        check(
            data.draw, lambda: op(C.noun @ v.noun), oracle.mxm(A, u, semiring), C, v, kind="vector"
        )


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@given(data)
def test_vxm_agrees_with_the_specification_for_any_semiring(direction, data):
    u, A, semiring = data.draw(factors(st.just(1), sizes, sizes))
    v = Operand(data.draw, oracle.transpose(u), "vector")
    C = Operand(data.draw, A)
    expected = oracle.transpose(oracle.mxm(u, A, semiring))
    op = at(gl.semiring, semiring)
    with gl.direction(direction):
        check(data.draw, lambda: op(v.noun @ C.noun), expected, C, v, kind="vector")


@pytest.mark.parametrize("direction", ["push", "pull"])
@given(data)
def test_products_with_a_transposed_matrix_agree_with_the_specification(direction, data):
    A, u, semiring = data.draw(factors(sizes, sizes, st.just(1)))
    v, C = Operand(data.draw, u, "vector"), Operand(data.draw, oracle.transpose(A))
    op = at(gl.semiring, semiring)
    with gl.direction(direction):
        expected = oracle.mxm(A, u, semiring)
        check(data.draw, lambda: C.noun.T.mxv(v.noun, op), expected, C, v, kind="vector")


@given(data)
def test_the_inner_product_folds_the_products_of_two_vectors(data):
    u, v, semiring = data.draw(factors(st.just(1), sizes, st.just(1)))
    x, y = Operand(data.draw, oracle.transpose(u), "vector"), Operand(data.draw, v, "vector")
    expected = oracle.mxm(u, v, semiring)
    s = x.noun.inner(y.noun, at(gl.semiring, semiring)).new()
    assert np.dtype(s.dtype.np_type) == expected.dtype
    if expected.entries:
        assert agrees(s.value, expected.entries[0, 0])
    else:
        assert s.is_empty


@given(data)
def test_the_outer_product_multiplies_each_pair_of_entries(data):
    name = data.draw(st.sampled_from(["times", "plus", "minus", "first", "second", "pair", "lt"]))
    left = data.draw(dtypes)
    right = data.draw(dtypes) if name not in ("pair",) else left
    u, v = data.draw(columns(dtype=left)), data.draw(columns(dtype=right))
    x, y = Operand(data.draw, u, "vector"), Operand(data.draw, v, "vector")
    expected = oracle.kronecker(u, oracle.transpose(v), name)
    check(data.draw, lambda: x.noun.outer(y.noun, at(gl.binary, name)), expected, x, y)


@given(data)
def test_the_kronecker_product_multiplies_each_pair_of_entries(data):
    name, left, right = data.draw(pairs_of_dtypes())
    small = st.tuples(st.integers(0, 3), st.integers(0, 3))
    A, B = data.draw(tables(small, left)), data.draw(tables(small, right))
    C, D = Operand(data.draw, A), Operand(data.draw, B)
    op = at(gl.binary, name)
    check(data.draw, lambda: C.noun.kronecker(D.noun, op), oracle.kronecker(A, B, name), C, D)


@given(data)
def test_the_method_power_multiplies_a_matrix_by_itself(data):
    semiring = data.draw(st.sampled_from(["plus_times", "min_plus", "lor_land", "max_first"]))
    dtype = data.draw(dtypes) if semiring != "lor_land" else oracle.BOOL
    # Draw small values, because a semiring is not distributive if values overflow or are rounded.
    values = st.integers(-3 if dtype.kind in "if" else 0, 3).map(dtype.type)
    n = data.draw(st.integers(0, 4))
    A = data.draw(tables(st.just((n, n)), dtype, values=values))
    times = data.draw(st.integers(1, 4))
    C, expected = Operand(data.draw, A), A
    for _ in range(times - 1):
        expected = oracle.mxm(expected, A, semiring)
    op = at(gl.semiring, semiring)
    check(data.draw, lambda: C.noun.power(times, op), expected, C)


@pytest.mark.parametrize("semiring, one", [("plus_times", 1), ("min_plus", 0), ("lor_land", True)])
@given(n=sizes)
def test_power_0_of_a_matrix_is_the_identity(semiring, one, n):
    A = gl.Matrix(type(one), n, n)
    ones = {(i, i): one for i in range(n)}
    same(A.power(0, at(gl.semiring, semiring)).new(), Table((n, n), np.dtype(type(one)), ones))


# --- entrywise operations -------------------------------------------------------------------------
@st.composite
def pairs_of_dtypes(draw: st.DrawFn, positional: bool = False) -> tuple[str, Any, Any]:
    """Draw a binary operator and two dtypes on which it is defined."""
    names = [*VALUED, *BITWISE, *(oracle.POSITIONAL if positional else [])]
    name = draw(st.sampled_from(names))
    choices = INTEGERS if name in BITWISE else DTYPES
    left = draw(st.sampled_from(choices))
    if name in ("pair", "any") or draw(st.booleans()):
        return name, left, left
    right = draw(st.sampled_from(choices))
    assume(name not in BITWISE or np.promote_types(left, right).kind != "f")
    return name, left, right


def binary_of(name: str) -> Any:
    return gl.monoid.any if name == "any" else at(gl.binary, name)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_operation_ewise_mult_combines_entries_on_the_intersection(kind, data):
    name, left, right = data.draw(pairs_of_dtypes(positional=True))
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    A, B = data.draw(tables(st.just(shape), left)), data.draw(tables(st.just(shape), right))
    C, D = Operand(data.draw, A, kind), Operand(data.draw, B, kind)
    op, expected = binary_of(name), oracle.ewise_mult(A, B, name)
    check(data.draw, lambda: op(C.noun & D.noun), expected, C, D, kind=kind)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_operation_ewise_add_combines_entries_on_the_union(kind, data):
    name, left, right = data.draw(pairs_of_dtypes(positional=True))
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    A, B = data.draw(tables(st.just(shape), left)), data.draw(tables(st.just(shape), right))
    C, D = Operand(data.draw, A, kind), Operand(data.draw, B, kind)
    op, expected = binary_of(name), oracle.ewise_add(A, B, name)
    check(data.draw, lambda: op(C.noun | D.noun), expected, C, D, kind=kind)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_operation_ewise_union_uses_default_values_for_absent_entries(kind, data):
    name, dtype, _ = data.draw(pairs_of_dtypes())
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    A, B = data.draw(tables(st.just(shape), dtype)), data.draw(tables(st.just(shape), dtype))
    alpha, beta = data.draw(numbers(dtype)), data.draw(numbers(dtype))
    C, D = Operand(data.draw, A, kind), Operand(data.draw, B, kind)
    op, expected = binary_of(name), oracle.ewise_union(A, B, name, alpha, beta)
    left, right = (gl.Scalar.from_value(x, dtype) for x in (alpha, beta))
    check(data.draw, lambda: C.noun.ewise_union(D.noun, op, left, right), expected, C, D, kind=kind)


@pytest.mark.parametrize("name", ["firsti", "firstj", "secondi", "secondj"])
@given(data)
def test_positional_operators_read_the_indices_of_the_transpose(name, data):
    shape = data.draw(st.tuples(sizes, sizes))
    A, B = (data.draw(tables(st.just(shape), np.dtype(np.int64))) for _ in range(2))
    op, which = getattr(gl.binary, name), name[-1] == "j"
    expected = {(j, i): (j, i)[which] for i, j in A.entries.keys() & B.entries.keys()}
    assert op(matrix(A).T & matrix(B).T).new().to_dict() == expected


@given(data)
def test_elementwise_operations_accept_transposed_operands(data):
    n, m = data.draw(sizes), data.draw(sizes)
    A = data.draw(tables(st.just((n, m)), np.dtype(np.int16)))
    B = data.draw(tables(st.just((m, n)), np.dtype(np.int16)))
    C, D = Operand(data.draw, A), Operand(data.draw, B)
    flipped = oracle.transpose(B)
    expected = oracle.ewise_add(A, flipped, "minus")
    check(data.draw, lambda: gl.binary.minus(C.noun | D.noun.T), expected, C, D)
    expected = oracle.ewise_mult(flipped, A, "minus")
    check(data.draw, lambda: gl.binary.minus(D.noun.T & C.noun), expected, C, D)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_operation_apply_maps_each_entry(kind, data):
    name = data.draw(st.sampled_from(list(oracle.UNARY)))
    dtype = data.draw(st.sampled_from(INTEGERS if name == "bnot" else DTYPES))
    shape = st.tuples(sizes, sizes if kind == "matrix" else st.just(1))
    A = data.draw(tables(shape, dtype))
    C, op = Operand(data.draw, A, kind), at(gl.unary, name)
    check(data.draw, lambda: C.noun.apply(op), oracle.apply(A, name), C, kind=kind)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_operation_apply_binds_a_scalar_to_either_operand(kind, data):
    name, dtype, _ = data.draw(pairs_of_dtypes())
    assume(name != "any")
    shape = st.tuples(sizes, sizes if kind == "matrix" else st.just(1))
    A, side = data.draw(tables(shape, dtype)), data.draw(st.sampled_from(["left", "right"]))
    scalar = data.draw(numbers(dtype))
    if data.draw(st.booleans(), label="a Python scalar"):
        scalar = scalar.item()
    C, op = Operand(data.draw, A, kind), at(gl.binary, name)
    expected = oracle.apply_bound(A, name, scalar, side)
    check(data.draw, lambda: C.noun.apply(op, **{side: scalar}), expected, C, kind=kind)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_apply_reads_the_indices_of_each_entry(kind, data):
    shape = st.tuples(sizes, sizes if kind == "matrix" else st.just(1))
    names = list(oracle.INDEX) if kind == "matrix" else ["index"]
    A, name = data.draw(tables(shape)), data.draw(st.sampled_from(names))
    thunk = data.draw(st.integers(-3, 3))
    C, op = Operand(data.draw, A, kind), at(gl.indexunary, name)
    expected = oracle.apply_index(A, "rowindex" if name == "index" else name, thunk)
    check(data.draw, lambda: C.noun.apply(op, thunk), expected, C, kind=kind)


@given(data)
def test_the_operation_select_keeps_the_matrix_entries_that_satisfy_the_predicate(data):
    A, name = data.draw(tables()), data.draw(st.sampled_from(list(oracle.SELECT)))
    by_value = name.startswith("value")
    thunk = data.draw(numbers(A.dtype) if by_value else st.integers(-3, 3))
    C, op = Operand(data.draw, A), at(gl.select, name)
    check(data.draw, lambda: C.noun.select(op, thunk), oracle.select(A, name, thunk), C)


@given(data)
def test_the_operation_select_keeps_the_vector_entries_that_satisfy_the_predicate(data):
    names = {name: name for name in oracle.SELECT if name.startswith("value")}
    names |= {"indexle": "rowle", "indexgt": "rowgt"}
    A, name = data.draw(columns()), data.draw(st.sampled_from(list(names)))
    thunk = data.draw(numbers(A.dtype) if name[0] == "v" else st.integers(-3, 3))
    v, op = Operand(data.draw, A, "vector"), at(gl.select, name)
    expected = oracle.select(A, names[name], thunk)
    check(data.draw, lambda: v.noun.select(op, thunk), expected, v, kind="vector")


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_select_keeps_the_entries_where_the_mask_is_true(kind, data):
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    A, mask = data.draw(tables(st.just(shape))), data.draw(masks(shape))
    assume(mask is not None)
    C, M = Operand(data.draw, A, kind), Operand(data.draw, mask.table, kind)
    expected = oracle.write(Table(shape, A.dtype, {}), A, mask)
    check(data.draw, lambda: C.noun.select(mask_of(mask, M.noun)), expected, C, M, kind=kind)


# --- reductions -------------------------------------------------------------------------------
@st.composite
def reducible(draw: st.DrawFn, shape: Any = None) -> tuple[Table, str]:
    """Draw a matrix as a Table, and the name of a monoid.

    Reducing the entries with the monoid gives the same value in any order.
    """
    monoid, dtype = draw(st.sampled_from(MONOIDS)), draw(dtypes)
    return draw(tables(shape, dtype, values=suited(monoid, dtype))), monoid


@given(data)
def test_reducing_rowwise_folds_each_row(data):
    A, monoid = data.draw(reducible())
    C, op = Operand(data.draw, A), at(gl.monoid, monoid)
    expected = oracle.reduce_rowwise(A, monoid)
    check(data.draw, lambda: C.noun.reduce_rowwise(op), expected, C, kind="vector")
    check(data.draw, lambda: C.noun.T.reduce_columnwise(op), expected, C, kind="vector")


@given(data)
def test_reducing_columnwise_folds_each_column(data):
    A, monoid = data.draw(reducible())
    C, op = Operand(data.draw, A), at(gl.monoid, monoid)
    expected = oracle.reduce_rowwise(oracle.transpose(A), monoid)
    check(data.draw, lambda: C.noun.reduce_columnwise(op), expected, C, kind="vector")
    check(data.draw, lambda: C.noun.T.reduce_rowwise(op), expected, C, kind="vector")


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_reducing_to_a_scalar_folds_all_entries(kind, data):
    shape = st.tuples(sizes, sizes if kind == "matrix" else st.just(1))
    A, monoid = data.draw(reducible(shape))
    C, op = Operand(data.draw, A, kind), at(gl.monoid, monoid)
    expected = oracle.reduce_scalar(A, monoid)
    s = (C.noun.reduce_scalar if kind == "matrix" else C.noun.reduce)(op).new()
    assert np.dtype(s.dtype.np_type) == oracle.monoid_dtype(monoid, A.dtype)
    assert s.is_empty if expected is None else agrees(s.value, expected)


@given(data)
def test_reducing_without_entries_gives_the_identity_unless_an_empty_result_is_allowed(data):
    dtype = data.draw(dtypes)
    monoid = data.draw(st.sampled_from(["plus", "times", "lor", "land"]))
    A, v = gl.Matrix(dtype, 3, 2), gl.Vector(dtype, 3)
    op = at(gl.monoid, monoid)
    identity = {"plus": 0, "lor": 0, "times": 1, "land": 1}[monoid]
    assert A.reduce_scalar(op, allow_empty=False).new().value == identity
    assert v.reduce(op, allow_empty=False).new().value == identity
    assert A.reduce_scalar(op).new().is_empty and v.reduce(op).new().is_empty


@given(data)
def test_a_reduction_can_be_accumulated_into_a_scalar(data):
    A, monoid = data.draw(reducible())
    assume(monoid != "any")
    before = data.draw(st.none() | numbers(A.dtype, wild=False))
    s = gl.Scalar(A.dtype)
    if before is not None:
        s << before
    s(gl.binary.plus) << matrix(A).reduce_scalar(at(gl.monoid, monoid))
    total = oracle.reduce_scalar(A, monoid)
    if before is not None and total is not None:
        total = oracle.binary("plus", A.dtype, A.dtype)(before, total)
    total = before if total is None else total
    assert s.is_empty if total is None else agrees(s.value, total)


# --- extract ----------------------------------------------------------------------------------
@given(data)
def test_extracting_a_submatrix_agrees_with_the_specification(data):
    A = data.draw(tables())
    C = Operand(data.draw, A)
    rows, I = data.draw(selections(A.shape[0], duplicates=True))
    cols, J = data.draw(selections(A.shape[1], duplicates=True))
    check(data.draw, lambda: C.noun[rows, cols], oracle.extract(A, I, J), C)
    check(data.draw, lambda: C.noun.T[cols, rows], oracle.transpose(oracle.extract(A, I, J)), C)


@given(data)
def test_extracting_a_subvector_agrees_with_the_specification(data):
    u = data.draw(columns())
    v = Operand(data.draw, u, "vector")
    index, I = data.draw(selections(u.shape[0], duplicates=True))
    check(data.draw, lambda: v.noun[index], oracle.extract(u, I, [0]), v, kind="vector")


@given(data)
def test_extracting_a_row_or_a_column_agrees_with_the_specification(data):
    A = data.draw(tables(st.tuples(st.integers(1, 6), st.integers(1, 6))))
    C = Operand(data.draw, A)
    i, j = data.draw(st.integers(0, A.shape[0] - 1)), data.draw(st.integers(0, A.shape[1] - 1))
    rows, I = data.draw(selections(A.shape[0], duplicates=True))
    cols, J = data.draw(selections(A.shape[1], duplicates=True))
    row = oracle.transpose(oracle.extract(A, [i], J))
    check(data.draw, lambda: C.noun[i, cols], row, C, kind="vector")
    check(data.draw, lambda: C.noun[rows, j], oracle.extract(A, I, [j]), C, kind="vector")
    check(data.draw, lambda: C.noun.T[cols, i], row, C, kind="vector")


@given(data)
def test_extracting_an_element_agrees_with_the_specification(data):
    A = data.draw(tables(st.tuples(st.integers(1, 6), st.integers(1, 6))))
    C, v = matrix(A), vector(oracle.extract(A, range(A.shape[0]), [0]))
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s = C[i, j].new()
            assert s.dtype == C.dtype
            assert ((i, j) in C) == ((i, j) in A.entries) == (not s.is_empty)
            assert (C.get(i, j) is None) == s.is_empty
            if not s.is_empty:
                assert agrees(s.value, A.entries[i, j]) and agrees(C.get(i, j), A.entries[i, j])
                assert agrees(C.T[j, i].new().value, A.entries[i, j])
        assert (i in v) == ((i, 0) in A.entries)
        assert agrees(v.get(i, -1), A.entries.get((i, 0), -1))


# --- shapes -----------------------------------------------------------------------------------
@given(data)
def test_the_transpose_swaps_rows_and_columns(data):
    A = data.draw(tables())
    C = Operand(data.draw, A)
    check(data.draw, lambda: C.noun.T, oracle.transpose(A), C)


@given(data)
def test_writing_a_matrix_obeys_the_graphblas_write_rule(data):
    A = data.draw(tables())
    C = Operand(data.draw, A)
    D = draw_output(data.draw, A.shape, "matrix", (C,))
    mask, view, accum, replace = draw_write(data.draw, A.shape, "matrix", (C, D))
    after = oracle.write(D.table, A, mask, accum, replace)
    updater(D.noun, view, accum, replace) << C.noun
    same(D.noun, after)


@given(data)
def test_writing_a_vector_obeys_the_graphblas_write_rule(data):
    u = data.draw(columns())
    v = Operand(data.draw, u, "vector")
    w = draw_output(data.draw, u.shape, "vector", (v,))
    mask, view, accum, replace = draw_write(data.draw, u.shape, "vector", (v, w))
    after = oracle.write(w.table, u, mask, accum, replace)
    updater(w.noun, view, accum, replace) << v.noun
    same(w.noun, after)


@given(data)
def test_the_operation_diag_converts_a_vector_to_a_diagonal_matrix_and_back(data):
    u, k = data.draw(columns()), data.draw(st.integers(-3, 3))
    same(vector(u).diag(k), oracle.diag(u, k))
    A, k = data.draw(tables()), data.draw(st.integers(-3, 3))
    assume(-A.shape[0] < k < A.shape[1])
    same(matrix(A).diag(k), oracle.diagonal(A, k))


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_an_input_mask_limits_the_entries_that_extract_reads(kind, data):
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    A, mask = data.draw(tables(st.just(shape))), data.draw(masks(shape))
    assume(mask is not None)
    C, M = Operand(data.draw, A, kind), Operand(data.draw, mask.table, kind)
    (i, I), (j, J) = (data.draw(selections(n, duplicates=True)) for n in shape)
    where = (i, j) if kind == "matrix" else i
    J = J if kind == "matrix" else [0]
    # `mask` has the shape of A, and `drawn` has the shape of the extracted part. `drawn` allows
    # position (p, q) of the part if `mask` allows (I[p], J[q]), the same position in A.
    spots = product(enumerate(I), enumerate(J))
    allowed = {(p, q): True for (p, r), (q, c) in spots if mask.allows((r, c))}
    part = oracle.extract(A, I, J)
    drawn = Mask(Table(part.shape, oracle.BOOL, allowed))
    empty = Table(part.shape, A.dtype, {})
    view = mask_of(mask, M.noun)
    same(C.noun[where].new(input_mask=view), oracle.write(empty, part, drawn))
    D = Operand(data.draw, data.draw(tables(st.just(part.shape))), kind)
    accum, replace = data.draw(st.none() | st.sampled_from(ACCUMS)), data.draw(st.booleans())
    options = {} if accum is None else {"accum": accum}
    D.noun(input_mask=view, replace=replace, **options) << C.noun[where]
    same(D.noun, oracle.write(D.table, part, drawn, accum, replace))


@given(data)
def test_the_method_setdiag_obeys_the_graphblas_write_rule_on_a_diagonal(data):
    A = data.draw(tables(st.tuples(st.integers(1, 6), st.integers(1, 6))))
    k = data.draw(st.integers(1 - A.shape[0], A.shape[1] - 1))
    before = oracle.diagonal(A, k)
    u, value = data.draw(columns(before.shape[0])), None
    if data.draw(st.booleans(), label="a scalar"):
        value = data.draw(numbers(A.dtype))
        u = oracle.filled(before.shape, value, A.dtype)
    mask, view, accum, _ = draw_write(data.draw, before.shape, "vector", ())
    after = oracle.write(before, u, mask, accum)
    C = Operand(data.draw, A)
    C.noun.setdiag(vector(u) if value is None else value, k, mask=view, accum=accum)
    off = {key: x for key, x in A.entries.items() if key[1] - key[0] != k}
    on = {(i + max(-k, 0), i + max(k, 0)): x for (i, _), x in after.entries.items()}
    same(C.noun, Table(A.shape, A.dtype, {**off, **on}))


@given(data)
def test_the_operation_reposition_moves_every_entry(data):
    A = data.draw(tables(st.tuples(st.integers(1, 6), st.integers(1, 6))))
    down, right = data.draw(st.integers(-7, 7)), data.draw(st.integers(-7, 7))
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    C = Operand(data.draw, A)
    expected = oracle.reposition(A, down, right, shape)
    nrows, ncols = shape
    check(data.draw, lambda: C.noun.reposition(down, right, nrows=nrows, ncols=ncols), expected, C)
    u = oracle.extract(A, range(A.shape[0]), [0])
    v = Operand(data.draw, u, "vector")
    expected = oracle.reposition(u, down, 0, (nrows, 1))
    check(data.draw, lambda: v.noun.reposition(down, size=nrows), expected, v, kind="vector")


@given(data)
def test_the_method_build_folds_duplicates_from_the_left(data):
    dtype = data.draw(dtypes)
    name = data.draw(st.sampled_from([*ACCUMS, "lxor", "eq"]))
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    places = st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1))
    wild = name not in ("plus", "minus", "times")
    powers = suited("times", dtype) if name == "times" else numbers(dtype, wild=wild)
    triples = data.draw(st.lists(st.tuples(places, powers), max_size=12))
    rows, cols = [i for (i, _), _ in triples], [j for (_, j), _ in triples]
    values = np.array([x for _, x in triples], dtype)
    expected = oracle.build(shape, dtype, [(i, j, x) for (i, j), x in triples], name)
    op = at(gl.binary, name)
    A = gl.Matrix.from_coo(rows, cols, values, dup_op=op, nrows=shape[0], ncols=shape[1])
    same(A, expected)
    B = gl.Matrix(dtype, *shape)
    B.build(rows, cols, values, dup_op=op)
    same(B, expected)
    expected = oracle.build((shape[0], 1), dtype, [(i, 0, x) for (i, _), x in triples], name)
    same(gl.Vector.from_coo(rows, values, dup_op=op, size=shape[0]), expected)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_methods_dup_and_new_apply_the_given_dtype_and_mask(kind, data):
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    A, dtype = data.draw(tables(st.just(shape))), data.draw(dtypes)
    mask = data.draw(masks(shape))
    make = matrix if kind == "matrix" else vector
    view = None if mask is None else mask_of(mask, make(mask.table))
    expected = oracle.write(Table(shape, dtype, {}), A, mask)
    same(make(A).dup(dtype, mask=view), expected)
    same(make(A).dup(clear=True), Table(shape, A.dtype, {}))
    same(make(A).apply(gl.unary.identity).new(dtype, mask=view), expected)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_the_method_resize_drops_entries_outside_the_new_shape(kind, data):
    A = data.draw(tables(st.tuples(sizes, sizes if kind == "matrix" else st.just(1))))
    n, m = data.draw(sizes), data.draw(sizes) if kind == "matrix" else 1
    C = Operand(data.draw, A, kind)
    C.noun.resize(*((n, m) if kind == "matrix" else (n,)))
    same(C.noun, oracle.reposition(A, 0, 0, (n, m)))
    read(C.noun)
