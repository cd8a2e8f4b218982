"""Test when expressions run, which operands they keep, when they push or pull, and their errors."""

import copy
import pickle

import numpy as np
import pytest

import graphla as gl
from graphla import Matrix, Recorder, Scalar, Vector, binary, direction, monoid, replace
from graphla.semiring import any_pair, any_secondi, lor_land, min_plus, plus_times


def small() -> Matrix:
    return Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 3])


def ran(recorder: Recorder) -> list[str]:
    return [event.operation for event in recorder.events]


# --- evaluation ---------------------------------------------------------------------------------
def test_an_expression_is_computed_once_when_its_value_is_first_needed():
    A = small()
    with Recorder() as recorder:
        product = A.mxm(A)
        assert ran(recorder) == [] and product.shape == (2, 2) and product.dtype == "INT64"
        repr(product)
        assert ran(recorder) == []
        assert product.nvals == 3 and product.get(0, 1) == 8
        assert product.to_dicts() == product.new().to_dicts()
    assert ran(recorder) == ["mxm"]


def test_an_expression_used_as_an_operand_is_computed_once():
    A, u = small(), Vector.from_dense([1, 1])
    v = A @ u
    with Recorder() as recorder:
        assert (v + v).new().to_dict() == {0: 6, 1: 6}
        assert v.reduce().new() == 6 and (A @ v).new().to_dict() == {0: 9, 1: 9}
    assert ran(recorder).count("mxv") == 2


def test_an_expression_can_be_written_under_a_mask_made_from_the_same_expression():
    u = Vector.from_coo([0, 2], [-1, 7], size=4)
    x = u + 1
    w = Vector.from_coo([0, 1], [5, 6], size=4)
    w(x.S) << x
    assert w.to_dict() == {0: 0, 1: 6, 2: 8}
    x = u.apply("abs") > 1
    flags = Vector(bool, 4)
    flags(x.V) << x
    assert flags.to_dict() == {2: True}
    A = small()
    C, product = Matrix(int, 2, 2), A.mxm(A)
    C(~product.S) << product
    assert C.nvals == 0


def test_a_product_is_computed_under_the_mask_of_its_statement():
    A = small()
    C, mask = Matrix(int, 2, 2), Matrix.from_coo([0], [0], [True], nrows=2, ncols=2)
    with Recorder() as recorder:
        C(mask.S) << A.mxm(A)
    assert C.to_dicts() == {0: {0: 1}} and recorder.events[0].nvals_out == 1


def test_an_expression_uses_the_values_that_its_operands_had_when_the_expression_was_created():
    A, u = small(), Vector.from_dense([1, 2])
    written = {
        "mxv": A.mxv(u),
        "waiting": A @ u,
        "sum": u + u,
        "row": A[0, :],
        "transpose": A.T,
        "total": u.reduce(),
        "element": u[0],
    }
    u[0] = 50
    u(u.S, binary.times) << 2
    A << 9
    A.clear()
    assert written["mxv"].to_dict() == written["waiting"].to_dict() == {0: 5, 1: 6}
    assert written["sum"].to_dict() == {0: 2, 1: 4} and written["row"].to_dict() == {0: 1, 1: 2}
    assert written["transpose"].to_dicts() == {0: {0: 1}, 1: {0: 2, 1: 3}}
    assert written["total"] == 3 and written["element"] == 1


def test_an_in_place_write_to_an_operand_does_not_change_an_expression():
    v = Vector.from_dense(np.arange(100))
    doubled, dense = v + v, v.to_dense()
    v[3] = 1000
    v(Vector.from_coo([5], [1], size=100).S) << 7
    assert doubled.to_dense().tolist() == (2 * dense).tolist()


# --- infix expressions --------------------------------------------------------------------------
def test_an_infix_expression_without_an_operator_reports_that_an_operator_is_needed():
    A = small()
    assert "waiting" in repr(A & A) and "op(A & B)" in repr(A & A)
    assert binary.plus(A & A).to_dicts() == {0: {0: 2, 1: 4}, 1: {1: 6}}
    assert min_plus(A @ A).to_dicts() == {0: {0: 2, 1: 3}, 1: {1: 6}}
    with pytest.raises(TypeError, match=r"A & B without an operator.*op\(A & B\)"):
        (A & A).new()
    with pytest.raises(TypeError, match=r"plus\(A & B\).*plus\(A \| B\)"):
        binary.plus(A, A)


def test_one_operator_combines_all_operands_of_a_chain_joined_by_the_same_symbol():
    u = Vector.from_coo([0], [2], size=2)
    w = Vector.from_dense([5, 6])
    assert monoid.plus(u | w | u).to_dict() == {0: 9, 1: 6}
    assert binary.minus(w & w & w).to_dict() == {0: -5, 1: -6}
    assert binary.minus(u | w, left_default=10, right_default=0).to_dict() == {0: -3, 1: 4}


