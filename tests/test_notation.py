"""Test the notation: products, operators, masks, infix operators and lazy expressions."""

from __future__ import annotations

import operator
import pickle
import sys
import weakref

import networkx as nx
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import Table
from strategies import (
    columns,
    mask_of,
    masks,
    matrix,
    read,
    same,
    sizes,
    tables,
    vector,
)

import graphla as gl

data = st.data()
INT = np.dtype(np.int64)


def small() -> gl.Matrix:
    return gl.Matrix.from_coo([0, 0, 2], [1, 2, 0], [3, 1, 4], nrows=3, ncols=3)


def line() -> gl.Vector:
    return gl.Vector.from_coo([0, 2], [5, -1], size=3)


# --- notation ----------------------------------------------------------------------------------
def test_breadth_first_search_can_be_written_in_graphblas_notation():
    A = gl.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    parent, frontier = gl.Vector(int, 5), gl.Vector(int, 5)
    parent[0] = frontier[0] = 0
    while frontier.nvals:
        frontier(~parent.S, gl.replace) << gl.semiring.any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    assert parent.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2}


def fastsv(A: gl.Matrix) -> gl.Vector:
    """Return the smallest vertex of the connected component of each vertex of a symmetric graph.

    This is the algorithm FastSV (Zhang, Azad and Hu, 2020).
    """
    parent = gl.Vector.from_dense(np.arange(A.nrows))
    grandparent, least = parent.dup(), parent.dup()
    while True:
        before = grandparent.dup()
        least(gl.binary.min) << gl.semiring.min_second(A @ grandparent)
        parent(gl.binary.min)[parent] << least  # hook parent[v] onto least[v] for all v
        parent(gl.binary.min) << least  # hook v itself onto least[v]
        parent(gl.binary.min) << grandparent
        grandparent << parent[parent]
        if grandparent.isequal(before):
            return parent


