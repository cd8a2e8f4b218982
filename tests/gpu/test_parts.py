"""Test that components, cores and spanning forests are the same on the GPU and on the host."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.storages import to_device
from gpu.test_many import csr, graphs
from hypothesis import given
from hypothesis import strategies as st

from graphla.backends import backend
from graphla.backends.cpu.components import label_by_search
from graphla.backends.cuda.components import ComponentsTuning
from graphla.backends.cuda.cores import CoresTuning
from graphla.backends.cuda.forest import ForestTuning
from graphla.backends.cuda.persistent import PersistentTuning
from graphla.backends.cuda.strong_components import StrongComponentsTuning
from graphla.backends.tuning import using
from graphla.formats import Csr

cpu, cuda = backend("cpu"), backend("cuda")


def without_loops(a: Csr) -> Csr:
    """Return the pattern without its diagonal."""
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    apart = rows != a.indices
    return csr(a.nrows, rows[apart], a.indices[apart], a.indptr.dtype)


def cores_of(out: Csr, into: Csr) -> list[int]:
    """Compute core numbers by removing a vertex with the fewest remaining edges at each step."""
    n = out.nrows
    forms = (out,) if into is out else (out, into)
    edges = [[w for a in forms for w in a.indices[a.indptr[v] : a.indptr[v + 1]]] for v in range(n)]
    left, core, k = {v: len(edges[v]) for v in range(n)}, [0] * n, 0
    while left:
        v = min(left, key=left.__getitem__)
        k = max(k, left.pop(v))
        core[v] = k
        for w in edges[v]:
            if w in left:
                left[w] -= 1
    return core


@given(graphs(), st.data())
def test_components_match_those_computed_on_the_host_however_rows_are_split_into_parts(both, data):
    out, into = both
    expected = label_by_search(out, "weak")
    there = to_device(out)
    back = there if into is out else to_device(into) if data.draw(st.booleans()) else None
    tuning = ComponentsTuning(
        longest=data.draw(st.sampled_from((0, 3, 256))),
        part=data.draw(st.sampled_from((1, 7, 512))),
        few=data.draw(st.sampled_from((1, 5, 1 << 12))),
    )
    with using(tuning):
        found = cuda.components(there, back)
    assert cuda.to_host(found).tolist() == expected.tolist()


@st.composite
def pieces(draw: st.DrawFn) -> tuple[Csr, Csr]:
    """Draw a union of paths, cycles, complete graphs, stars, acyclic graphs and random graphs.

    Any edge between two of these graphs leads from an earlier to a later graph. The union may have
    self-loops, and its vertices are in random order. Return its CSR and its CSC.
    """
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    edges, n = np.empty((2, 0), np.int64), 0
    kinds = st.sampled_from(["path", "cycle", "full", "in", "out", "dag", "any"])
    for kind in draw(st.lists(kinds, max_size=9)):
        k = draw(st.integers(1, 8 if kind in ("full", "any") else 40))
        i, j = np.indices((k, k)).reshape(2, -1)
        kept = {
            "path": j == i + 1,
            "cycle": j == (i + 1) % k,
            "full": i >= 0,
            "in": j == 0,
            "out": i == 0,
            "dag": (i < j) & (rng.random(k * k) < 0.1),
            "any": rng.random(k * k) < 0.3,
        }[kind]
        edges = np.hstack((edges, n + np.array((i, j))[:, kept]))
        if n and draw(st.booleans()):
            edges = np.hstack((edges, [rng.integers(0, n, 3), rng.integers(n, n + k, 3)]))
        n += k
    i, j = np.unique(rng.permutation(n)[edges], axis=1) if n else edges
    return csr(n, i, j), csr(n, j, i)


def found_strong(both: tuple[Csr, Csr]) -> list[int]:
    out, into = map(to_device, both)
    found = cuda.strong_components(out, lambda: into)
    assert found is not None
    return cuda.to_host(found).tolist()


@given(graphs() | pieces(), st.data())
def test_strong_components_match_scipy_for_one_block_and_for_several_blocks(both, data):
    tuning = StrongComponentsTuning(
        block=data.draw(st.sampled_from((32, 64, 256))),
        alone_edges=data.draw(st.sampled_from((0, 40, 4096))),
    )
    tickets = data.draw(st.sampled_from((0, 0xFFFFFFF0)))
    blocks = PersistentTuning(most_blocks=data.draw(st.sampled_from((1, 3))), tickets=tickets)
    with using(tuning, blocks):
        found = found_strong(both)
    assert found == label_by_search(both[0], "strong").tolist()


@pytest.mark.parametrize("alone", [0, 1 << 12])
@pytest.mark.parametrize("forward", [True, False])
def test_a_chain_of_triangles_is_split_into_its_strong_components(alone, forward):
    """The chain begins and ends with a cycle, so no vertex is trimmed."""
    n = 300
    order, v = np.random.default_rng(1).permutation(n), np.arange(n)
    i = np.concatenate((v, v[2:-1:3]))
    j = np.concatenate((np.where(v % 3 < 2, v + 1, v - 2), v[2:-1:3] + 1))
    i, j = (order[i], order[j]) if forward else (order[j], order[i])
    least = order.reshape(-1, 3).min(1)
    expected = np.empty(n, np.int64)
    expected[order] = np.repeat(least, 3)
    with using(StrongComponentsTuning(64, alone), PersistentTuning(most_blocks=2)):
        assert found_strong((csr(n, i, j), csr(n, j, i))) == expected.tolist()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_vertices_without_edges_to_other_vertices_are_separate_strong_components(n):
    none, loops = np.empty(0, np.int64), np.arange(n)
    assert found_strong((csr(n, none, none), csr(n, none, none))) == list(range(n))
    assert found_strong((csr(n, loops, loops), csr(n, loops, loops))) == list(range(n))


@given(graphs(), st.data())
def test_core_numbers_match_those_computed_on_the_host_for_one_block_and_for_several_blocks(
    both, data
):
    out, into = both
    is_symmetric = into is out
    out = without_loops(out)
    into = out if is_symmetric else without_loops(into)
    there = to_device(out)
    back = None if is_symmetric else to_device(into)
    tuning = CoresTuning(
        block=data.draw(st.sampled_from((32, 64, 512))),
        alone_edges=data.draw(st.sampled_from((0, 40, 4096))),
        own_edges=data.draw(st.sampled_from((0, 33, 2048))),
    )
    tickets = data.draw(st.sampled_from((0, 0xFFFFFFF0)))
    blocks = PersistentTuning(most_blocks=data.draw(st.sampled_from((1, 3))), tickets=tickets)
    with using(tuning, blocks):
        found = cuda.cores(there, back)
    assert found is not None
    assert cuda.to_host(found).tolist() == cores_of(out, into)


@given(
    graphs(),
    st.booleans(),
    st.integers(0, 99),
    st.sampled_from(("?", "i1", "u4", "i8", "f4", "f8")),
)
def test_a_forest_has_the_edges_that_kruskal_chooses_for_every_dtype(both, greatest, seed, dtype):
    out, _ = both
    rows = np.repeat(np.arange(out.nrows), np.diff(out.indptr))
    above = rows < out.indices
    pattern = csr(out.nrows, rows[above], out.indices[above], out.indptr.dtype)
    weights = np.random.default_rng(seed).integers(-3, 4, pattern.nvals).astype(dtype)
    rows = np.repeat(np.arange(out.nrows), np.diff(pattern.indptr))
    upper = Csr(out.nrows, out.nrows, pattern.indptr, pattern.indices, weights)
    keys = weights.astype(object)
    order = sorted(range(weights.size), key=lambda e: ((-1 if greatest else 1) * keys[e], e))
    part, chosen = list(range(out.nrows)), np.zeros(weights.size, bool)
    for e in order:
        i, j = part[rows[e]], part[upper.indices[e]]
        if i != j:
            chosen[e] = True
            part = [i if p == j else p for p in part]
    with using(ForestTuning(narrow=seed % 2 << 32)):
        found = cuda.forest(to_device(upper), greatest)
    assert found is not None
    assert cuda.to_host(found).tolist() == chosen.tolist()


@pytest.mark.parametrize("alone", [0, 1 << 12])
def test_one_warp_can_process_many_rows_with_a_single_entry(alone):
    n = 200
    ring, tails = np.random.default_rng(0).permutation(n).reshape(2, n // 2)
    ends = np.concatenate((ring, ring)), np.concatenate((np.roll(ring, 1), tails))
    sun = csr(n, np.concatenate(ends), np.concatenate(ends[::-1]))
    there = to_device(sun)
    expected = np.ones(n, np.int64)
    expected[ring] = 2
    with using(CoresTuning(block=32, alone_edges=alone), PersistentTuning(most_blocks=1)):
        assert cuda.to_host(cuda.cores(there, None)).tolist() == expected.tolist()
