"""Test identities between operations.

For example, push and pull give equal products, and a mask and its complement partition a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import Mask, Table
from strategies import (
    INTEGERS,
    columns,
    dtypes,
    mask_of,
    masks,
    matrix,
    read,
    same,
    sizes,
    tables,
    vector,
)
from test_operations import factors

import graphla as gl

data = st.data()
integers = st.sampled_from(INTEGERS)

FLIPPED = {"first": "second", "second": "first", "minus": "rminus", "secondi": "firstj"}
FLIPPED |= {"firstj": "secondi", "firsti": "secondj", "secondj": "firsti"}


def flipped(semiring: str) -> Any:
    """Return the semiring with the arguments of its multiply operator exchanged."""
    add, mult = semiring.split("_")
    if mult == "minus":
        op = getattr(gl.monoid, add), gl.binary.rminus
        return gl.semiring.register_anonymous(*op)
    return getattr(gl.semiring, f"{add}_{FLIPPED.get(mult, mult)}")


def is_deterministic(semiring: str) -> bool:
    return not semiring.startswith("any_") or semiring in ("any_pair", "any_firsti")


@given(data)
def test_push_and_pull_give_the_same_result(data):
    A, u, semiring = data.draw(factors(sizes, sizes, st.just(1)))
    assume(is_deterministic(semiring))
    mask = data.draw(masks((A.shape[0], 1)))
    view = None if mask is None else mask_of(mask, vector(mask.table))
    op, v = getattr(gl.semiring, semiring), vector(u)
    results = []
    for direction in ("push", "pull", "auto"):
        with gl.direction(direction):
            results.append(read(matrix(A).mxv(v, op).new(mask=view)))
            B = matrix(oracle.transpose(A), "both")
            results.append(read(B.T.mxv(v, op).new(mask=view)))
    for result in results[1:]:
        same(vector(result), results[0])


@given(data)
def test_a_vxm_product_equals_the_mxv_product_of_the_transpose_with_the_multiply_operator_flipped(
    data,
):
    A, u, semiring = data.draw(factors(sizes, sizes, st.just(1)))
    assume(is_deterministic(semiring) and semiring != "any_firsti")
    op, v, B = getattr(gl.semiring, semiring), vector(u), matrix(A)
    expected = read(op(B @ v).new())
    same(v.vxm(B.T, flipped(semiring)).new(), expected)


@given(data)
def test_the_transpose_of_a_product_is_the_reversed_product_of_the_transposes(data):
    A, B, semiring = data.draw(factors(sizes, sizes, sizes))
    assume(is_deterministic(semiring) and semiring != "any_firsti")
    C, D = matrix(A), matrix(B)
    expected = getattr(gl.semiring, semiring)(C @ D).new().T.new()
    same(D.T.mxm(C.T, flipped(semiring)).new(), read(expected))


@given(data)
def test_a_mask_and_its_complement_partition_the_result(data):
    A, B, semiring = data.draw(factors(sizes, sizes, sizes))
    assume(is_deterministic(semiring))
    mask = data.draw(masks((A.shape[0], B.shape[1])).filter(lambda mask: mask is not None))
    expression, view = getattr(gl.semiring, semiring)(matrix(A) @ matrix(B)), None
    view = mask_of(mask, matrix(mask.table))
    whole, inside = read(expression.new()), read(expression.new(mask=view))
    outside = read(expression.new(mask=~view))
    allowed = {key: x for key, x in whole.entries.items() if mask.allows(key)}
    same(matrix(inside), Table(whole.shape, whole.dtype, allowed))
    assert not inside.entries.keys() & outside.entries.keys()
    same(matrix(whole), Table(whole.shape, whole.dtype, {**inside.entries, **outside.entries}))


@given(data)
def test_complementing_a_mask_twice_changes_nothing(data):
    C = matrix(data.draw(tables()))
    for view in (C.S, C.V):
        once = C.dup(mask=~view)
        same(C.dup(mask=~~view), read(C.dup(mask=view)))
        assert once.nvals + C.dup(mask=view).nvals == C.nvals


@given(data)
def test_matrix_multiplication_is_associative_on_integers(data):
    dtype = data.draw(integers)
    n, k, m, p = (data.draw(sizes) for _ in range(4))
    A, B, C = (
        matrix(data.draw(tables(st.just(shape), dtype))) for shape in ((n, k), (k, m), (m, p))
    )
    op = gl.semiring.plus_times
    left = op(op(A @ B).new() @ C).new()
    same(op(A @ op(B @ C).new()).new(), read(left))


@given(data)
def test_matrix_multiplication_distributes_over_elementwise_addition_on_integers(data):
    dtype = data.draw(integers)
    n, k, m = (data.draw(sizes) for _ in range(3))
    A = matrix(data.draw(tables(st.just((n, k)), dtype)))
    B, C = (matrix(data.draw(tables(st.just((k, m)), dtype))) for _ in range(2))
    op, plus = gl.semiring.plus_times, gl.binary.plus
    both = plus(op(A @ B).new() | op(A @ C).new()).new()
    same(op(A @ plus(B | C).new()).new(), read(both))


@given(data)
def test_a_product_with_the_identity_matrix_changes_nothing(data):
    A = data.draw(tables(dtype=data.draw(integers)))
    one = gl.Vector.from_scalar(1, A.shape[1], A.dtype).diag()
    same(gl.semiring.plus_times(matrix(A) @ one).new(), A)


@given(data)
def test_reducing_rows_equals_a_product_with_a_vector_of_ones(data):
    A = data.draw(tables(dtype=data.draw(integers)))
    ones = gl.Vector.from_scalar(1, A.shape[1], A.dtype)
    expected = gl.semiring.plus_times(matrix(A) @ ones).new()
    same(matrix(A).reduce_rowwise(gl.monoid.plus).new(), read(expected))


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "dcsr", "dcsc", "transpose", "pickle"])
@given(data)
def test_converting_a_matrix_to_any_format_and_back_keeps_every_entry(form, data):
    import pickle

    A = data.draw(tables())
    C, shape = matrix(A), {"nrows": A.shape[0], "ncols": A.shape[1]}
    if form == "coo":
        back = gl.Matrix.from_coo(*C.to_coo(), A.dtype, **shape)
    elif form == "csr":
        back = gl.Matrix.from_csr(*C.to_csr(), ncols=A.shape[1])
    elif form == "csc":
        back = gl.Matrix.from_csc(*C.to_csc(), nrows=A.shape[0])
    elif form == "dcsr":
        back = gl.Matrix.from_dcsr(*C.to_dcsr(), **shape)
    elif form == "dcsc":
        back = gl.Matrix.from_dcsc(*C.to_dcsc(), **shape)
    elif form == "transpose":
        back = C.T.new().T.new()
    else:
        back = pickle.loads(pickle.dumps(C))
    same(back, A)


@given(data)
def test_converting_a_vector_to_sparse_or_dense_form_and_back_keeps_every_entry(data):
    u = data.draw(columns())
    v = vector(u, "assigned")
    same(gl.Vector.from_coo(*v.to_coo(), u.dtype, size=u.shape[0]), u)
    if len(u.entries) == u.shape[0] > 0:
        same(gl.Vector.from_dense(v.to_dense()), u)
    elif u.dtype.kind != "b":
        filled = v.to_dense(fill_value=1)
        assert [filled[i] == 1 for i in range(u.shape[0]) if (i, 0) not in u.entries].count(
            False
        ) == 0


def permutation(draw: Any, n: int) -> list[int]:
    return draw(st.permutations(range(n)))


@given(data)
def test_relabeling_commutes_with_products(data):
    A, B, semiring = data.draw(factors(sizes, sizes, sizes))
    assume(semiring.split("_")[0] != "any" and not semiring.endswith(("i", "j")))
    P = permutation(data.draw, A.shape[0])
    Q = permutation(data.draw, A.shape[1])
    R = permutation(data.draw, B.shape[1])
    op, C, D = getattr(gl.semiring, semiring), matrix(A), matrix(B)
    expected = op(C @ D).new()[P, R].new()
    same(op(C[P, Q].new() @ D[Q, R].new()).new(), read(expected))


@given(data)
def test_relabeling_commutes_with_entrywise_operations_and_reductions(data):
    dtype = data.draw(integers)
    A = data.draw(tables(dtype=dtype))
    B = data.draw(tables(st.just(A.shape), dtype))
    P, Q = permutation(data.draw, A.shape[0]), permutation(data.draw, A.shape[1])
    C, D, minus = matrix(A), matrix(B), gl.binary.minus
    E, F = C[P, Q].new(), D[P, Q].new()
    same(minus(E | F).new(), read(minus(C | D).new()[P, Q].new()))
    same(minus(E & F).new(), read(minus(C & D).new()[P, Q].new()))
    same(E.reduce_rowwise().new(), read(C.reduce_rowwise().new()[P].new()))
    same(E.select("valuegt", 0).new(), read(C.select("valuegt", 0).new()[P, Q].new()))
    total = C.reduce_scalar().new()
    assert E.reduce_scalar().new().isequal(total)


@given(data)
def test_running_an_operation_twice_gives_the_same_result(data):
    A, B, semiring = data.draw(factors(sizes, sizes, sizes))
    op, C, D = getattr(gl.semiring, semiring), matrix(A), matrix(B)
    expression = op(C @ D)
    first = read(expression.new())
    same(op(C @ D).new(), first)
    same(expression.new(), first)


@given(data)
def test_a_structural_mask_equals_a_value_mask_of_ones(data):
    A = data.draw(tables())
    pattern = data.draw(tables(st.just(A.shape)))
    ones = matrix(pattern).apply(gl.unary.one).new(bool)
    same(matrix(A).dup(mask=ones.V), read(matrix(A).dup(mask=matrix(pattern).S)))
    allowed = Mask(pattern, structural=True)
    expected = {key: x for key, x in A.entries.items() if allowed.allows(key)}
    same(matrix(A).dup(mask=matrix(pattern).S), Table(A.shape, A.dtype, expected))


@given(data)
def test_transposing_twice_changes_nothing(data):
    A = data.draw(tables())
    C = matrix(A)
    same(C.T.T.dup(), A)
    same(C.T.new(), oracle.transpose(A))


@given(data)
def test_casting_converts_each_value_separately(data):
    A, dtype = data.draw(tables()), data.draw(dtypes)
    expected = {key: oracle.cast(x, dtype) for key, x in A.entries.items()}
    same(matrix(A).dup(dtype), Table(A.shape, np.dtype(dtype), expected))


@given(data)
def test_declaring_a_matrix_symmetric_does_not_change_results(data):
    n, dtype = data.draw(st.integers(2, 5)), data.draw(integers)
    draws = [data.draw(tables(st.just((n, n)), dtype)) for _ in range(2)]
    mirrored = []
    for drawn in draws:
        upper = {(i, j): x for (i, j), x in drawn.entries.items() if i <= j}
        lower = {(j, i): x for (i, j), x in upper.items()}
        mirrored.append(Table(drawn.shape, dtype, {**upper, **lower}))
    (S, R), (A, B) = mirrored, (matrix(table, "both") for table in mirrored)
    for name in ("minus", "firsti", "secondj", "plus"):
        op = getattr(gl.binary, name)
        same(op(A | B).new(), oracle.ewise_add(S, R, name))
        same(op(A & B).new(), oracle.ewise_mult(S, R, name))
        same(A.kronecker(B, "minus").new(), oracle.kronecker(S, R, "minus"))
    for name in ("rowindex", "colindex", "diagindex"):
        same(A.apply(getattr(gl.indexunary, name), 1).new(), oracle.apply_index(S, name, 1))
    for name in ("tril", "rowle", "colgt", "valuegt"):
        same(A.select(name, 1).new(), oracle.select(S, name, 1))
    for semiring in ("plus_times", "max_first", "min_secondj"):
        same(A.mxm(B, semiring).new(), oracle.mxm(S, R, semiring))
        same(A.mxm(A.T, semiring).new(), oracle.mxm(S, S, semiring))
    same(A.apply("minus", right=1).new(), oracle.apply_bound(S, "minus", 1, "right"))
    same(A[:, ::-1].new(), oracle.extract(S, range(n), range(n)[::-1]))
    same(
        A.dup(mask=B.select("tril").new().S),
        oracle.write(Table(S.shape, dtype, {}), S, Mask(oracle.select(R, "tril", 0))),
    )
    A[0, 1] = 3
    same(A, oracle.assign(S, [0], [1], oracle.filled((1, 1), dtype.type(3), dtype)))