@given(st.integers(1, 30), st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_algorithm_fastsv_in_graphblas_notation_finds_the_same_components_as_networkx(
    n, m, random
):
    G = nx.gnm_random_graph(n, m, seed=random.randrange(1 << 30))
    labels = list(range(n))
    random.shuffle(labels)
    G = nx.relabel_nodes(G, dict(enumerate(labels)))
    expected = {v: min(family) for family in nx.connected_components(G) for v in family}
    A = gl.Matrix.from_edgelist(
        [edge for i, j in G.edges for edge in ((i, j), (j, i))], 1, nrows=n, ncols=n
    )
    assert fastsv(A).to_dict() == expected


def test_every_way_to_write_a_product_gives_the_same_result():
    A, u = small(), line()
    plus_times = gl.semiring.plus_times
    for product in (
        A.mxm(A),
        A.mxm(A, plus_times),
        A.mxm(A, "plus_times"),
        plus_times(A @ A),
        A @ A,
        A.mxm(A, plus_times["INT64"]),
    ):
        same(product.new(), oracle.mxm(read(A), read(A), "plus_times"))
    for product in (A.mxv(u), A @ u, plus_times(A @ u), u.vxm(A.T), u @ A.T):
        same(product.new(), oracle.mxm(read(A), read(u), "plus_times"))
    assert u.inner(u).new() == (u @ u).new() == 26


def test_an_operator_may_be_given_as_an_object_or_a_name_or_a_symbol_or_a_builtin_function():
    u, v = line(), line()
    for op in (gl.binary.plus, gl.monoid.plus, gl.op.plus, "plus", "+", "plus[INT64]"):
        assert u.ewise_add(v, op).new().to_dict() == {0: 10, 2: -2}
    assert u.apply(abs).new().to_dict() == {0: 5, 2: 1}
    assert u.apply("abs").new().to_dict() == {0: 5, 2: 1}
    assert u.ewise_mult(v, max).new().to_dict() == {0: 5, 2: -1}
    assert u.select(">", 0).new().to_dict() == {0: 5}
    assert u.select("valuegt", 0).new().to_dict() == {0: 5}
    assert u.reduce("max").new() == 5
    assert gl.unary.abs(u).new().to_dict() == {0: 5, 2: 1}
    assert gl.binary.plus(u, 2).new().to_dict() == {0: 7, 2: 1}
    assert gl.binary.minus(2, u).new().to_dict() == {0: -3, 2: 3}
    assert gl.select.tril(small(), -1).new().nvals == 1
    assert gl.indexunary.index(u, 1).new().to_dict() == {0: 1, 2: 3}
    assert gl.monoid.min(u | v).new().to_dict() == {0: 5, 2: -1}


def test_a_user_defined_operator_needs_no_registration():
    import semirings as sr

    twice = sr.unary.register_anonymous(lambda x: x + x)
    assert line().apply(twice).new().to_dict() == {0: 10, 2: -2}
    far = sr.binary.register_anonymous(lambda x, y: x * 100 + y)
    assert far(line() & line()).new().to_dict() == {0: 505, 2: -101}


@pytest.mark.parametrize("order", ["mask accum", "accum mask", "keywords", "strings"])
def test_the_arguments_mask_and_accum_and_replace_may_be_given_in_any_order(order):
    C, mask = small(), gl.Matrix.from_coo([0, 1], [1, 1], [True, False], nrows=3, ncols=3)
    expression = gl.unary.ainv(gl.Matrix.from_scalar(1, 3, 3))
    match order:
        case "mask accum":
            C(mask.S, gl.binary.plus, replace=True) << expression
        case "accum mask":
            C(gl.replace, gl.binary.plus, mask.S) << expression
        case "keywords":
            C(mask=mask.S, accum=gl.monoid.plus, replace=True) << expression
        case _:
            C("+", gl.replace, mask.S) << expression
    assert C.to_dicts() == {0: {1: 2}, 1: {1: -1}}


def test_a_boolean_matrix_or_vector_can_be_used_as_a_value_mask():
    mask = gl.Vector.from_coo([0, 1], [True, False], size=3)
    w = gl.Vector(int, 3)
    w(mask) << 4
    assert w.to_dict() == {0: 4}
    with pytest.raises(TypeError, match=r"(?i)mask"):
        w(line()) << 4


INFIX = {
    operator.add: ("ewise_add", "plus"),
    operator.sub: ("ewise_union", "minus"),
    operator.mul: ("ewise_mult", "times"),
    operator.truediv: ("ewise_mult", "truediv"),
    operator.floordiv: ("ewise_mult", "floordiv"),
    operator.mod: ("ewise_mult", "numpy.mod"),
    operator.pow: ("ewise_mult", "pow"),
    operator.lt: ("ewise_mult", "lt"),
    operator.le: ("ewise_mult", "le"),
    operator.gt: ("ewise_mult", "gt"),
    operator.ge: ("ewise_mult", "ge"),
    operator.eq: ("ewise_mult", "eq"),
    operator.ne: ("ewise_mult", "ne"),
}


@pytest.mark.parametrize("infix", INFIX, ids=lambda infix: infix.__name__)
def test_infix_operators_agree_with_numpy_where_both_vectors_have_entries(infix):
    x, y = np.array([7, -7, 3, 9]), np.array([2, 1, 3, 4])
    u, v = gl.Vector.from_dense(x), gl.Vector.from_dense(y)
    assert (infix(u, v).new().to_dense() == infix(x, y)).all()
    assert (infix(u, 2).new().to_dense() == infix(x, 2)).all()
    assert (infix(2, v).new().to_dense() == infix(2, y)).all()
    A, X = gl.Matrix.from_dense(x.reshape(2, 2)), x.reshape(2, 2)
    assert (infix(A, 2).new().to_dense() == infix(X, 2)).all()
    assert (infix(A, A.T.new() * 0 + 2).new().to_dense() == infix(X, 2)).all()


def test_infix_plus_and_minus_use_the_union_and_other_infix_operators_use_the_intersection():
    u = gl.Vector.from_coo([0, 1], [5, 6], size=4)
    v = gl.Vector.from_coo([1, 2], [3, 4], size=4)
    assert (u + v).new().to_dict() == {0: 5, 1: 9, 2: 4}
    assert (u - v).new().to_dict() == {0: 5, 1: 3, 2: -4}
    assert (u * v).new().to_dict() == {1: 18}
    assert (u / v).new().to_dict() == {1: 2.0}
    assert (u == v).new().to_dict() == {1: False}
    assert (-u).new().to_dict() == {0: -5, 1: -6}
    assert abs(-u).new().to_dict() == {0: 5, 1: 6}


def test_infix_logical_operators_accept_booleans_and_reject_other_dtypes():
    p = gl.Vector.from_coo([0, 1], [True, False], size=3)
    q = gl.Vector.from_coo([1, 2], [True, True], size=3)
    assert (p & q).new().to_dict() == {1: False}
    assert (p | q).new().to_dict() == {0: True, 1: True, 2: True}
    assert (p ^ q).new().to_dict() == {0: True, 1: True, 2: True}
    assert (~p).new().to_dict() == {0: False, 1: True}
    for refused in (lambda: (line() & line()).new(), lambda: (line() | line()).new()):
        with pytest.raises(TypeError, match="BOOL"):
            refused()
    with pytest.raises(TypeError):
        ~line()


def test_augmented_assignment_changes_the_object_in_place():
    u = line()
    same_object = u
    u += line()
    u *= 2
    assert same_object is u and u.to_dict() == {0: 20, 2: -4}
    A = small()
    A @= A
    assert A.to_dicts() == {0: {0: 4}, 2: {1: 12, 2: 4}}


@given(data)
def test_infix_operators_broadcast_a_vector_along_a_matrix(data):
    A = data.draw(tables(dtype=INT))
    u = data.draw(columns(A.shape[0], INT))
    v = data.draw(columns(A.shape[1], INT))
    down = Table(
        A.shape, INT, {(i, j): u.entries[i, 0] for i, j in A.entries if (i, 0) in u.entries}
    )
    along = Table(
        A.shape, INT, {(i, j): v.entries[j, 0] for i, j in A.entries if (j, 0) in v.entries}
    )
    times = gl.binary.times
    same(times(vector(u) & matrix(A)).new(), oracle.ewise_mult(down, A, "times"))
    same(times(matrix(A) & vector(v)).new(), oracle.ewise_mult(A, along, "times"))


def test_a_union_accepts_default_values_for_missing_entries():
    u = gl.Vector.from_coo([0, 1], [5, 6], size=4)
    v = gl.Vector.from_coo([1, 2], [3, 4], size=4)
    got = gl.binary.minus(u | v, left_default=100, right_default=1).new()
    assert got.to_dict() == {0: 4, 1: 3, 2: 96}


def test_selecting_by_a_mask_keeps_the_entries_where_the_mask_is_true():
    A = small()
    kept = A.select(A.T.new().S).new()
    assert kept.to_dicts() == {0: {2: 1}, 2: {0: 4}}
    assert line().select(~line().S).new().nvals == 0


# --- expressions -------------------------------------------------------------------------------
def test_an_expression_uses_the_values_that_its_operands_had_when_the_expression_was_created():
    A, u = small(), line()
    expected = read((A @ u).new())
    expression, twice, part = A @ u, gl.binary.plus(u | u), A[0, :]
    u[1] = 100
    A.clear()
    u.clear()
    same(expression.new(), expected)
    assert twice.new().to_dict() == {0: 10, 2: -2}
    assert part.new().to_dict() == {1: 3, 2: 1}


def test_a_mask_reads_its_matrix_or_vector_when_the_mask_is_used():
    u, w = line(), gl.Vector(int, 3)
    mask = u.S
    u[1] = 7
    w(mask) << 1
    assert w.to_dict() == {0: 1, 1: 1, 2: 1}


def test_an_expression_has_a_shape_and_a_dtype_and_can_be_an_operand():
    A, u = small(), line()
    expression = A @ u
    assert expression.shape == (3,) and expression.dtype == "INT64"
    assert (expression + u).new().isequal((expression.new() + u).new())
    assert (A @ (A @ u)).new().isequal((A @ expression.new()).new())
    assert expression.nvals == expression.new().nvals
    assert (A @ A.T).shape == (3, 3)


def test_the_repr_of_each_object_and_expression_describes_the_content():
    A, u = small(), line()
    for thing in (A, u, A.T, A @ u, A[0, :], u.S, ~u.V, gl.Scalar.from_value(3), gl.Vector(int, 0)):
        assert repr(thing)
    assert "INT64" in repr(A) and "3" in repr(A)


def test_a_matrix_cannot_be_iterated_or_converted_to_a_length_or_a_bool_or_an_array():
    for noun in (small(), line(), small() @ line()):
        with pytest.raises(TypeError):
            bool(noun)
        with pytest.raises(TypeError):
            len(noun)
        with pytest.raises(TypeError):
            iter(noun)
        with pytest.raises(TypeError, match="to_dense"):
            np.asarray(noun)


# --- `select` with a comparison ---------------------------------------------------------------
SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@given(data, st.sampled_from(list(SIGNS)), st.integers(-2, 7))
def test_select_accepts_a_comparison_of_values_or_indices(data, sign, k):
    table, line = data.draw(tables(dtype=INT)), data.draw(columns(dtype=INT))
    A, v, compare = matrix(table), vector(line), SIGNS[sign]
    for select, noun, of in (
        (gl.select.value, A, lambda key: table.entries[key]),
        (gl.select.row, A, lambda key: key[0]),
        (gl.select.column, A, lambda key: key[1]),
        (gl.select.index, v, lambda key: key[0]),
    ):
        held = table if noun is A else line
        kept = {key: x for key, x in held.entries.items() if compare(of(key), k)}
        same(select(compare(noun, k)).new(), Table(held.shape, INT, kept))
        same(select(compare(noun, gl.Scalar.from_value(k))).new(), Table(held.shape, INT, kept))


def test_selecting_by_a_comparison_does_not_round_an_integer_bound():
    A, v = small(), gl.Vector.from_coo([0, (1 << 24) + 1], [1.0, 2.0], "FP32")
    assert gl.select.index(v > 1 << 24).new().nvals == 1
    assert gl.select.index(v >= (1 << 24) + 1).new().nvals == 1
    for wrong, problem in (
        (lambda: gl.select.row(A == 1), "select.row takes <, <=, > or >=, not =="),
        (lambda: gl.select.row(A > 1.5), "must be an integer, not 1.5"),
        (lambda: gl.select.value(A + 1), "takes a comparison of A with a scalar"),
        (lambda: gl.select.value(A > A), "takes a comparison of A with a scalar"),
        (lambda: gl.select.value(3), "takes a comparison, as in"),
    ):
        with pytest.raises((TypeError, ValueError), match=problem):
            wrong()


# --- masks ------------------------------------------------------------------------------------
@given(data)
def test_masks_can_be_combined_by_logical_conjunction_and_disjunction(data):
    shape = data.draw(st.tuples(sizes, sizes))
    some = masks(shape).filter(lambda mask: mask is not None)
    first, second = data.draw(some), data.draw(some)
    left, right = (mask_of(mask, matrix(mask.table)) for mask in (first, second))
    full = oracle.filled(shape, 1, INT)
    places = list(full.entries)
    both = [k for k in places if first.allows(k) and second.allows(k)]
    either = [k for k in places if first.allows(k) or second.allows(k)]
    for joined, allowed in ((left & right, both), (left | right, either)):
        C = gl.Matrix(int, *shape)
        C(joined) << 1
        same(C, Table(shape, INT, dict.fromkeys(allowed, 1)))
        C(~joined) << 2
        expected = {k: 1 if k in allowed else 2 for k in places}
        same(C, Table(shape, INT, expected))
    true = Table(shape, oracle.BOOL, {k: True for k in places if first.allows(k)})
    same(left.new(), true)
    false = Table(shape, oracle.BOOL, {k: True for k in places if not first.allows(k)})
    same(left.new(complement=True), false)
    same(left.new(mask=right), Table(shape, oracle.BOOL, dict.fromkeys(both, True)))


def test_a_mask_cannot_be_compared_or_converted_to_bool():
    mask = line().S
    for refused in (lambda: bool(mask), lambda: mask == mask, lambda: mask & small().S):
        with pytest.raises((TypeError, ValueError)):
            refused()


def test_an_updater_accepts_every_form_of_assignment():
    C, mask = small(), small().S
    C(mask)[:, :] = 7
    assert C.reduce_scalar("min").new() == 7
    C(gl.binary.plus)[0, 1] = 1
    assert C[0, 1].new() == 8
    C[0, :](gl.binary.plus) << 1
    assert C.get(0, 0) == 1 and C.get(0, 1) == 9
    C(mask=mask, accum="times").update(C)
    assert C.get(0, 1) == 81 and C.get(0, 0) == 1
    C[2, 0].update(5)
    C[:, :].update(C.T)
    assert C.get(0, 2) == 5
    C.update(small())
    assert C.isequal(small())
    del C(mask)[:, :]
    assert C.nvals == 0


def test_updaters_and_unfinished_expressions_cannot_be_compared_or_pickled_or_converted_to_bool():
    C = small()
    for refused in (
        lambda: bool(C(C.S)),
        lambda: C(C.S) == C,
        lambda: pickle.dumps(C @ C),
    ):
        with pytest.raises(TypeError):
            refused()


def of_each_kind(values: list) -> list:
    """Return a Scalar, a Vector and a Matrix with these values."""
    square = np.array([values, values])
    scalar = gl.Scalar.from_value(values[0])
    return [scalar, gl.Vector.from_dense(values), gl.Matrix.from_dense(square)]


def test_every_augmented_assignment_performs_the_operation_in_place():
    numeric = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    logical = ("and_", "or_", "xor")
    for name in (*numeric, *logical):
        is_logical = name in logical
        left = of_each_kind([True, False] if is_logical else [7.0, 9.0])
        right = of_each_kind([True, True] if is_logical else [2.0, 4.0])
        for C, D in zip(left, right, strict=True):
            if name == "matmul" and C.ndim < 2:
                continue  # a product of Vectors is a Scalar
            expected = getattr(operator, name)(C, D).new()
            before = C
            assert getattr(operator, f"i{name.strip('_')}")(C, D) is before
            assert C.isequal(expected)


def test_an_augmented_assignment_of_a_number_changes_the_object_in_place_and_keeps_the_dtype():
    for C in of_each_kind([7, 9]):
        before = same_object = C
        before += 1.0
        before //= 2
        assert before is same_object and before.dtype == "INT64"
        assert np.ravel(C.value if C.ndim == 0 else C.to_dense())[0] == 4
        before <<= C + C
        assert before is same_object
        assert np.ravel(C.value if C.ndim == 0 else C.to_dense())[0] == 8


def test_a_scalar_rejects_an_index():
    s = gl.Scalar.from_value(5)
    for refused in (lambda: s()[0], lambda: operator.setitem(s(), 0, 1)):
        with pytest.raises(TypeError, match="a Scalar takes no index"):
            refused()


def test_a_mask_combines_with_a_boolean_matrix_or_vector_on_either_side():
    v, A = line(), small()
    for noun, mask in ((v, v.S), (A, A.V)):
        true = noun.apply("gt", 2).new()
        for joined, other in (
            (true & mask, mask & true),
            (true | mask, mask | true),
            (noun.apply("gt", 2) & mask, mask & true),
        ):
            assert joined.new().isequal(other.new())
        for refused in (
            lambda noun=noun, mask=mask: noun & mask,
            lambda noun=noun, mask=mask: mask | noun,
        ):
            with pytest.raises(TypeError, match="say whether its structure"):
                refused()
        for name in ("add", "sub", "mul", "xor", "matmul"):
            with pytest.raises(TypeError):
                getattr(operator, name)(true, mask)


def test_select_rejects_an_operator_that_does_not_return_bool():
    v = line()

    def shifted(x, i, j, thunk):
        return x + 1

    for refused in (
        lambda: gl.select.register_anonymous(shifted),
        lambda: gl.select.register_new("shifted", shifted),
        lambda: gl.select.register_anonymous(lambda y: shifted, parameterized=True)(1),
        lambda: v.select(shifted),
    ):
        with pytest.raises(ValueError, match=r"shifted returns \w+ for .* must return BOOL"):
            refused()
    assert not hasattr(gl.select, "shifted") and not hasattr(gl.indexunary, "shifted")
    for op in (gl.indexunary.rowindex, gl.indexunary.register_anonymous(shifted)):
        with pytest.raises(TypeError, match="returns INT64, but to select must be BOOL"):
            v.select(op)
    for op in (gl.indexunary.valuegt, gl.indexunary.register_anonymous(lambda x, i, j, t: x > t)):
        assert v.select(op, 0).new().to_dict() == {0: 5}


def test_the_method_wait_accepts_the_modes_of_the_graphblas_standard():
    for noun in (line(), small(), gl.Scalar.from_value(5), line() + line()):
        assert noun.wait("complete") is noun is noun.wait("materialize")
        with pytest.raises(ValueError, match="how must be 'materialize' or 'complete', not 'bad'"):
            noun.wait("bad")


def test_the_method_setdiag_rejects_a_diagonal_outside_the_matrix():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [3, 4], nrows=2, ncols=3)
    for k in (-2, 3, -7):
        with pytest.raises(IndexError, match=f"k is {k}, but the diagonals of a 2 x 3 matrix"):
            A.setdiag(1, k)
    for k in (-1, 2):
        A.setdiag(1, k)
    assert A.nvals == 3
    gl.Matrix(int, 0, 0).setdiag(7)


