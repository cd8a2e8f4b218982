"""Test that simultaneous searches from many start vertices match separate searches on the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from gpu.storages import to_device
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.backends import MultiSearch, backend
from graphla.backends.cuda.multi_source_bfs import MultiSearchTuning
from graphla.backends.cuda.persistent import PersistentTuning
from graphla.backends.tuning import using
from graphla.formats import Csr, VectorMask

cpu, cuda = backend("cpu"), backend("cuda")

ENDLESS = 1 << 62
COUNTS = (0, 1, 5, 63, 64, 65, 130)
BYTE, INT32 = np.dtype(np.uint8), np.dtype(np.int32)


def csr(n: int, rows: np.ndarray, columns: np.ndarray, offset: Any = np.int32) -> Csr:
    """Return the pattern of these edges."""
    places = np.unique(rows * n + columns) if rows.size else np.zeros(0, np.int64)
    indptr = np.searchsorted(places, np.arange(n + 1) * n).astype(offset)
    values = np.broadcast_to(np.ones(1, bool), places.shape)
    return Csr(n, n, indptr, (places % n).astype(np.int32), values)


@st.composite
def graphs(draw: Any) -> tuple[Csr, Csr]:
    """Draw a graph, and return its CSR and its CSC, which are sometimes the same object.

    The graph is sparse, or dense, or a path, or it has hubs or several components.
    """
    n = draw(st.sampled_from((1, 2, 31, 33, 70, 140)))
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    kind = draw(st.sampled_from(("any", "hubs", "parts", "path", "none", "full")))
    edges = int(numbers.integers(0, 4 * n))
    rows, columns = numbers.integers(0, n, (2, edges))
    if kind == "hubs":
        rows = rows // 16
    elif kind == "parts":
        columns = columns % (n // 2 + 1)
        rows = rows % (n // 2 + 1)
    elif kind == "path":
        order = numbers.permutation(n)
        rows, columns = order[:-1], order[1:]
    elif kind == "none":
        rows, columns = rows[:0], columns[:0]
    elif kind == "full" and n < 40:
        rows, columns = np.divmod(np.arange(n * n), n)
    offset = draw(st.sampled_from((np.int32, np.int64)))
    if draw(st.booleans()):
        both = csr(n, np.concatenate((rows, columns)), np.concatenate((columns, rows)), offset)
        return both, both
    return csr(n, rows, columns, offset), csr(n, columns, rows, offset)


def search(
    out: Csr,
    into: Csr | None,
    starts: Any,
    levels: Any = None,
    *,
    limit: int = ENDLESS,
    **rest: Any,
) -> Any:
    """Return the levels, or statistics of the levels if `levels` is None."""
    found = cuda.multi_source_bfs(
        MultiSearch(out, into, starts, rest.pop("mask", None), limit, levels, **rest)
    )
    return found.reach if levels is None else found.levels


def levels_of(out: Csr, start: int, allowed: np.ndarray, limit: int) -> np.ndarray:
    """Run one search on the host, vertex by vertex."""
    found = np.full(out.nrows, -1)
    found[start], frontier, level = 0, [start], 0
    while frontier and level < limit:
        level += 1
        ends = [out.indices[out.indptr[v] : out.indptr[v + 1]] for v in frontier]
        frontier = [w for w in np.unique(np.concatenate(ends)) if found[w] < 0 and allowed[w]]
        found[frontier] = level
    return found


def arguments(draw: Any) -> dict[str, Any]:
    """Draw the arguments of the backend and compute the expected result."""
    out, into = draw(graphs())
    n, count = out.nrows, draw(st.sampled_from(COUNTS))
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    starts = numbers.integers(0, n, count).astype(np.int32)
    limit = draw(st.sampled_from((ENDLESS, ENDLESS, 0, 1, 2, 5, 8)))
    allowed, mask = np.ones(n, bool), None
    if draw(st.booleans()):
        flags, complement = numbers.random(n) < 0.7, draw(st.booleans())
        allowed = flags != complement
        mask = VectorMask(n, flags, None, complement)
        if draw(st.booleans()):
            mask = VectorMask(n, None, flags.nonzero()[0].astype(np.int32), complement)
    there = to_device(out)
    back = there if into is out else to_device(into)
    tier = draw(st.sampled_from(("none", "light", "full", "push only")))
    plan = None
    if tier in ("light", "full"):
        plan = cuda.plan(there, back, tier == "full", None)
    expected = np.array([levels_of(out, s, allowed, limit) for s in starts]).reshape(count, n)
    return {
        "expected": expected,
        "given": (there, None if tier == "push only" else back, cuda.asarray(starts)),
        "options": {
            "mask": None if mask is None else to_device(mask),
            "limit": limit,
            "plan": plan,
        },
    }


@contextmanager
def thresholds(draw: Any) -> Iterator[None]:
    """Run a `with` block with random settings of the kernel.

    The settings determine which rows are split, when a search pulls, how many bits per level the
    first allocation has room for, and whether the barrier counter of the kernel wraps around.
    """
    tuning = MultiSearchTuning(
        longest=draw(st.sampled_from((0, 3, 64))),
        part=draw(st.sampled_from((1, 7, 256))),
        favor=draw(st.sampled_from((0.0, 1.0, 14.0, 1e9))),
        planes=draw(st.sampled_from((2, 3, 12))),
    )
    tickets = draw(st.sampled_from((0, 2**32 - 3, 2**32 - 40)))
    with using(tuning, PersistentTuning(tickets=tickets)):
        yield


@given(st.data())
def test_levels_match_those_of_separate_searches(data: Any):
    case = arguments(data.draw)
    dtype = data.draw(st.sampled_from((BYTE, INT32)))
    direction = data.draw(st.sampled_from(("auto", "auto", "push", "pull")))
    with thresholds(data.draw), gl.direction(direction):
        found = search(*case["given"], levels=dtype, traced=True, **case["options"])
    assert found.dtype == dtype
    expected = case["expected"]
    assert (cuda.to_host(found) == (expected.astype(BYTE) if dtype == BYTE else expected)).all()


@given(st.data())
def test_the_statistics_of_a_search_match_its_levels(data: Any):
    case = arguments(data.draw)
    with thresholds(data.draw):
        found = search(*case["given"], **case["options"])
    count, total, farthest = map(cuda.to_host, found)
    levels = case["expected"]
    assert (count == (levels >= 0).sum(axis=1)).all()
    assert (total == np.maximum(levels, 0).sum(axis=1)).all()
    assert (farthest == levels.max(axis=1, initial=0)).all()


@pytest.mark.parametrize("n", [255, 256, 300])
@pytest.mark.parametrize("way", ["along", "against"])
def test_levels_that_do_not_fit_in_a_byte_are_rejected_if_results_are_stored_as_bytes(
    n: int, way: str
):
    order = np.arange(n) if way == "along" else np.arange(n)[::-1]
    out, into = csr(n, order[:-1], order[1:]), csr(n, order[1:], order[:-1])
    starts = cuda.asarray(np.array([order[0], order[n // 2]], np.int32))
    given_ = (to_device(out), to_device(into), starts)
    found = cuda.to_host(search(*given_, levels=INT32))
    assert (found[0][order] == np.arange(n)).all()
    assert (found[1][order] == np.maximum(np.arange(n) - n // 2, -1)).all()
    if n <= 255:
        found = cuda.to_host(search(*given_, levels=BYTE))
        assert (found[0][order] == np.arange(n)).all()
    else:
        with pytest.raises(OverflowError, match="one byte"):
            search(*given_, levels=BYTE)


@pytest.mark.parametrize("limit", [4, 8, 16])
@pytest.mark.parametrize("full", [False, True])
def test_a_vertex_reached_earlier_is_not_reached_again_on_the_last_level(limit: int, full: bool):
    n = 700
    vertices = np.random.default_rng(limit).permutation(n)
    path, leaves = vertices[:350], vertices[350:]
    rows = np.concatenate((path[:-1], path[::2], path[::2]))
    columns = np.concatenate((path[1:], leaves[:175], leaves[175:]))
    both = csr(n, np.concatenate((rows, columns)), np.concatenate((columns, rows)))
    there, starts = to_device(both), path[::6].astype(np.int32)
    plan = cuda.plan(there, there, full, None)
    found = search(there, there, cuda.asarray(starts), BYTE, limit=limit, plan=plan)
    expected = [levels_of(both, start, np.ones(n, bool), limit) for start in starts]
    assert (cuda.to_host(found) == np.array(expected).astype(BYTE)).all()


@pytest.mark.parametrize("depth", [3, 4, 7, 8, 14, 15, 16])
@pytest.mark.parametrize("dtype", [BYTE, INT32])
@pytest.mark.parametrize("full", [False, True])
def test_levels_are_correct_at_the_limits_of_their_encodings(depth: int, dtype: Any, full: bool):
    n, numbers = 150, np.random.default_rng(depth)
    vertices = numbers.permutation(n)
    path, others = vertices[: depth + 1], vertices[depth + 1 :]
    rows = np.concatenate((path[:-1], others[:40]))  # some of the other vertices have no edges
    columns = np.concatenate((path[1:], others[40:80]))
    both = csr(n, np.concatenate((rows, columns)), np.concatenate((columns, rows)))
    starts = np.concatenate((path[:1], path[-1:], numbers.integers(0, n, 70))).astype(np.int32)
    there = to_device(both)
    plan = cuda.plan(there, there, full, None)
    found = cuda.to_host(search(there, there, cuda.asarray(starts), dtype, plan=plan))
    expected = np.array([levels_of(both, start, np.ones(n, bool), n) for start in starts])
    assert expected.max() == depth
    assert (found == expected.astype(dtype)).all()


def test_a_vertex_without_edges_reaches_only_itself():
    n = 40
    both = csr(n, np.array([3, 4]), np.array([4, 3]))
    there = to_device(both)
    starts = cuda.asarray(np.array([0, 3, 39, 0], np.int32))
    for full in (False, True):
        plan = cuda.plan(there, there, full, None)
        found = search(there, there, starts, INT32, plan=plan)
        expected = [levels_of(both, s, np.ones(n, bool), n) for s in (0, 3, 39, 0)]
        assert (cuda.to_host(found) == expected).all()
        count, _, _ = map(cuda.to_host, search(there, there, starts, plan=plan))
        assert count.tolist() == [1, 2, 1, 1]


def test_levels_of_one_vertex_are_contiguous_in_memory():
    both = to_device(csr(9, np.arange(8), np.arange(1, 9)))
    starts = cuda.asarray(np.arange(9, dtype=np.int32))
    assert search(both, None, starts, BYTE).strides[0] == 1
