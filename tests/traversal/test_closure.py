"""Compare closures with their definition over semirings, dtypes, masks, cutoffs and directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from algorithms.graphs import Edges, graphs
from cases import SELECTING, Case, as_mask, cases, masks, ways, wild
from hypothesis import given
from hypothesis import strategies as st
from model import agree
from model import closure as on_dictionaries

import graphla as gl
from graphla.traversal import definition
from semirings import binary, monoid, semiring, where

pytestmark = pytest.mark.usefixtures("engine")
towards = st.sampled_from(["auto", "push", "pull"])
cutoffs = st.none() | st.integers(0, 4)


def solved(case: Case, **options) -> Any:
    """Return the closure as a dictionary, or "overflow" if it raises OverflowError."""
    try:
        found = gl.closure(case.x, case.graph.matrix(), case.op, **options).values
    except OverflowError:
        return "overflow"
    assert found.dtype == case.op.return_type
    assert found.nvals == len(found.to_dict())
    return found.to_dict()


def expected(case: Case, allowed=None, cutoff=None) -> Any:
    model = on_dictionaries(
        case.graph, case.starts, case.op, mask=allowed, limit=500 if cutoff is None else cutoff
    )
    return "overflow" if model.lost - model.values.keys() else model.values


def same(got, wanted) -> bool:
    return got == wanted if "overflow" in (got, wanted) else agree(got, wanted)


@given(cases(), cutoffs, towards, st.data())
def test_a_closure_equals_the_result_of_its_definition(case, cutoff, way, data):
    allowed = data.draw(masks(case.graph.n))
    mask = as_mask(allowed, case.graph.n, data.draw(ways))
    with gl.direction(way):
        assert same(solved(case, mask=mask, cutoff=cutoff), expected(case, allowed, cutoff))


@given(cases(iso=True), cutoffs, towards)
def test_a_closure_over_equal_weights_equals_its_definition(case, cutoff, way):
    with gl.direction(way):
        assert same(solved(case, cutoff=cutoff), expected(case, cutoff=cutoff))


@given(cases(SELECTING, ["FP64", "FP32"], weights=wild, starts=wild), cutoffs)
def test_closures_with_infinities_and_nan_converge(case, cutoff):
    assert agree(solved(case, cutoff=cutoff), expected(case, cutoff=cutoff))


@given(cases(), st.data())
def test_parents_lead_to_a_start_vertex_and_each_value_follows_from_the_value_of_the_parent(
    case, data
):
    allowed = data.draw(masks(case.graph.n))
    mask = as_mask(allowed, case.graph.n, data.draw(ways))
    try:
        values, parents = gl.closure(case.x, case.graph.matrix(), case.op, mask=mask, parents=True)
    except OverflowError:
        return
    values, parents = values.to_dict(), parents.to_dict()
    assert parents.keys() == values.keys()
    weights = {(u, v): w for u, v, w in case.graph}
    into, given_type = case.op.return_type.np_type.type, case.op.type2.np_type.type
    for v, u in parents.items():
        if u == v and v in case.starts and into(case.starts[v]) == values[v]:
            continue
        assert allowed is None or v in allowed
        assert case.op.binaryop(into(values[u]), given_type(weights[u, v])) == values[v]
    if case.op.name in ("min_plus", "max_times", "max_min", "min_max", "lor_land", "min_first"):
        for v in parents:
            for _ in range(case.graph.n):
                v = parents[v]
            assert v in case.starts


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(
            (name, dtype)
            for name in ("min_plus", "max_plus")
            for dtype in ("INT8", "INT64", "FP64")
        ),
        *(("min_minus", "INT16"), ("min_minus", "FP32"), ("min_times", "INT64")),
    ],
)
@given(data=st.data())
def test_the_error_about_a_cycle_that_keeps_improving_names_a_vertex_of_the_cycle(
    name, dtype, data
):
    weights = st.integers(-2, 5) if name != "max_plus" else st.integers(-5, 2)
    graph = data.draw(graphs(weights=weights, dtype=dtype))
    starts = data.draw(st.dictionaries(st.integers(0, graph.n - 1), st.integers(-3, 3), max_size=3))
    case = Case(getattr(semiring, name)[dtype], graph, starts)
    model = on_dictionaries(graph, starts, case.op)
    try:
        got = gl.closure(case.x, graph.matrix(), case.op).values
    except gl.exceptions.InvalidValue as error:
        assert not model.rests or model.lost
        through = int(str(error).split("through vertex ")[1].split()[0])
        nx = pytest.importorskip("networkx")
        G = nx.DiGraph([(u, v) for u, v, _ in graph])
        assert any(through in part for part in nx.strongly_connected_components(G))
        assert G.has_edge(through, through) or any(
            through in part and len(part) > 1 for part in nx.strongly_connected_components(G)
        )
    except OverflowError:
        assert model.lost
    else:
        assert model.rests
        assert agree(got.to_dict(), model.values)


@pytest.mark.parametrize("cutoff", [0, 1, 7])
def test_a_closure_with_a_cutoff_accepts_a_cycle_that_keeps_improving(cutoff):
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], [-1, -1, -1])
    x = gl.Vector.from_coo([0], [0], size=3)
    found = gl.closure(x, A, "min_plus", cutoff=cutoff).values.to_dict()
    assert found == {k % 3: -k for k in range(cutoff + 1)}


@pytest.mark.parametrize("dtype", ["INT8", "INT64", "FP32", "FP64"])
def test_a_cycle_that_keeps_improving_is_rejected(dtype):
    A = gl.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 1], [5, 2, -4, 1], dtype, nrows=5, ncols=5)
    x = gl.Vector.from_coo([0], [0], dtype, size=5)
    with pytest.raises(gl.exceptions.InvalidValue, match=r"through vertex [123] that goes on"):
        gl.closure(x, A, "min_plus")


@pytest.mark.parametrize("product", [1.001, 2.0, 1e200])
def test_a_cycle_with_a_product_above_one_is_rejected(product):
    A = gl.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], [product, 1.0, 1.0, 1.0], nrows=4, ncols=4)
    x = gl.Vector.from_coo([0], [1.0], size=4)
    with pytest.raises(gl.exceptions.InvalidValue, match=r"a cycle through vertex [012] that"):
        gl.closure(x, A, "max_times")


@pytest.mark.parametrize("weight", [-1e307, -1.0, -1e-3])
def test_a_cycle_that_decreases_to_minus_infinity_is_rejected_even_if_the_decrease_is_slow(weight):
    A = gl.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], [weight, 0.0, 0.0, 1.0], nrows=4, ncols=4)
    x = gl.Vector.from_coo([0], [0.0], size=4)
    with pytest.raises(gl.exceptions.InvalidValue, match=r"a cycle through vertex [012] that"):
        gl.closure(x, A, "min_plus")


def test_path_lengths_may_be_infinite_if_there_is_no_cycle():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [-1.5e308, -1.5e308], nrows=3, ncols=3)
    x = gl.Vector.from_coo([0], [0.0], size=3)
    assert gl.closure(x, A, "min_plus").values.to_dict() == {0: 0.0, 1: -1.5e308, 2: -np.inf}


def test_a_cycle_that_no_start_vertex_reaches_is_not_rejected():
    A = gl.Matrix.from_coo([0, 2, 3], [1, 3, 2], [1, -4, 1], nrows=4, ncols=4)
    x = gl.Vector.from_coo([0], [0], size=4)
    assert gl.closure(x, A, "min_plus").values.to_dict() == {0: 0, 1: 1}


def test_negative_weights_are_allowed_if_there_is_no_negative_cycle():
    A = gl.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [4, 1, -5, 2], nrows=4, ncols=4)
    x = gl.Vector.from_coo([0], [0], size=4)
    assert gl.closure(x, A, "min_plus").values.to_dict() == {0: 0, 1: 4, 2: -1, 3: 1}


def test_an_overflow_is_rejected_unless_a_better_path_does_not_overflow():
    edges = ([0, 1, 0, 3], [1, 2, 3, 2], [100, 100, 60, 60])
    A = gl.Matrix.from_coo(*edges, "INT8", nrows=5, ncols=5)
    x = gl.Vector.from_coo([0], [0], "INT8", size=5)
    assert gl.closure(x, A, "min_plus").values.to_dict() == {0: 0, 1: 100, 2: 120, 3: 60}
    del A[3, 2]
    with pytest.raises(OverflowError, match="a value at 2 that INT8 does not hold"):
        gl.closure(x, A, "min_plus")
    assert gl.closure(x, A, "min_plus", cutoff=1).values.to_dict() == {0: 0, 1: 100, 3: 60}


@pytest.mark.parametrize(("weight", "last"), [(1, 127), (2, 63)])
def test_values_that_do_not_fit_in_the_dtype_are_rejected(weight, last):
    n = 200
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), np.int8(weight), nrows=n, ncols=n)
    x = gl.Vector.from_coo([0], [0], "INT8", size=n)
    with pytest.raises(OverflowError, match=f"a value at {last + 1} that INT8 does not hold"):
        gl.closure(x, A, "min_plus")
    found = gl.closure(x, A, "min_plus", cutoff=last).values.to_dict()
    assert found == {v: v * weight for v in range(last + 1)}


@given(graphs(weights=st.integers(0, 9)), st.data())
def test_a_user_defined_semiring_has_a_closure(graph, data):
    nearer = monoid.register_anonymous(
        binary.register_anonymous(lambda x, y: where(x < y, x, y), "nearer"),
        np.iinfo(np.int64).max,
        is_idempotent=True,
    )
    capped = binary.register_anonymous(lambda x, y: where(x + y < 12, x + y, 12), "capped")
    op = semiring.register_anonymous(nearer, capped)["INT64"]
    starts = data.draw(st.dictionaries(st.integers(0, graph.n - 1), st.integers(0, 9), max_size=3))
    case = Case(op, graph, starts)
    assert agree(solved(case), expected(case))


@given(graphs(weights=st.integers(0, 9)), st.data())
def test_a_closure_recognizes_a_semiring_by_its_operators_and_not_by_its_name(graph, data):
    op = semiring.register_anonymous(monoid.min, binary.max, "min_plus")["INT64"]
    starts = data.draw(st.dictionaries(st.integers(0, graph.n - 1), st.integers(0, 9), max_size=3))
    case = Case(op, graph, starts)
    assert agree(solved(case), expected(case))


def test_a_cycle_whose_values_stop_improving_is_not_rejected_because_of_the_name_of_an_operator():
    clamped = binary.register_anonymous(lambda x, y: where(x + y > 0, x + y, 0), "plus")
    op = semiring.register_anonymous(monoid.min, clamped)["INT64"]
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], [-5, 1, 3], nrows=3, ncols=3)
    found = gl.closure(gl.Vector.from_coo([0], [300], size=3), A, op)
    assert found.values.to_dict() == {0: 4, 1: 0, 2: 1}


@given(graphs(), st.data())
def test_a_semiring_with_a_positional_multiply_has_a_closure(graph, data):
    starts = data.draw(st.sets(st.integers(0, graph.n - 1), max_size=3))
    x = gl.Vector.from_coo(sorted(starts), 100, int, size=graph.n)
    A = graph.matrix()
    found = gl.closure(x, A, semiring.min_secondi).values.to_dict()
    wanted = definition.closure(x, A, semiring.min_secondi["INT64"], only_changed=False)
    assert found == wanted.values.to_dict()


@given(cases(["min_plus", "max_min", "lor_land"]))
def test_a_closure_does_not_change_its_operands(case):
    x, A = case.x, case.graph.matrix()
    before, edges = x.dup(), A.dup()
    try:
        found = gl.closure(x, A, case.op).values
    except OverflowError:
        pass
    else:
        found << 1
        assert x.isequal(before)
    assert A.isequal(edges)
    assert x.isequal(before)


@given(cases(["min_plus", "min_max", "max_first"]))
def test_a_closure_is_idempotent(case):
    try:
        once = gl.closure(case.x, case.graph.matrix(), case.op).values
    except OverflowError:
        return
    assert agree(gl.closure(once, case.graph.matrix(), case.op).values.to_dict(), once.to_dict())


# --- known results ------------------------------------------------------------------------------


def test_a_min_first_closure_labels_connected_components():
    A = gl.Matrix.from_coo([1, 3, 4, 3], [3, 1, 3, 4], 1.0, nrows=6, ncols=6)
    labels = gl.closure(gl.Vector.from_dense(np.arange(6)), A, "min_first").values
    assert labels.to_dense().tolist() == [0, 1, 2, 1, 1, 5]
    assert labels.dtype == "INT64"


def test_a_logical_closure_accepts_weights_of_any_dtype():
    A = gl.Matrix.from_coo([0, 1, 1], [1, 2, 3], [2, 3, 0], nrows=5, ncols=5)
    x = gl.Vector.from_coo([0], [True], size=5)
    found = gl.closure(x, A, "lor_land").values
    assert found.dtype == "BOOL"
    assert found.to_dict() == {0: True, 1: True, 2: True, 3: False}


def test_a_min_plus_closure_of_a_pattern_gives_levels():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=4, ncols=4)
    x = gl.Vector.from_coo([1], [0], size=4)
    values, parents = gl.closure(x, A, "min_plus", parents=True)
    assert values.to_dict() == {1: 0, 2: 1, 0: 2}
    assert parents.to_dict() == {1: 1, 2: 1, 0: 2}


def test_a_start_vertex_outside_the_mask_is_kept_and_expanded():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], [5, 5, -9], nrows=3, ncols=3)
    x = gl.Vector.from_coo([0, 1], [3, 3], size=3)
    mask = gl.Vector.from_coo([2], [1], size=3).S
    assert gl.closure(x, A, "min_plus", mask=mask).values.to_dict() == {0: 3, 1: 3, 2: 8}


def test_a_closure_without_edges_or_start_vertices_reaches_nothing():
    x = gl.Vector.from_coo([1], [2], size=3)
    assert gl.closure(x, gl.Matrix(int, 3, 3), "min_plus").values.to_dict() == {1: 2}
    A = gl.Matrix.from_coo([0], [1], [1], nrows=3, ncols=3)
    assert gl.closure(gl.Vector(int, 3), A, "min_plus").values.nvals == 0
    assert gl.closure(gl.Vector(int, 0), gl.Matrix(int, 0, 0), "min_plus").values.size == 0


def test_an_expression_is_accepted_as_the_matrix():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, 1], nrows=3, ncols=3)
    x = gl.Vector.from_coo([2], [0], size=3)
    assert gl.closure(x, A.T, "min_plus").values.to_dict() == {2: 0, 1: 1, 0: 2}


# --- larger graphs ------------------------------------------------------------------------------


def path(n: int) -> Edges:
    ends = [(v, v + 1) for v in range(n - 1)]
    return Edges(n, tuple(ends), tuple((v * 7) % 5 for v, _ in ends))


@pytest.mark.parametrize("both_ways", [False, True])
def test_distances_and_levels_of_a_long_path_are_correct(both_ways):
    n = 5000
    graph = path(n)
    rows, columns = np.array(graph.ends).T
    weights = np.array(graph.weights)
    if both_ways:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        weights = np.concatenate([weights, weights])
    A = gl.Matrix.from_coo(rows, columns, weights, nrows=n, ncols=n, symmetric=both_ways)
    x = gl.Vector.from_coo([0], [0], size=n)
    expected = np.concatenate([[0], np.cumsum(graph.weights)])
    assert gl.closure(x, A, "min_plus").values.to_dense().tolist() == expected.tolist()
    pattern = A.dup(bool)
    pattern(A.S) << True
    levels, parents = gl.closure(x, pattern, "min_plus", parents=True)
    assert levels.to_dense().tolist() == list(range(n))
    assert parents.to_dense().tolist() == [0, *range(n - 1)]


@pytest.mark.parametrize("n", [2, 33, 600])
def test_distances_in_a_star_and_in_a_complete_graph_are_correct(n):
    leaves = np.arange(1, n)
    hub = np.zeros(n - 1, int)
    star = gl.Matrix.from_coo(
        np.r_[hub, leaves], np.r_[leaves, hub], np.r_[leaves, leaves], nrows=n, ncols=n
    )
    x = gl.Vector.from_coo([n - 1], [0], size=n)
    expected = {0: n - 1, **{v: n - 1 + v for v in range(1, n - 1)}, n - 1: 0}
    assert gl.closure(x, star, "min_plus").values.to_dict() == expected
    everywhere = gl.Matrix.from_dense(np.add.outer(np.arange(n), np.arange(n)))
    found = gl.closure(x, everywhere, "min_plus").values.to_dense()
    assert found.tolist() == [*(n - 1 + np.arange(n - 1)).tolist(), 0]


@pytest.mark.parametrize("name", ["min_plus", "max_min", "min_max", "min_first"])
def test_a_closure_over_a_random_graph_equals_its_definition(name):
    A = gl.generators.kronecker(9, seed=5)
    rows, columns, _ = A.to_coo()
    B = gl.Matrix.from_coo(rows, columns, (rows * 7 + columns * 13) % 64 + 1, nrows=512, ncols=512)
    op = getattr(semiring, name)["INT64"]
    x = gl.Vector.from_coo([int(rows[0]), 5, 77], [0, 100, 50], size=512)
    expected = definition.closure(x, B, op).values
    assert gl.closure(x, B, op).values.isequal(expected)


@given(cases(["min_plus", "max_min", "min_first", "lor_land"]))
def test_closures_in_deterministic_mode_have_the_same_parents_in_every_run(case):
    with gl.config.set(deterministic=True):
        try:
            first = gl.closure(case.x, case.graph.matrix(), case.op, parents=True)
        except OverflowError:
            return
        again = gl.closure(case.x, case.graph.matrix(), case.op, parents=True)
    assert agree(first[0].to_dict(), again[0].to_dict())
    assert first[1].to_dict() == again[1].to_dict()


def test_a_product_that_overflows_is_not_reported_as_a_cycle():
    A = gl.Matrix.from_coo([0], [0], [1], "UINT8", nrows=1, ncols=1)
    x = gl.Vector.from_coo([0], [2], "UINT8", size=1)
    with pytest.raises(OverflowError, match="has a product that UINT8 does not hold"):
        gl.closure(x, A, "max_rminus")


def test_an_overflow_in_a_user_defined_multiply_is_rejected():
    twice = binary.register_anonymous(lambda x, y: 2 * x + y, "twice")
    op = semiring.register_anonymous(monoid.min, twice)["INT8"]
    n = 8
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), np.int8(1), nrows=n, ncols=n)
    x = gl.Vector.from_coo([0], [1], "INT8", size=n)
    with pytest.raises(OverflowError, match=r"the closure under semiring.* that INT8 does not"):
        gl.closure(x, A, op)
    assert gl.closure(x, A, op, cutoff=5).values.to_dict() == {
        0: 1,
        1: 3,
        2: 7,
        3: 15,
        4: 31,
        5: 63,
    }


@pytest.mark.parametrize(
    ("name", "dtype", "most"),
    [
        ("max_min", "INT8", 120),
        ("min_plus", "FP32", 1),
        ("max_times", "FP64", 1),
        ("min_max", "FP32", 50),
        ("max_first", "INT16", 9),
        ("lor_land", "BOOL", 2),
    ],
)
def test_a_masked_closure_over_a_random_graph_equals_its_definition(name, dtype, most):
    check_masked_closure(name, dtype, most)


def test_a_masked_closure_whose_terms_may_overflow_equals_its_definition():
    check_masked_closure("min_plus", "UINT16", 90)


def check_masked_closure(name, dtype, most):
    """Compare a closure over a random graph with its definition; weights are less than `most`."""
    rng = np.random.default_rng(most)
    n = 700
    ends = np.unique(rng.integers(0, n, (2500, 2)), axis=0)
    draws = rng.random(len(ends)) * most
    kind = gl.dtypes.lookup_dtype(dtype).np_type
    values = np.round(draws * 64) / 64 if kind.kind == "f" else draws.astype(int)
    A = gl.Matrix.from_coo(ends[:, 0], ends[:, 1], values.astype(kind), nrows=n, ncols=n)
    starts = rng.choice(n, 5, replace=False)
    x = gl.Vector.from_coo(starts, (np.arange(5) % 2).astype(kind), size=n)
    allowed = gl.Vector.from_dense(rng.random(n) < 0.8)
    op = getattr(semiring, name)[dtype]
    wanted = definition.closure(x, A, op, mask=allowed.V).values
    got, parents = gl.closure(x, A, op, mask=allowed, parents=True)
    assert got.isequal(wanted)
    assert wanted.nvals > 300
    after = gl.closure(got, A, op, mask=allowed.V).values
    assert after.isequal(got)
    assert parents.nvals == got.nvals


def test_a_self_loop_of_weight_zero_is_not_rejected():
    n = 1500  # enough rounds that the parents are checked for cycles during the closure
    path = np.arange(n - 1)
    rows, columns = np.append(0, path), np.append(0, path + 1)
    A = gl.Matrix.from_coo(rows, columns, np.append(0, -np.ones(n - 1, int)), nrows=n, ncols=n)
    found = gl.closure(gl.Vector.from_coo([0], [0], size=n), A, semiring.min_plus).values
    assert found.to_dense().tolist() == list(range(0, -n, -1))