@given(data)
def test_a_union_with_a_vector_broadcasts_the_vector_along_the_matrix(data):
    A = data.draw(tables(dtype=INT))
    u, v = data.draw(columns(A.shape[0], INT)), data.draw(columns(A.shape[1], INT))
    places = oracle.filled(A.shape, 0, INT).entries
    down = {(i, j): u.entries[i, 0] for i, j in places if (i, 0) in u.entries}
    along = {(i, j): v.entries[j, 0] for i, j in places if (j, 0) in v.entries}
    down, along = Table(A.shape, INT, down), Table(A.shape, INT, along)
    minus = gl.binary.minus
    same(minus(vector(u) | matrix(A)).new(), oracle.ewise_add(down, A, "minus"))
    same(minus(matrix(A) | vector(v)).new(), oracle.ewise_add(A, along, "minus"))
    union = oracle.ewise_union(A, along, "minus", np.int64(5), np.int64(7))
    same(matrix(A).ewise_union(vector(v), minus, 5, 7).new(), union)


def test_infix_expressions_without_an_operator_can_be_nested():
    u, v, w = (gl.Vector.from_coo([0, k], [1, k], size=4) for k in (1, 2, 3))
    assert gl.binary.plus(u | v | w).new().to_dict() == {0: 3, 1: 1, 2: 2, 3: 3}
    assert gl.monoid.times((u & v) & w).new().to_dict() == {0: 1}
    A = small()
    assert gl.semiring.plus_times(A @ (A @ A)).new().isequal((A @ (A @ A).new()).new())