def test_logical_infix_expressions_on_bool_need_no_operator():
    b = Vector.from_dense([True, False, True])
    c = Vector.from_coo([0, 1], [True, True], size=3)
    assert (b & c).to_dict() == {0: True, 1: False} and (b | c).nvals == 3
    assert (b ^ c).to_dict() == {0: False, 1: True, 2: True} and (~b).to_dict()[1] is True


# --- tests of push and pull ---------------------------------------------------------------------
def ring(n: int) -> Matrix:
    i = np.arange(n)
    j = (i + 1) % n
    return Matrix.from_coo([*i, *j], [*j, *i], 1, nrows=n, ncols=n, symmetric=True)


@pytest.mark.parametrize("way", ["push", "pull"])
def test_the_choice_between_push_and_pull_can_be_forced(way):
    A, u = ring(50), Vector.from_coo([3], [1], size=50)
    with Recorder() as recorder, direction(way):
        w = plus_times(u @ A).new()
    assert w.to_dict() == {2: 1, 4: 1}
    assert (recorder.events[0].direction, recorder.events[0].reason) == (way, "forced")


def test_products_push_a_small_frontier_and_pull_a_large_frontier():
    n = 5000
    A = ring(n)
    few, all_ = Vector.from_coo([3], [1], size=n), Vector.from_scalar(1, n)
    with Recorder() as recorder:
        plus_times(few @ A).new()
        plus_times(A @ all_).new()
        any_pair(A @ all_).new(mask=few.S)
    assert [event.direction for event in recorder.events] == ["push", "pull", "pull"]
    assert all(event.reason for event in recorder.events)


def test_repeated_products_build_the_csc_form_and_change_from_push_to_pull():
    n = 2000
    rows = np.repeat(np.arange(n), 8)
    columns = (rows + np.tile(np.arange(8), n)) % n
    A, u = Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n), Vector.from_scalar(1, n)
    with Recorder() as recorder:
        for _ in range(30):
            plus_times(u @ A).new()
    ways = [event.direction for event in recorder.events]
    assert ways[0] == "push" and ways[-1] == "pull" and ways == sorted(ways, reverse=True)
    assert A._read().has_csc


@pytest.mark.cpu
def test_the_push_cost_setting_changes_the_choice_between_push_and_pull():
    n = 5000
    A, u = ring(n), Vector.from_coo(np.arange(0, n, 4), 1, size=n)
    ways = []
    for cost in (0.001, 1000.0):
        with Recorder() as recorder, gl.config.set(push_cost=cost):
            plus_times(u @ A).new()
        ways.append(recorder.events[0].direction)
    assert ways == ["push", "pull"]


def test_a_traversal_records_the_operations_that_ran():
    A = ring(64)
    parent, frontier = Vector(int, 64), Vector(int, 64)
    parent[0] = frontier[0] = 0
    with Recorder() as recorder:
        while frontier.nvals:
            frontier(~parent.S, replace) << any_secondi(frontier @ A)
            parent(frontier.S) << frontier
    assert parent.nvals == 64 and ran(recorder) == ["vxm"] * 33
    assert all("any_secondi" in event.semiring for event in recorder.events)
    assert len(str(recorder).splitlines()) == 34


# --- statements ---------------------------------------------------------------------------------
def test_an_output_may_also_be_an_operand_and_the_mask():
    v = Vector.from_coo([0, 2], [3, 0], size=4)
    v(~v.S) << 1
    assert v.to_dict() == {0: 3, 1: 1, 2: 0, 3: 1}
    v(v.V, replace) << v + v
    assert v.to_dict() == {0: 6, 1: 2, 3: 2}
    A = small()
    A(A.T.S, binary.plus) << A @ A
    assert A.to_dicts() == {0: {0: 2, 1: 2}, 1: {1: 12}}


@pytest.mark.cpu
def test_assigning_a_scalar_under_a_sparse_mask_writes_in_place():
    levels = Vector(int, 1 << 20)
    levels[5] = 0
    levels._read().bitmap()
    places = set()
    for depth in range(1, 4):
        frontier = Vector.from_coo([depth, 1000 * depth], 1, size=1 << 20)
        levels(frontier.S)[:] << depth
        places.add(levels._read().bitmap().values.ctypes.data)
    assert levels.nvals == 7 and levels.get(2000) == 2
    assert len(places) == 1  # every write reuses the same array


