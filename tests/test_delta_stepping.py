"""Compare delta-stepping on one or several threads with SciPy, and test its limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from graphla import Matrix, Vector, closure
from graphla.algorithms import shortest_path, sssp
from graphla.backends.cpu import closure_buckets as buckets
from graphla.backends.cpu.closure_buckets import BucketTuning
from graphla.backends.tuning import using
from graphla.settings import config
from semirings import semiring

pytest.importorskip("numba")
pytestmark = pytest.mark.cpu
THREADS = [1, 2, 4]
WEIGHTS = {  # for each kind of graph, the largest weight and the dtype
    "small": (60, "INT64"),
    "zero": (1, "INT64"),
    "beyond 32 bits": (2**40, "INT64"),
    "sums beyond 32 bits": (2**29, "INT64"),
    "fractions": (1, "FP64"),
}


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Divide even small rounds among the threads, and reserve little memory for the buckets."""
    monkeypatch.setattr(buckets, "SPARE", 1)
    with using(BucketTuning(shared=200, shared_together=200)), config.set(compiled=True):
        yield


def random_graph(seed: int, kind: str, n: int = 3000) -> tuple[Matrix, Any]:
    """Return a graph with a path through all vertices and random edges."""
    rng = np.random.default_rng(seed)
    high, dtype = WEIGHTS[kind]
    ends = rng.integers(0, n, (2, int(rng.choice([n // 2, 8 * n]))))
    rows, columns = np.append(ends[0], np.arange(n - 1)), np.append(ends[1], np.arange(1, n))
    keys = np.unique(rows * n + columns)
    rows, columns = keys // n, keys % n
    if dtype == "FP64":
        values = rng.random(keys.size) ** 8
    else:
        values = rng.integers(0 if kind == "zero" else 1, high, keys.size, endpoint=True)
    A = Matrix.from_coo(rows, columns, values, dtype=dtype, nrows=n, ncols=n)
    return A, scipy.sparse.csr_array((values.astype(float), (rows, columns)), shape=(n, n))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", [kind for kind in WEIGHTS if kind != "zero"])
def test_distances_on_any_number_of_threads_match_scipy(kind, threads):
    for seed in range(2):
        A, expected = random_graph(seed, kind)
        expected = csgraph.dijkstra(expected, indices=0)
        for delta in (None, 0, 1e9):
            with config.set(threads=threads):
                found = sssp(A, 0, delta=delta).distances
            assert np.array_equal(found.to_dense(dtype="FP64", fill_value=np.inf), expected)


@pytest.mark.parametrize("threads", THREADS)
def test_edges_of_length_zero_are_followed_on_any_number_of_threads(threads):
    A, _ = random_graph(1, "zero", n=500)
    with config.set(compiled=False):
        expected = sssp(A, [0, 7]).distances
    with config.set(threads=threads):
        assert sssp(A, [0, 7]).distances.isequal(expected)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_parents_form_a_tree_of_shortest_paths_and_do_not_depend_on_the_number_of_threads(kind):
    A, _ = random_graph(1, kind)
    found = []
    for threads in THREADS:
        with config.set(threads=threads, deterministic=True):
            found.append(sssp(A, 0, parents=True))
    distances, parents = found[0]
    assert all(each.parents.isequal(parents) for each in found[1:])
    before = parents.to_dense()
    d = distances.to_dense()
    lengths = A.to_dict()
    assert all(d[u] + lengths[int(u), v] == d[v] for v, u in enumerate(before.tolist()) if v)
    for _ in range(12):  # each step doubles the number of edges from v to the vertex before[v]
        before = before[before]
    assert (before == 0).all()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**62)), min_size=1, max_size=5))
def test_start_values_of_any_size_are_kept_unless_a_path_gives_a_smaller_value(starts):
    values = dict(starts)
    x = Vector.from_coo(list(values), list(values.values()), size=10, dtype="INT64")
    ring = Matrix.from_coo(np.arange(10), (np.arange(10) + 1) % 10, np.arange(10), dtype="INT64")
    expected = {}
    for start, value in values.items():
        for k in range(10):
            v = (start + k) % 10
            expected[v] = min(expected.get(v, 2**63), value)
            value += v
    assert closure(x, ring, semiring.min_plus).values.to_dict() == expected


def test_a_start_vertex_outside_the_mask_keeps_its_value_and_paths_may_begin_at_this_vertex():
    A = Matrix.from_coo([0, 1, 2, 0], [1, 2, 3, 3], [1, 1, 1, 9], nrows=4, ncols=4)
    for values, expected in (
        ({0: 0, 2: 0}, {0: 0, 2: 0, 3: 1}),
        ({0: 0, 2: 5}, {0: 0, 2: 5, 3: 6}),
    ):
        x = Vector.from_coo(list(values), list(values.values()), size=4)
        allowed = Vector.from_coo([0, 3], True, size=4)
        found = closure(x, A, semiring.min_plus, mask=allowed.S).values
        assert found.to_dict() == expected


@pytest.mark.parametrize("threads", THREADS)
def test_a_search_with_a_cutoff_returns_the_distances_up_to_the_cutoff(threads):
    for kind in ("small", "fractions"):
        A, _ = random_graph(2, kind)
        distances = sssp(A, 0).distances
        cutoff = float(np.median(distances.to_dense(dtype="FP64")))
        with config.set(threads=threads):
            found = sssp(A, 0, cutoff=cutoff).distances
        assert found.isequal(distances.select("<=", cutoff).new())


@pytest.mark.parametrize("compiled", [True, False])
def test_the_bucket_width_may_exceed_the_largest_float(compiled):
    A = Matrix.from_coo([0, 1], [1, 2], [8e307, 1.0], nrows=4, ncols=4)
    with config.set(device="cpu", compiled=compiled):
        assert shortest_path(A, 0, 1, weight=True) == [0, 1]
        assert sssp(A, 0).distances.to_dict() == {0: 0.0, 1: 8e307, 2: 8e307}


@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
@pytest.mark.parametrize("compiled", [True, False])
def test_an_infinite_width_puts_all_vertices_into_one_bucket(compiled, dtype):
    A = Matrix.from_coo([0, 1], [1, 2], [2, 1], nrows=4, ncols=4, dtype=dtype)
    with config.set(device="cpu", compiled=compiled):
        found = sssp(A, 0, delta=float("inf")).distances
    assert found.to_dict() == {0: 0, 1: 2, 2: 3}