@given(data)
def test_a_positional_unary_operator_returns_the_index_of_each_entry(data):
    A, u = data.draw(tables()), data.draw(columns())
    for name, place in {
        "positioni": lambda i, j: i,
        "positioni1": lambda i, j: i + 1,
        "positionj": lambda i, j: j,
        "positionj1": lambda i, j: j + 1,
    }.items():
        I, J, found = matrix(A).apply(name).new().to_coo()
        assert found.tolist() == [place(i, j) for i, j in zip(I, J, strict=True)]
        assert len(found) == len(A.entries)
        places, found = getattr(gl.unary, name)(vector(u)).new().to_coo()
        assert found.tolist() == [place(i, 0) for i in places]


# --- Python protocols --------------------------------------------------------------------------
def test_transposing_twice_returns_the_same_object_until_the_matrix_changes():
    A = small()
    B = A.T
    assert B.T is A and (A + A).T.T.new().isequal((A + A).new())
    A[0, 0] = 9
    assert B.T is not A and B.T.isequal(small()) and A.T.T is A


def test_objects_and_expressions_support_weak_references():
    for noun in (small(), line(), gl.Scalar.from_value(1), small() + 1, small().T):
        reference = weakref.ref(noun)
        assert reference() is noun
    del noun
    assert reference() is None