def test_a_region_expression_cannot_be_read_after_its_region_was_assigned():
    A = small()
    row = A[0, :]
    row << Vector.from_coo([1], [9], size=2)
    assert A.to_dicts() == {0: {1: 9}, 1: {1: 3}}
    with pytest.raises(TypeError, match="write C"):
        row.new()
    with pytest.raises(TypeError, match="cannot be assigned to"):
        (A + A) << A
    with pytest.raises(TypeError, match="cannot be assigned to"):
        (A + A)(A.S) << A


def test_an_updater_cannot_be_compared_or_converted_to_bool():
    A = small()
    for thing in (A(A.S), A(A.S)[:, :], A.S):
        with pytest.raises(TypeError):
            bool(thing)
        with pytest.raises(TypeError):
            thing == thing


# --- rejections -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda A, u: A.mxv(u), "A has 5 columns, but u has size 7"),
        (lambda A, u: A @ u, "A has 5 columns, but u has size 7"),
        (lambda A, u: u.vxm(A), "u has size 7, but A has 3 rows"),
        (lambda A, u: A.mxm(A), "A has 5 columns, but B has 3 rows"),
        (lambda A, u: u.inner(Vector(int, 2)), "u has size 7, but v has size 2"),
        (lambda A, u: u + Vector(int, 2), "u has size 7, but v has size 2"),
        (lambda A, u: A + A.T, "A has shape 3 x 5, but B has shape 5 x 3"),
        (lambda A, u: u << Vector(int, 2), "the output has size 7, but the expression has size 2"),
        (lambda A, u: A << A.T, "the output has shape 3 x 5, but the expression has shape 5 x 3"),
        (lambda A, u: u(Vector(int, 2).S) << 1, "the mask has size 2, but it should have size 7"),
        (lambda A, u: u[:3] << Vector(int, 2), "has size 3, but the value has size 2"),
        (lambda A, u: A.power(2), "A must be square.*3 x 5"),
        (lambda A, u: Matrix(int, 2**31, 1), r"nrows is 2147483648.*2\^31"),
        (lambda A, u: Vector(int, -1), "size is -1"),
        (lambda A, u: Matrix(int, 2**16, 1).kronecker(Matrix(int, 2**15, 1)), r"rows.*2\^31"),
    ],
)
def test_the_error_about_mismatched_shapes_is_one_sentence_that_names_both_sizes(statement, words):
    A, u = Matrix(int, 3, 5), Vector(int, 7)
    with pytest.raises(ValueError, match=words) as caught:
        statement(A, u)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda A, u: u(A.S) << 1, "must be a Vector, not a Matrix"),
        (lambda A, u: A(u.S) << 1, "Vector mask is for a row or a column"),
        (lambda A, u: A(u.S) << A, "should be a Matrix"),
        (lambda A, u: u(u) << 1, r"Vector of INT64.*\.S.*\.V"),
        (lambda A, u: u(replace=True) << 1, "replace=True needs a mask"),
        (lambda A, u: u(u.S, u.S) << 1, "two masks"),
        (lambda A, u: u("plus", "min") << 1, "two accumulators"),
        (lambda A, u: u(5) << 1, "op must be a binary operator"),
        (lambda A, u: u << "a", "cannot assign str"),
        (lambda A, u: u << None, "cannot assign NoneType"),
        (lambda A, u: u << A, "cannot assign a Matrix"),
        (lambda A, u: A[0, :] << A, "cannot assign a Matrix"),
        (lambda A, u: u[0] << u, "cannot assign a Vector to one element"),
        (lambda A, u: A[0, 0](A.S) << 1, "one element takes no submask"),
        (lambda A, u: A[0], "two indices"),
        (lambda A, u: u[1.5], "index must be an integer"),
        (lambda A, u: u[[True, False]], "integers"),
        (lambda A, u: u[u.S], "index must be an integer"),
        (lambda A, u: u[A], r"dup\(mask"),
        (lambda A, u: u[u > 0], r"dup\(mask"),
        (lambda A, u: A.mxm(u), "mxm needs a Matrix, not a Vector"),
        (lambda A, u: A.mxv([1, 2]), "mxv needs a Vector, not a list"),
        (lambda A, u: A @ 2, "either side"),
        (lambda A, u: A.mxm(A, binary.plus), "op must be a semiring"),
        (lambda A, u: u.ewise_add(u, plus_times), r"\.monoid and \.binaryop"),
        (lambda A, u: u.apply(binary.plus), "left"),
        (lambda A, u: u.apply(binary.plus, left=1, right=2), "not both"),
        (lambda A, u: ~u, "needs BOOL"),
        (lambda A, u: u ^ u, "needs BOOL"),
        (lambda A, u: u == [1], "list"),
        (lambda A, u: u == None, "NoneType"),  # noqa: E711
        (lambda A, u: copy.copy(u + u), "expression.new"),
        (lambda A, u: pickle.dumps(u + u), "expression.new"),
        (lambda A, u: lor_land(A | A), "op must be"),
    ],
)
def test_the_error_about_operands_of_the_wrong_kind_gives_advice(statement, words):
    A, u = small(), Vector.from_dense([1, 2])
    with pytest.raises(TypeError, match=words) as caught:
        statement(A, u)
    assert "\n" not in str(caught.value)
    assert A.nvals == 3 and u.to_dict() == {0: 1, 1: 2}


