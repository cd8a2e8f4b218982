"""Test that symmetry detection is correct and cached, and that it does not change any result."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from devices import fewer
from effort import is_full
from hypothesis import given
from hypothesis import strategies as st
from oracle import Table, transpose
from strategies import LAYOUTS, agrees, matrix, numbers, read, same, symmetric, tables

import graphla as gl
from graphla.backends import backend
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using

pytestmark = pytest.mark.usefixtures("loops")


def is_same(x: Any, y: Any) -> bool:
    """Return whether the bits are equal or both values are NaN."""
    return x.tobytes() == y.tobytes() or bool(x != x and y != y)


def oracle(table: Table) -> tuple[bool, bool]:
    """Return whether the pattern is symmetric, and whether the values are also symmetric."""
    entries, back = table.entries, transpose(table).entries
    has_pattern = entries.keys() == back.keys()
    return has_pattern, has_pattern and all(is_same(x, back[key]) for key, x in entries.items())


@st.composite
def nearly_symmetric(draw: st.DrawFn, dtype: Any = None, *, wild: bool = True) -> Table:
    """Draw symmetric tables; one entry may have been removed, changed or moved."""
    table = draw(symmetric(dtype, wild=wild))
    entries, n = dict(table.entries), table.shape[0]
    change = draw(st.sampled_from(["nothing", "remove", "change", "move"]))
    if entries and change != "nothing":
        key = draw(st.sampled_from(sorted(entries)))
        value = entries.pop(key)
        place = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
        if change == "change":
            entries[key] = draw(numbers(table.dtype, wild=wild))
        elif change == "move":
            entries[draw(place)] = value
    return Table(table.shape, table.dtype, dict(sorted(entries.items())))


squares = st.one_of(
    nearly_symmetric(), st.integers(0, 6).flatmap(lambda n: tables(st.just((n, n))))
)
few_types = st.sampled_from([np.dtype(np.int64), np.dtype(np.float32)]).flatmap(
    lambda dtype: nearly_symmetric(dtype, wild=False)
)
"""Nearly symmetric tables of only two dtypes, to limit the number of compilations. Their values are
small, so sums are exact in any order.
"""


def held(A: gl.Matrix) -> int:
    """Return the number of bytes that a matrix occupies: its CSR and CSC arrays and its plan. An
    array that both forms share is counted once.
    """
    forms = [form for form in (A._store.csr, A._store.csc) if form is not None]
    arrays = [x for form in forms for x in (form.indptr, form.indices, form.values)]
    each = {id(x): x.itemsize if not x.strides[0] else x.nbytes for x in arrays}
    return sum(each.values()) + (A.preparation.nbytes if A.preparation else 0)


def random_matrix(n: int, entries: int, seed: int, change: str = "nothing") -> tuple[Any, Any]:
    """Return the rows and columns of a symmetric pattern with self-loops.

    If `change` is "remove" or "move", the function removes or moves one entry, which makes the
    pattern asymmetric.
    """
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, entries))
    keys = np.unique(np.concatenate([i * n + j, j * n + i, np.arange(0, n, 3) * (n + 1)]))
    if change == "remove":
        off = np.flatnonzero(keys // n != keys % n)
        keys = np.delete(keys, off[rng.integers(off.size)])
    elif change == "move":
        off = np.flatnonzero(keys // n != keys % n)
        free = np.setdiff1d(np.arange(n * n), keys)
        free = free[free // n != free % n]
        keys[off[rng.integers(off.size)]] = free[rng.integers(free.size)]
        keys.sort()
    return keys // n, keys % n


# --- symmetry detection ---------------------------------------------------------------------------


@given(squares, LAYOUTS["matrix"])
def test_symmetry_detection_agrees_with_a_dictionary_of_entries(table, how):
    A = matrix(table, how)
    expected = oracle(table)
    assert tuple(backend(A.device).find_symmetry(A._store.csr)) == expected
    # With "both", `matrix` passes symmetric=True for a symmetric table, so the store already
    # knows that A is symmetric.
    if how != "both":
        assert not A._store.is_symmetric
        assert A._store.find_symmetry() == expected[0]
        assert A._store.is_symmetric == expected[1]
    assert A._store.find_symmetry() == A._store.T.find_symmetry() == expected[0]


@pytest.fixture
def many_parts():
    with using(PartsTuning(parallel=0)):
        yield


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("change", ["nothing", "remove", "move"])
@pytest.mark.parametrize("seed", range(4))
def test_one_entry_among_thousands_can_break_symmetry(seed, change):
    n = 97
    i, j = random_matrix(n, 2500, seed, change)
    weights = np.minimum(i, j) * n + np.maximum(i, j)
    expected = change == "nothing"
    for values in (True, weights, weights.astype(np.float32), (weights % 2).astype(np.int8)):
        A = gl.Matrix.from_coo(i, j, values, nrows=n, ncols=n)
        found = backend(A.device).find_symmetry(A._store.csr)
        assert tuple(found) == (expected, expected)
    if expected:
        weights[np.flatnonzero(i != j)[seed]] += 1
        A = gl.Matrix.from_coo(i, j, weights, nrows=n, ncols=n)
        assert tuple(backend(A.device).find_symmetry(A._store.csr)) == (True, False)


def test_symmetry_is_detected_with_empty_rows_at_both_ends_and_with_a_single_row():
    for rows in ([50], [3, 50], [0, 99]):
        i, j = (x.ravel() for x in np.meshgrid(rows, rows))
        A = gl.Matrix.from_coo(i, j, 1, nrows=100, ncols=100)
        assert gl.Graph(A).is_symmetric
        B = gl.Matrix.from_coo([*i, 7], [*j, 8], 1, nrows=100, ncols=100)
        assert not gl.Graph(B).is_symmetric


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_matrix_without_entries_is_symmetric(n):
    A = gl.Matrix("FP32", n, n)
    assert A._store.find_symmetry() and A._store.is_symmetric


def test_symmetry_detection_never_compares_a_rectangular_matrix_with_its_transpose(monkeypatch):
    A = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=3)
    monkeypatch.setattr(backend(A.device), "find_symmetry", None)
    assert not A._store.find_symmetry()


# --- cached symmetry ------------------------------------------------------------------------------


def spy(A: gl.Matrix, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    do, asked = backend(A.device), []
    find = do.find_symmetry
    monkeypatch.setattr(do, "find_symmetry", lambda a: asked.append(a) or find(a))
    return asked


TRAVERSALS = {
    "bfs": lambda A: gl.algorithms.bfs(A, 0),
    "bfs_levels": lambda A: gl.algorithms.bfs_levels(A, [0, 1]),
    "connected_components": gl.algorithms.connected_components,
    "is_symmetric": lambda A: gl.Graph(A).is_symmetric,
    "prepare": lambda A: A.prepare(),
}


@pytest.mark.parametrize("name", TRAVERSALS)
@pytest.mark.parametrize("is_symmetric", [False, True])
def test_the_first_traversal_detects_symmetry_and_later_traversals_reuse_the_result(
    name, is_symmetric, monkeypatch
):
    i, j = random_matrix(40, 200, 1, "nothing" if is_symmetric else "remove")
    A = gl.Matrix.from_coo(i, j, 1, nrows=40, ncols=40)
    asked = spy(A, monkeypatch)
    gl.semiring.plus_times(A @ gl.Vector.from_dense(np.ones(40))).new()
    A.T.new().reduce_scalar(gl.monoid.plus).get(0)
    assert not asked
    TRAVERSALS[name](A)
    assert len(asked) == 1
    assert A._store.is_symmetric == is_symmetric
    for traversal in TRAVERSALS.values():
        traversal(A)
        traversal(A.T.new())
    assert len(asked) == 1


def test_symmetry_is_detected_again_after_a_matrix_changes():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 0, 2], 1, nrows=3, ncols=3)
    assert A._store.find_symmetry()
    A[0, 2] = 1
    assert not A._store.is_symmetric and not A._store.find_symmetry()
    A[2, 0] = 1
    assert A._store.find_symmetry()


# --- memory saved ---------------------------------------------------------------------------------


@pytest.mark.parametrize("has_columns", [False, True])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_detected_symmetry_saves_as_much_memory_as_declared_symmetry(full, has_columns, weighted):
    i, j = random_matrix(60, 500, 2)
    values = np.minimum(i, j) + np.maximum(i, j) if weighted else True

    def made(**options: Any) -> gl.Matrix:
        A = gl.Matrix.from_coo(i, j, values, nrows=60, ncols=60, **options)
        if has_columns:
            assert A._store.csc is not None
        gl.algorithms.bfs(A, 0)
        return A.prepare() if full else A

    declared, found = made(symmetric=True), made()
    assert held(found) == held(declared)
    assert found.preparation is not None and declared.preparation is not None
    assert found.preparation.tier == declared.preparation.tier
    assert found._store.csr is found._store.csc


@pytest.mark.parametrize("has_columns", [False, True])
def test_a_symmetric_pattern_is_stored_once_and_asymmetric_values_are_stored_twice(has_columns):
    i, j = random_matrix(60, 500, 3)
    A = gl.Matrix.from_coo(i, j, i, nrows=60, ncols=60)
    if has_columns:
        assert A._store.csc is not None
    gl.algorithms.bfs(A, 0)
    assert A._store.has_csc == has_columns and A.preparation is not None
    csr, csc = A._store.csr, A._store.csc
    assert csr.indptr is csc.indptr and csr.indices is csc.indices
    assert not A._store.is_symmetric
    same(A, Table((60, 60), np.dtype(np.int64), {(x, y): x for x, y in zip(i, j, strict=True)}))


# --- unchanged results ----------------------------------------------------------------------------


@fewer(4)
@given(few_types, LAYOUTS["matrix"], st.data())
def test_results_are_the_same_before_and_after_symmetry_detection(table, how, data):
    A, B = matrix(table, how), matrix(table, how)
    if data.draw(st.booleans()):
        assert B._store.csc is not None
    B._store.find_symmetry()
    # Test only a few semirings with Numba, which takes one or two seconds to compile each.
    few = gl.config.compiled is True and not is_full()
    for name in ("plus_times", "any_secondi", *(() if few else ("min_first", "plus_minus"))):
        ring = getattr(gl.semiring, name)
        if A.dtype not in ring.types:
            continue
        u = gl.Vector.from_dense(np.arange(table.shape[0]).astype(table.dtype))
        for product in (lambda X, u=u: X @ u, lambda X, u=u: u @ X):
            x, y = (ring(product(X)).new() for X in (A, B))
            if name != "any_secondi":
                same(y, read(x))
    same(B, read(A))
    same(B.T.new(), transpose(read(A)))
    if A.dtype in gl.binary.minus.types:
        same(gl.binary.minus(B | B.T).new(), read(gl.binary.minus(A | A.T).new()))
        same(gl.semiring.plus_times(B @ B.T).new(), read(gl.semiring.plus_times(A @ A.T).new()))
    columns = list(range(0, table.shape[0], 2))
    same(B[:, columns].new(), read(A[:, columns].new()))
    same(B.select("tril").new(), read(A.select("tril").new()))
    same(B.reduce_columnwise("any").new(), read(B.T.reduce_rowwise("any").new()))


def levels_of(table: Table, source: int) -> dict[int, int]:
    """Return the level of each vertex that the source reaches."""
    levels, depth, frontier = {source: 0}, 0, {source}
    while frontier:
        depth += 1
        frontier = {j for i, j in table.entries if i in frontier and j not in levels}
        levels |= dict.fromkeys(frontier, depth)
    return levels


@given(squares.filter(lambda table: table.shape[0] > 0), LAYOUTS["matrix"], st.data())
def test_searches_give_the_same_results_before_and_after_symmetry_detection(table, how, data):
    source = data.draw(st.integers(0, table.shape[0] - 1))
    A = matrix(table, how)
    for _ in range(2):
        for B, expected in ((A, table), (A.T.new(), transpose(table))):
            assert gl.algorithms.bfs(B, source).levels.to_dict() == levels_of(expected, source)
            found = gl.algorithms.bfs_levels(B, [source], dtype="INT32")
            reached = {v: int(x) for v, x in enumerate(found[0]) if x >= 0}
            assert reached == levels_of(expected, source)
        A.prepare()


@given(squares.filter(lambda table: table.shape[0] > 0), st.data())
def test_writing_into_a_matrix_does_not_change_its_transpose(table, data):
    n = table.shape[0]
    A = matrix(table)
    A._store.find_symmetry()
    B, C = A.T.new(), A.dup()
    place = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    entries = dict(table.entries)
    for _ in range(3):
        i, j = data.draw(place)
        entries[i, j] = data.draw(numbers(table.dtype))
        A[i, j] = entries[i, j]
    same(A, Table(table.shape, table.dtype, entries))
    same(B, transpose(table))
    same(C, table)
    C(gl.binary.any) << A
    same(B, transpose(table))


@given(squares)
def test_a_moved_or_pickled_matrix_still_shares_its_arrays(table):
    A = matrix(table)
    A._store.find_symmetry()
    shares = A._store.csr.indices is A._store.csc.indices
    for B in (A.to("cpu"), pickle.loads(pickle.dumps(A)), A.dup()):
        assert not shares or B._store.csr.indices is B._store.csc.indices
        assert tuple(backend(B.device).find_symmetry(B._store.csr)) == oracle(table)
        assert B._store.is_symmetric in (False, oracle(table)[1])
        same(B, table)


def test_an_undirected_neighborhood_uses_the_weights_of_both_directions():
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [5, 1, 5, 5], nrows=3, ncols=3)
    near = gl.algorithms.neighborhood(A, 0, 3, undirected=True, distance=True)
    assert near.to_dict() == {0: True, 1: True}
    assert agrees(gl.algorithms.neighborhood(A, 0, 1, undirected=True).nvals, 2)


@pytest.mark.parametrize("op", ["firsti", "firstj", "secondi", "secondj"])
@given(st.data())
def test_the_result_of_a_positional_operator_does_not_count_as_symmetric(op, data):
    A, B = (data.draw(symmetric(np.dtype(np.int64), wild=False)) for _ in range(2))
    places = {"firsti": 0, "firstj": 1, "secondi": 0, "secondj": 1}
    C, D = (
        gl.Matrix.from_coo(
            [i for i, _ in table.entries],
            [j for _, j in table.entries],
            1,
            "INT64",
            nrows=6,
            ncols=6,
            symmetric=True,
        )
        for table in (A, B)
    )
    both = A.entries.keys() & B.entries.keys()
    expected = {(j, i): (i, j)[places[op]] for i, j in both}
    assert getattr(gl.binary, op)(C & D).new().T.new().to_dict() == expected
    alone = {(j, i): 1 for i, j in A.entries.keys() ^ B.entries.keys()}
    assert getattr(gl.binary, op)(C | D).new().T.new().to_dict() == expected | alone