def test_the_property_nbytes_is_the_total_size_of_the_arrays():
    A = small()
    one_way = A.nbytes
    # 4 offsets and 3 column indices take 4 bytes each, and 3 values take 8 bytes each.
    assert one_way == 4 * 4 + 3 * 4 + 3 * 8
    A.T.to_csr()
    assert A.nbytes == 2 * one_way
    assert sys.getsizeof(A) >= A.nbytes
    assert gl.Vector.from_dense(np.ones(10)).nbytes == 80
    assert gl.Vector.from_scalar(1.5, 1000).nbytes == 8  # one stored value for all entries
    assert gl.Scalar.from_value(1.5).nbytes == 8 and gl.Scalar(int).nbytes == 0


# --- NumPy operators ---------------------------------------------------------------------------
@pytest.mark.parametrize("compiled", [False, True])
def test_operators_with_numpy_names_can_be_used_in_every_operation(compiled):
    if compiled:
        pytest.importorskip("numba")
    A = gl.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1.5, np.nan, -2.5])
    v = gl.Vector.from_dense([2.0, 3.0])
    with gl.config.set(compiled=compiled):
        assert A.apply("numpy.rint")[1, 1].value == -2.0
        assert gl.binary.numpy.fmod(A, 2)[1, 1].value == -0.5
        assert gl.semiring.numpy.fmax_multiply(A @ v).new().to_dense().tolist() == [3.0, -7.5]
        assert A.reduce_rowwise(gl.monoid.numpy.fmax).new().to_dense().tolist() == [1.5, -2.5]
        assert A.reduce_scalar("numpy.fmin").value == -2.5
        v(accum="numpy.fmax") << A.diag()
        assert v.to_dense().tolist() == [2.0, 3.0]