def test_the_error_about_an_index_out_of_range_names_the_index():
    A, u = small(), Vector.from_dense([1, 2])
    for statement in (lambda: u[5], lambda: A[0, -3], lambda: u[[0, 7]], lambda: u.get(2)):
        with pytest.raises(IndexError, match="out of range: the size is 2"):
            statement()
    with pytest.raises(ValueError, match="row 1 occurs twice"):
        A[[1, 0, 1], :] << 5


def test_an_empty_scalar_cannot_be_converted_to_a_number():
    for convert in (int, float, complex, [1, 2].__getitem__):
        with pytest.raises(ValueError, match="empty Scalar"):
            convert(Scalar(int))
    with pytest.raises(ValueError, match="right is an empty Scalar"):
        Vector(int, 2).apply(binary.plus, right=Scalar(int))


@pytest.mark.cpu
def test_an_operation_that_is_too_large_raises_an_error_and_leaves_its_operands_unchanged():
    u = Vector.from_scalar(1, 1 << 21)
    with pytest.raises(gl.exceptions.OutOfMemory, match=r"outer ran out of memory.*allocate"):
        u.outer(u).new()
    assert u.nvals == 1 << 21


# --- config.autocompute -------------------------------------------------------------------------
def test_an_expression_is_computed_only_on_request_if_autocompute_is_off():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [3, 4])
    v = gl.Vector.from_coo([0, 1], [1, 2])
    with gl.config.set(autocompute=False):
        for use in (
            lambda: (A + A).nvals,
            lambda: (A + A) + A,
            lambda: (A @ v).to_coo(),
            lambda: A[0, 1].value,
            lambda: int(v[0]),
            lambda: bool(v.reduce()),
            lambda: gl.semiring.min_plus(A @ (v + v)),
            lambda: (A + A).isequal(A),
            lambda: A.isequal(A + A),
            lambda: (v > 1).S.new(),
        ):
            with pytest.raises(TypeError, match=r"write \.new\(\) to compute it"):
                use()
        assert (A + A).new().to_dict() == {(0, 1): 6, (1, 0): 8}
        assert "not yet computed" in repr(A + A) and "not yet computed" in repr(v.reduce())
        assert (A + A).shape == (2, 2) and (A + A).dtype == "INT64"
        expression = A + A
        expression.new()
        assert expression.nvals == 2  # allowed, because new() has computed the expression
        w = gl.Vector(int, 2)
        w << A @ v
        w(v.S) << v + v
        w[[0]] << v[[1]]
        w[1] << v[0]
        w(gl.binary.plus) << v.reduce()
        assert w.to_dict() == {0: 5, 1: 4}
        assert gl.binary.plus(v | v | v).new().to_dict() == {0: 3, 1: 6}
        assert A.T.to_dict() == {(1, 0): 3, (0, 1): 4} and A.T.T is A
        assert A.get(0, 1) == 3 and v.get(1) == 2 and "3" in repr(A)
    assert (A + A).nvals == 2


def test_without_autocompute_select_accepts_only_comparisons_of_its_own_operand():
    A = gl.Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 2, 3])
    B = gl.Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 2, 3])
    with gl.config.set(autocompute=False):
        selected = A.select(A > 1).new()
        with pytest.raises(TypeError, match="autocompute"):
            A.select(B != 1)
    assert selected.to_dict() == {(0, 2): 2, (1, 2): 3}
    assert A.select(B > 1).new().isequal(selected)


def test_algorithms_run_even_if_autocompute_is_off():
    A = gl.generators.kronecker(5, symmetric=True, seed=1)
    algorithms = gl.algorithms
    for run in (
        algorithms.triangle_count,
        algorithms.pagerank,
        algorithms.louvain,
        algorithms.connected_components,
        lambda A: algorithms.betweenness(A, sources=[0, 1]),
        lambda A: algorithms.sssp(A, 0).distances,
        lambda A: gl.closure(gl.Vector.from_coo([0], 1, size=A.nrows), A, "max_second").values,
        lambda A: algorithms.triangle_count(gl.Graph(A, directed=False)),
    ):
        expected = run(A)
        with gl.config.set(autocompute=False):
            found = run(A)
        assert found.isclose(expected) if isinstance(found, gl.Vector) else found == expected
