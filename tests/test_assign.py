"""Compare assign and subassign with the specification on elements, rows, columns and regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import Mask, Table
from strategies import (
    ACCUMS,
    columns,
    dtypes,
    mask_of,
    masks,
    matrix,
    numbers,
    same,
    selections,
    sizes,
    suited,
    tables,
    vector,
)
from test_operations import Operand, draw_output, draw_write, updater

import graphla as gl

data = st.data()
nonempty = st.tuples(st.integers(1, 6), st.integers(1, 6))


def confine(region: Any, view: Any, accum: str | None, replace: bool) -> Any:
    """Return C[I, J](mask, accum, replace), without the arguments that are None."""
    return updater(region, view, accum, replace)


def draw_value(draw: Any, shape: tuple[int, int], kind: str, *inputs: Operand) -> Operand:
    """Draw a value that can be assigned to a region of this shape."""
    return draw_output(draw, shape, kind, inputs)


# --- regions ----------------------------------------------------------------------------------
@given(data)
def test_assigning_to_a_submatrix_agrees_with_the_specification(data):
    C = Operand(data.draw, data.draw(tables()))
    rows, I = data.draw(selections(C.table.shape[0], duplicates=False))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    A = draw_value(data.draw, (len(I), len(J)), "matrix", C)
    mask, view, accum, replace = draw_write(data.draw, C.table.shape, "matrix", (C, A))
    expected = oracle.assign(C.table, I, J, A.table, mask, accum, replace)
    if mask is None and accum is None:
        C.noun[rows, cols] << A.noun
    else:
        updater(C.noun, view, accum, replace)[rows, cols] << A.noun
    same(C.noun, expected)


@given(data)
def test_subassigning_to_a_submatrix_agrees_with_the_specification(data):
    C = Operand(data.draw, data.draw(tables()))
    rows, I = data.draw(selections(C.table.shape[0], duplicates=False))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    A = draw_value(data.draw, (len(I), len(J)), "matrix", C)
    mask, view, accum, replace = draw_write(data.draw, (len(I), len(J)), "matrix", (C, A))
    expected = oracle.subassign(C.table, I, J, A.table, mask, accum, replace)
    confine(C.noun[rows, cols], view, accum, replace) << A.noun
    same(C.noun, expected)


@given(data)
def test_assigning_a_transposed_matrix_agrees_with_the_specification(data):
    C = Operand(data.draw, data.draw(tables()))
    rows, I = data.draw(selections(C.table.shape[0], duplicates=False))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    A = draw_value(data.draw, (len(J), len(I)), "matrix", C)
    mask, view, accum, replace = draw_write(data.draw, C.table.shape, "matrix", (C,))
    flipped = oracle.transpose(A.table)
    expected = oracle.assign(C.table, I, J, flipped, mask, accum, replace)
    updater(C.noun, view, accum, replace)[rows, cols] << A.noun.T
    same(C.noun, expected)


@given(data)
def test_assigning_to_a_subvector_agrees_with_the_specification(data):
    w = Operand(data.draw, data.draw(columns()), "vector")
    index, I = data.draw(selections(w.table.shape[0], duplicates=False))
    u = draw_value(data.draw, (len(I), 1), "vector", w)
    mask, view, accum, replace = draw_write(data.draw, w.table.shape, "vector", (w, u))
    expected = oracle.assign(w.table, I, [0], u.table, mask, accum, replace)
    if mask is None and accum is None:
        w.noun[index] = u.noun
    else:
        updater(w.noun, view, accum, replace)[index] << u.noun
    same(w.noun, expected)


@given(data)
def test_subassigning_to_a_subvector_agrees_with_the_specification(data):
    w = Operand(data.draw, data.draw(columns()), "vector")
    index, I = data.draw(selections(w.table.shape[0], duplicates=False))
    u = draw_value(data.draw, (len(I), 1), "vector", w)
    mask, view, accum, replace = draw_write(data.draw, (len(I), 1), "vector", (w, u))
    expected = oracle.subassign(w.table, I, [0], u.table, mask, accum, replace)
    confine(w.noun[index], view, accum, replace) << u.noun
    same(w.noun, expected)


# --- scalars ----------------------------------------------------------------------------------
@st.composite
def scalars(draw: st.DrawFn, dtype: Any) -> tuple[Any, Any, np.dtype]:
    """Draw a scalar (a number of C's dtype, or a Scalar) with its value and dtype."""
    if draw(st.booleans()):
        value = draw(numbers(dtype))
        return (value.item() if draw(st.booleans()) else value), value, dtype
    other = draw(dtypes)
    value = draw(numbers(other, wild=False))
    return gl.Scalar.from_value(value, other), value, other


@pytest.mark.parametrize("confined", [False, True])
@given(data)
def test_a_scalar_fills_a_region_of_a_matrix(confined, data):
    C = Operand(data.draw, data.draw(tables()))
    rows, I = data.draw(selections(C.table.shape[0], duplicates=False))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    scalar, value, dtype = data.draw(scalars(C.table.dtype))
    shape = (len(I), len(J))
    A = oracle.filled(shape, value, dtype)
    span = shape if confined else C.table.shape
    mask, view, accum, replace = draw_write(data.draw, span, "matrix", (C,))
    rule = oracle.subassign if confined else oracle.assign
    expected = rule(C.table, I, J, A, mask, accum, replace)
    if confined:
        confine(C.noun[rows, cols], view, accum, replace) << scalar
    else:
        updater(C.noun, view, accum, replace)[rows, cols] << scalar
    same(C.noun, expected)


@pytest.mark.parametrize("confined", [False, True])
@given(data)
def test_a_scalar_fills_a_region_of_a_vector(confined, data):
    w = Operand(data.draw, data.draw(columns()), "vector")
    index, I = data.draw(selections(w.table.shape[0], duplicates=False))
    scalar, value, dtype = data.draw(scalars(w.table.dtype))
    A = oracle.filled((len(I), 1), value, dtype)
    span = (len(I), 1) if confined else w.table.shape
    mask, view, accum, replace = draw_write(data.draw, span, "vector", (w,))
    rule = oracle.subassign if confined else oracle.assign
    expected = rule(w.table, I, [0], A, mask, accum, replace)
    if confined:
        confine(w.noun[index], view, accum, replace) << scalar
    else:
        updater(w.noun, view, accum, replace)[index] << scalar
    same(w.noun, expected)


@pytest.mark.parametrize("kind", ["matrix", "vector"])
@given(data)
def test_a_scalar_is_assigned_only_where_the_mask_allows(kind, data):
    shape = data.draw(st.tuples(sizes, sizes if kind == "matrix" else st.just(1)))
    C = Operand(data.draw, data.draw(tables(st.just(shape))), kind)
    scalar, value, dtype = data.draw(scalars(C.table.dtype))
    mask, view, accum, replace = draw_write(data.draw, shape, kind, (C,))
    A = oracle.filled(shape, value, dtype)
    updater(C.noun, view, accum, replace) << scalar
    same(C.noun, oracle.write(C.table, A, mask, accum, replace))


def test_a_scalar_fills_an_empty_region_and_then_regions_of_other_sizes():
    for size in (0, 3, 0, 2, 5, 1):
        w = gl.Vector("INT64", size)
        w << 12345
        assert w.to_dict() == dict.fromkeys(range(size), 12345)


@pytest.mark.parametrize("value", [7, gl.Matrix.from_coo([0], [0], [7], nrows=1, ncols=2)])
def test_with_replace_an_entry_outside_the_assigned_region_is_kept_if_the_mask_selects_it(value):
    C = gl.Matrix.from_coo([0, 1, 1], [0, 1, 0], [1, 2, 3], nrows=2, ncols=2)
    M = gl.Matrix.from_coo([0, 1], [0, 1], True, nrows=2, ncols=2)
    C(M.S, replace=True)[[0], :] << value
    assert C.to_dicts() == {0: {0: 7}, 1: {1: 2}}
    w = gl.Vector.from_coo([0, 1, 2], [1, 2, 3], size=3)
    w(gl.Vector.from_coo([0, 1], True, size=3).S, replace=True)[[0]] << 7
    assert w.to_dict() == {0: 7, 1: 2}


# --- rows and columns: a Vector mask and `replace` affect only that row or column -------------
def row_assign(C: Table, i: int, rule: Any, J: Any, u: Table, *write: Any) -> Table:
    """Assign to the row as to a vector; the other rows do not change."""
    row = oracle.transpose(oracle.extract(C, [i], range(C.shape[1])))
    row = rule(row, J, [0], u, *write)
    others = {key: x for key, x in C.entries.items() if key[0] != i}
    return Table(C.shape, C.dtype, {**others, **{(i, j): x for (j, _), x in row.entries.items()}})


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize("is_scalar", [False, True])
@pytest.mark.parametrize("by_column", [False, True])
@given(data)
def test_assigning_to_a_row_or_a_column_accepts_a_vector_mask(by_column, is_scalar, confined, data):
    table = data.draw(tables(nonempty))
    line = oracle.transpose(table) if by_column else table
    C = Operand(data.draw, table)
    i = data.draw(st.integers(0, line.shape[0] - 1))
    index, J = data.draw(selections(line.shape[1], duplicates=False))
    u = Operand(data.draw, data.draw(columns(len(J))), "vector")
    value, assigned = u.noun, u.table
    if is_scalar:
        value, number, dtype = data.draw(scalars(table.dtype))
        assigned = oracle.filled((len(J), 1), number, dtype)
    size = len(J) if confined else line.shape[1]
    mask, view, accum, replace = draw_write(data.draw, (size, 1), "vector", (u,))
    rule = oracle.subassign if confined else oracle.assign
    expected = row_assign(line, i, rule, J, assigned, mask, accum, replace)
    where = (index, i) if by_column else (i, index)
    if confined:
        confine(C.noun[where], view, accum, replace) << value
    else:
        updater(C.noun, view, accum, replace)[where] << value
    same(C.noun, oracle.transpose(expected) if by_column else expected)


@given(data)
def test_assigning_to_a_row_accepts_a_mask_of_the_whole_matrix(data):
    C = Operand(data.draw, data.draw(tables(nonempty)))
    i = data.draw(st.integers(0, C.table.shape[0] - 1))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    u = Operand(data.draw, data.draw(columns(len(J))), "vector")
    mask = data.draw(masks(C.table.shape).filter(lambda mask: mask is not None))
    accum, replace = data.draw(st.none() | st.sampled_from(ACCUMS)), data.draw(st.booleans())
    expected = oracle.assign(C.table, [i], J, oracle.transpose(u.table), mask, accum, replace)
    updater(C.noun, mask_of(mask, matrix(mask.table)), accum, replace)[i, cols] << u.noun
    same(C.noun, expected)


# --- elements ---------------------------------------------------------------------------------
@given(data)
def test_assigning_an_element_agrees_with_the_specification(data):
    A = data.draw(tables(nonempty))
    i, j = data.draw(st.integers(0, A.shape[0] - 1)), data.draw(st.integers(0, A.shape[1] - 1))
    scalar, value, dtype = data.draw(scalars(A.dtype))
    accum = data.draw(st.none() | st.sampled_from(ACCUMS))
    one = oracle.filled((1, 1), value, dtype)
    C = Operand(data.draw, A)
    if accum is None:
        C.noun[i, j] = scalar
    else:
        C.noun(getattr(gl.binary, accum))[i, j] << scalar
    same(C.noun, oracle.assign(A, [i], [j], one, None, accum))
    u = oracle.extract(A, range(A.shape[0]), [0])
    w = Operand(data.draw, u, "vector")
    if accum is None:
        w.noun[i - A.shape[0]] = scalar
    else:
        w.noun[i](getattr(gl.binary, accum)) << scalar
    same(w.noun, oracle.assign(u, [i], [0], one, None, accum))


@given(data)
def test_assigning_an_empty_scalar_deletes_the_entry(data):
    C = Operand(data.draw, data.draw(tables(nonempty)))
    i = data.draw(st.integers(0, C.table.shape[0] - 1))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    nothing = Table((1, len(J)), C.table.dtype, {})
    C.noun[i, cols] << gl.Scalar(C.table.dtype)
    same(C.noun, oracle.assign(C.table, [i], J, nothing))


@given(data)
def test_the_statement_del_removes_an_entry_if_the_entry_exists(data):
    A = data.draw(tables(nonempty))
    i, j = data.draw(st.integers(0, A.shape[0] - 1)), data.draw(st.integers(0, A.shape[1] - 1))
    C = matrix(A)
    del C[i, j]
    left = {key: x for key, x in A.entries.items() if key != (i, j)}
    same(C, Table(A.shape, A.dtype, left))
    u = oracle.extract(A, range(A.shape[0]), [0])
    w = vector(u)
    del w[i]
    same(w, Table(u.shape, u.dtype, {key: x for key, x in u.entries.items() if key != (i, 0)}))


@given(data)
def test_repeated_element_assignments_do_not_change_copies(data):
    u = data.draw(columns(dtype=np.dtype(np.int32)))
    w = Operand(data.draw, u, "vector")
    kept, mask = w.noun.dup(), w.noun.S
    entries = dict(u.entries)
    for _ in range(data.draw(st.integers(0, 8))):
        if u.shape[0] == 0:
            break
        i = data.draw(st.integers(0, u.shape[0] - 1))
        x = data.draw(numbers(u.dtype))
        w.noun[i] = x
        entries[i, 0] = x
        if data.draw(st.booleans()):
            seen = w.noun.dup()
            same(seen, Table(u.shape, u.dtype, entries))
    same(w.noun, Table(u.shape, u.dtype, entries))
    same(kept, u)
    assert mask is not None


# --- equal indices, whose values the accumulator combines ----------------------------------------
def joining(dtype: np.dtype) -> st.SearchStrategy[str]:
    """Draw the name of a binary operator that belongs to a monoid on this dtype."""
    logical = ["lor", "land", "lxor", "eq"] if dtype.kind == "b" else []
    bitwise = ["band", "bor", "bxor"] if dtype.kind in "iu" else []
    return st.sampled_from(["plus", "times", "min", "max", "any", *logical, *bitwise])


@st.composite
def values_to_join(draw: st.DrawFn, accum: str, dtype: Any) -> tuple[np.dtype, Any]:
    """Draw the dtype of the values that are assigned, and return a strategy for the values.

    A reduction of the values gives the same bits in any order.
    """
    if draw(st.booleans()):
        return dtype, suited(accum, dtype)
    return np.dtype(np.int8), st.integers(-2, 2).map(np.int8)


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize("region", ["vector", "row", "column", "matrix"])
@given(data)
def test_the_accumulator_combines_the_values_assigned_to_equal_indices(region, confined, data):
    kind = "vector" if region == "vector" else "matrix"
    dtype = data.draw(dtypes)
    accum = data.draw(joining(dtype))
    shape = data.draw(nonempty if kind == "matrix" else st.tuples(st.integers(1, 6), st.just(1)))
    table = data.draw(tables(st.just(shape), dtype, values=suited(accum, dtype)))
    C = Operand(data.draw, table, kind)
    rows, I = data.draw(selections(shape[0], duplicates=True))
    cols, J = data.draw(selections(shape[1], duplicates=True))
    if region == "row":
        rows, I = 0, [0]
    if region in ("column", "vector"):
        cols, J = 0, [0]
    size = len(I), len(J)
    dtype_of_values, values = data.draw(values_to_join(accum, dtype))
    if data.draw(st.booleans(), label="the value is a scalar"):
        value = data.draw(values)
        A = oracle.filled(size, value, dtype_of_values)
        value = gl.Scalar.from_value(value, dtype_of_values)
    else:
        A = data.draw(tables(st.just(size), dtype_of_values, values=values))
        line = oracle.transpose(A) if region == "row" else A
        value = matrix(A) if region == "matrix" else vector(line)
    where = rows if kind == "vector" else (rows, cols)
    mask_kind = kind if not confined or region == "matrix" else "vector"
    span = (size if region != "row" else size[::-1]) if confined else shape
    mask, view, _, replace = draw_write(data.draw, span, mask_kind, (C,))
    if confined:
        confine(C.noun[where], view, accum, False) << value
        if mask is not None and region == "row":
            mask = Mask(oracle.transpose(mask.table), mask.structural, mask.complement)
        allowed = {k: x for k, x in A.entries.items() if mask is None or mask.allows(k)}
        expected = oracle.assign(table, I, J, Table(size, A.dtype, allowed), None, accum)
    else:
        updater(C.noun, view, accum, replace)[where] << value
        expected = oracle.assign(table, I, J, A, mask, accum, replace)
    same(C.noun, expected)


def test_an_anonymous_monoid_combines_the_values_assigned_to_equal_indices():
    op = gl.binary.register_anonymous(lambda x, y: x + y + 1)
    w = gl.Vector.from_dense([10, 20, 30])
    w(gl.monoid.register_anonymous(op, -1))[[2, 0, 2]] << gl.Vector.from_dense([1, 2, 3])
    assert w.to_dict() == {0: 13, 1: 20, 2: 36}


def test_a_scalar_is_accumulated_once_per_occurrence_of_an_index():
    w = gl.Vector(int, 3)
    w(gl.binary.plus)[np.resize([2, 2, 0], 3000)] << 1
    assert w.to_dict() == {0: 1000, 2: 2000}
    w(gl.binary.plus)[gl.Vector.from_dense([1, 1])] = 5
    assert w.to_dict() == {0: 1000, 1: 10, 2: 2000}


def test_integers_at_equal_indices_are_combined_in_the_dtype_of_the_output():
    w = gl.Vector("INT64", 1)
    w(gl.binary.plus)[[0, 0, 0]] << gl.Vector.from_dense(np.array([100, 100, 100], np.int8))
    assert w.to_dict() == {0: 300}


def test_an_empty_scalar_changes_nothing_under_an_accumulator():
    w = gl.Vector.from_dense([1, 2])
    w(gl.binary.plus)[[1, 1]] << gl.Scalar(int)
    assert w.to_dict() == {0: 1, 1: 2}


@pytest.mark.parametrize("accum", ["minus", "first", "second", "truediv", "lor", "eq", "pair"])
def test_equal_indices_are_rejected_if_the_accumulator_is_not_a_monoid(accum):
    C, w = gl.Matrix(int, 3, 3), gl.Vector(int, 3)
    with pytest.raises(gl.exceptions.DuplicateEntry, match=f"1 occurs twice.*binary.{accum}"):
        w(accum)[[0, 1, 1]] << 1
    with pytest.raises(gl.exceptions.DuplicateEntry, match=f"2 occurs twice.*binary.{accum}"):
        C(accum)[[2, 0, 2], :] << 1
    with pytest.raises(gl.exceptions.DuplicateEntry, match=r"monoid on INT64.*plus\[FP64\]"):
        w(gl.binary.plus["FP64"])[[1, 1]] << 1
    assert C.nvals == 0 and w.nvals == 0


def test_equal_indices_are_rejected_if_replace_is_used_with_a_mask_of_the_region():
    w, m = gl.Vector.from_dense([1, 2]), gl.Vector.from_coo([0], [True], size=2)
    with pytest.raises(gl.exceptions.DuplicateEntry, match="mask of the region"):
        w[[1, 1]](m.S, "plus", gl.replace) << 1
    w[[1, 0]](m.S, "plus", gl.replace) << 1
    assert w.to_dict() == {1: 3}


# --- a Vector of indices ----------------------------------------------------------------------
def test_a_vector_of_indices_is_read_before_the_statement_changes_the_vector():
    p = gl.Vector.from_dense([1, 2, 0, 3])
    part = p[p]
    p[p] << gl.Vector.from_dense([10, 20, 30, 40])
    assert p.to_dict() == {1: 10, 2: 20, 0: 30, 3: 40}
    assert part.new().to_dict() == {0: 2, 1: 0, 2: 1, 3: 3}


def test_an_expression_or_an_iso_valued_vector_can_be_used_as_indices():
    v = gl.Vector.from_dense([10, 20, 30])
    q = gl.Vector.from_scalar(2, 4)
    assert v[q].new().to_dict() == {0: 30, 1: 30, 2: 30, 3: 30}
    assert v[q - 1].new().to_dict() == {0: 20, 1: 20, 2: 20, 3: 20}
    q[:] << gl.Vector.from_dense([0, 1, 2, 0])
    del v[q[:2]]
    assert v.to_dict() == {2: 30}


@pytest.mark.parametrize(
    "values, indices, error, message",
    [
        ([1], [1], ValueError, "2 of its 3 positions have no entry"),
        ([1, 1], [1, 0], ValueError, "1 of its 3 positions has no entry"),
        ([1.0, 0.0, 2.0], [0, 1, 2], TypeError, "a Vector of integers, not of FP64"),
        ([True, True, True], [0, 1, 2], TypeError, r"not of BOOL.*C\(mask.S\)"),
        ([0, 3, 1], [0, 1, 2], IndexError, "3 is out of range: the size is 3"),
        ([0, -4, 1], [0, 1, 2], IndexError, "-4 is out of range: the size is 3"),
    ],
)
def test_a_vector_whose_values_are_not_valid_indices_is_rejected(values, indices, error, message):
    q = gl.Vector.from_coo(indices, values, size=3)
    w, C = gl.Vector(int, 3), gl.Matrix(int, 3, 3)
    for statement in (
        lambda: w[q],
        lambda: w(gl.binary.plus)[q] << 1,
        lambda: C[0, q],
        lambda: C[q, :],
        lambda: w.__delitem__(q),
        lambda: C.__setitem__((q, q), 1),
    ):
        with pytest.raises(error, match=message):
            statement()
    assert w.nvals == 0 and C.nvals == 0


# --- assigning arrays, and invalid arguments ---------------------------------------------------
@given(data)
def test_assigning_an_array_sets_each_element(data):
    C = Operand(data.draw, data.draw(tables(dtype=np.dtype(np.int64))))
    rows, I = data.draw(selections(C.table.shape[0], duplicates=False))
    cols, J = data.draw(selections(C.table.shape[1], duplicates=False))
    if not I or not J:
        return
    values = np.arange(len(I) * len(J)).reshape(len(I), len(J))
    A = Table(values.shape, values.dtype, {key: x for key, x in np.ndenumerate(values)})
    C.noun[rows, cols] = values if data.draw(st.booleans()) else values.tolist()
    same(C.noun, oracle.assign(C.table, I, J, A))


def test_assign_without_an_accumulator_rejects_duplicate_indices():
    C, w = gl.Matrix(int, 3, 3), gl.Vector(int, 3)
    with pytest.raises(ValueError):
        C[[0, 1, 0], :] << gl.Matrix(int, 3, 3)
    with pytest.raises(ValueError):
        C[:, [2, -1]] << 1
    with pytest.raises(ValueError):
        w[[1, 1]] << 1
    assert C.nvals == 0 and w.nvals == 0


def test_a_mask_of_the_wrong_shape_is_rejected():
    C, m = gl.Matrix(int, 3, 4), gl.Matrix(bool, 4, 3)
    w = gl.Vector(bool, 3)
    with pytest.raises(gl.exceptions.DimensionMismatch):
        C(m.S)[:, :] << 1
    with pytest.raises(gl.exceptions.DimensionMismatch):
        C[[0, 1], [0, 1]](m.S) << 1
    with pytest.raises(gl.exceptions.DimensionMismatch):
        C(w.S)[0, :] << 1
    with pytest.raises((TypeError, ValueError)):
        C[0, 0](m.S) << 1
    with pytest.raises((TypeError, ValueError)):
        C(w.S)[[0, 1], :] << 1


def test_a_value_of_the_wrong_shape_is_rejected():
    C, w = gl.Matrix(int, 3, 4), gl.Vector(int, 3)
    with pytest.raises(gl.exceptions.DimensionMismatch):
        C[[0, 1], :] << gl.Matrix(int, 3, 4)
    with pytest.raises(gl.exceptions.DimensionMismatch):
        C[0, :] << w
    with pytest.raises(gl.exceptions.DimensionMismatch):
        w[[0, 1]] << w
    with pytest.raises(ValueError):
        w[[0, 1]] = [1, 2, 3]
    with pytest.raises(TypeError):
        C[0, 0] << w


def test_an_index_out_of_range_is_rejected():
    C, w = gl.Matrix(int, 3, 4), gl.Vector(int, 3)
    for refused in (3, -4, [0, 3], np.array([-4])):
        with pytest.raises(IndexError):
            w[refused] = 1
        with pytest.raises(IndexError):
            C[refused, 0] = 1
        with pytest.raises(IndexError):
            w[refused].new()
    with pytest.raises((TypeError, IndexError)):
        w[0.5] = 1
    with pytest.raises(TypeError):
        C[0] = 1
    with pytest.raises(TypeError):
        w[0, 0] = 1


def test_a_symmetric_matrix_may_be_assigned_to_a_region_of_itself():
    table = Table((3, 3), np.dtype(int), {(0, 1): 1, (1, 0): 1, (2, 2): 5})
    A = matrix(table, "both")
    A[[2, 1, 0], :] << A
    same(A, oracle.assign(table, [2, 1, 0], range(3), table))


@given(data)
def test_a_matrix_can_be_assigned_its_own_transpose(data):
    n = data.draw(sizes)
    C = Operand(data.draw, data.draw(tables(st.just((n, n)), np.dtype(np.int16))))
    C.noun << C.noun.T
    same(C.noun, oracle.transpose(C.table))
    C.restore()
    C.noun[:, ::-1] << C.noun.T
    expected = oracle.assign(C.table, range(n), range(n)[::-1], oracle.transpose(C.table))
    same(C.noun, expected)


@given(tables(dtype=np.dtype(np.int16)), st.booleans(), st.booleans())
def test_a_mask_created_from_the_output_is_read_before_the_output_changes(
    A, structural, complement
):
    C = matrix(A)
    mask = Mask(A, structural, complement)
    C(mask_of(mask, C), gl.replace) << 7
    same(C, oracle.write(A, oracle.filled(A.shape, np.int16(7), A.dtype), mask, None, True))


def test_a_scalar_fills_columns_given_in_any_order():
    C = gl.Matrix(int, 3, 4)
    C[[2, 0], [3, 0, 1]] << 5
    expected = {(i, j): 5 for i in (0, 2) for j in (0, 1, 3)}
    same(C, Table((3, 4), np.dtype(np.int64), expected))
