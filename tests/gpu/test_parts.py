"""Components, cores and forests on the card, held to those of the host."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.storages import to_device
from gpu.test_many import csr, graphs
from hypothesis import given
from hypothesis import strategies as st

from graphla.backends import backend, csgraph
from graphla.backends.cuda import forest, joining, peeling, persistent
from graphla.storage import Csr

cpu, cuda = backend("cpu"), backend("cuda")


def without_loops(a: Csr) -> Csr:
    """The same pattern but its diagonal."""
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    apart = rows != a.indices
    return csr(a.nrows, rows[apart], a.indices[apart], a.indptr.dtype)


def cores_of(out: Csr, into: Csr) -> list[int]:
    """Vertices go one by one, whichever has least edges left."""
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
def test_labels_are_the_hosts_however_rows_are_cut(both, data):
    out, into = both
    expected = csgraph.components(out, "weak")
    there = to_device(out)
    back = there if into is out else to_device(into) if data.draw(st.booleans()) else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "LONGEST", data.draw(st.sampled_from((0, 3, 256))))
        patch.setattr(joining, "PART", data.draw(st.sampled_from((1, 7, 512))))
        patch.setattr(joining, "FEW", data.draw(st.sampled_from((1, 5, 1 << 12))))
        found = cuda.components(there, back)
    assert cuda.to_host(found).tolist() == expected.tolist()


@given(graphs(), st.data())
def test_core_numbers_are_the_hosts_by_one_block_and_by_all(both, data):
    out, into = both
    is_symmetric = into is out
    out = without_loops(out)
    into = out if is_symmetric else without_loops(into)
    there = to_device(out)
    back = there if is_symmetric else to_device(into)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peeling, "ALONE_EDGES", data.draw(st.sampled_from((0, 40, 4096))))
        patch.setattr(peeling, "OWN_EDGES", data.draw(st.sampled_from((0, 33, 2048))))
        patch.setattr(peeling, "BLOCK", data.draw(st.sampled_from((32, 64, 512))))
        patch.setattr(persistent, "MOST_BLOCKS", data.draw(st.sampled_from((1, 3))))
        patch.setattr(persistent, "TICKETS", data.draw(st.sampled_from((0, 0xFFFFFFF0))))
        found = cuda.cores(there, back)
    assert found is not None
    assert cuda.to_host(found).tolist() == cores_of(out, into)


@given(
    graphs(),
    st.booleans(),
    st.integers(0, 99),
    st.sampled_from(("?", "i1", "u4", "i8", "f4", "f8")),
)
def test_a_forest_is_what_kruskal_chooses_whatever_the_dtype(both, greatest, seed, dtype):
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "NARROW", seed % 2 << 32)
        found = cuda.least_forest(to_device(upper), greatest)
    assert found is not None
    assert cuda.to_host(found).tolist() == chosen.tolist()


@pytest.mark.parametrize("alone", [0, 1 << 12])
def test_rows_of_one_entry_go_too_many_to_a_warp(alone, monkeypatch):
    n = 200
    monkeypatch.setattr(peeling, "ALONE_EDGES", alone)
    monkeypatch.setattr(peeling, "BLOCK", 32)
    monkeypatch.setattr(persistent, "MOST_BLOCKS", 1)
    ring, tails = np.random.default_rng(0).permutation(n).reshape(2, n // 2)
    ends = np.concatenate((ring, ring)), np.concatenate((np.roll(ring, 1), tails))
    sun = csr(n, np.concatenate(ends), np.concatenate(ends[::-1]))
    there = to_device(sun)
    expected = np.ones(n, np.int64)
    expected[ring] = 2
    assert cuda.to_host(cuda.cores(there, there)).tolist() == expected.tolist()
