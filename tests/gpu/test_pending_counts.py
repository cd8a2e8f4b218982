"""A statement returns before the number of entries in its result is known.

The host reads the number when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from devices import has_cuda, use_cuda

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

import cupy  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.cuda.launch import PendingCount, _count_words  # noqa: E402
from graphla.formats import PendingVector  # noqa: E402
from graphla.semiring import any_secondi, plus_times  # noqa: E402

N = 40


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


def graph() -> gl.Matrix:
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, N, (2, 4 * N))
    return gl.Matrix.from_coo(i, j, 1 + i, nrows=N, ncols=N, dup_op="plus")


def frontier(*vertices: int) -> gl.Vector:
    return gl.Vector.from_coo(list(vertices), list(vertices), size=N)


def reached(A: gl.Matrix, *vertices: int) -> set[int]:
    """Return the vertices one edge away from `vertices`, computed from A's coordinates."""
    return {j for i, j in zip(*A.to_coo()[:2], strict=True) if i in vertices}


def is_pending(v: gl.Vector) -> bool:
    form = v._store._sparse
    return isinstance(form, PendingVector) and not form.is_counted


def test_products_and_selections_return_before_their_entries_are_counted():
    A, f, w, s = graph(), frontier(1, 2, 3), gl.Vector(int, N), gl.Vector(int, N)
    w << any_secondi(f @ A)
    assert is_pending(w)
    expected = reached(A, 1, 2, 3)
    assert w.nvals == len(expected)
    assert set(w.to_dict()) == expected
    s << w.select(">=", 2)
    assert is_pending(s)
    assert s.to_dict() == {v: parent for v, parent in w.to_dict().items() if parent >= 2}


def test_a_selection_that_keeps_all_entries_shares_the_arrays_of_its_operand():
    u = frontier(3, 5, 8)
    all_of_them = u.select(">=", 0).new()
    assert all_of_them.nvals == 3
    assert all_of_them._store.sparse().indices is u._store.sparse().indices


@pytest.mark.parametrize("semiring", [any_secondi, plus_times])
@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("allowed", [(), (0, 7, 31, 32, 33, 39), tuple(range(N))])
def test_a_product_computed_by_one_block_is_restricted_to_its_sparse_mask(
    semiring, complement, allowed
):
    A, f = graph(), frontier(1, 2, 3, 4, 5)
    q = gl.Vector.from_coo(np.array(allowed, int), True, size=N)
    assert q._store.has_sparse
    w = frontier(0, 9)
    w(~q.S if complement else q.S, gl.replace) << semiring(f @ A)
    without = semiring(f @ A).new().to_dict()
    expected = {v for v in without if (v in allowed) != complement}
    assert set(w.to_dict()) == expected
    if semiring is plus_times:
        assert w.to_dict() == {v: without[v] for v in expected}


def test_entry_counts_are_correct_even_if_the_host_reads_them_late_and_out_of_order():
    A = graph()
    # 600 counts are pending at the same time. One allocation of host memory has room for fewer.
    sources = [k % N for k in range(600)]
    found = [any_secondi(frontier(v) @ A).new() for v in sources]
    for v, w in reversed(list(zip(sources, found, strict=True))):
        assert w.nvals == len(reached(A, v)), v


def test_a_pending_number_of_entries_can_be_read_on_another_stream_and_in_another_thread():
    A, mine, theirs = graph(), cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream()
    expected = reached(A, 4, 5)
    with mine:
        w = any_secondi(frontier(4, 5) @ A).new()
    with theirs:
        assert w.nvals == len(expected)
        assert set(w.to_dict()) == expected
    v = any_secondi(frontier(4, 5) @ A).new()

    def read(_: int) -> tuple[int, set[int]]:
        with gl.config.set(device="cuda"):
            return v.nvals, set(v.to_dict())

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda k: read(k)[0], range(8))) == {len(expected)}
    assert set(v.to_dict()) == expected


def test_the_memory_of_a_pending_count_is_reused_only_after_a_launch_has_stored_the_count():
    unread = PendingCount()
    address = unread.address
    del unread  # no launch has stored the count yet, so the address must not be reused
    later = [PendingCount() for _ in range(len(_count_words.free) + 1)]
    assert address not in {each.address for each in later}


def test_a_vector_with_a_pending_count_can_be_copied_and_moved_and_modified():
    A, expected = graph(), reached(graph(), 2, 6)
    w = any_secondi(frontier(2, 6) @ A).new()
    twin, there = w.dup(), w.to("cpu")
    w[0] = 77
    assert set(twin.to_dict()) == set(there.to_dict()) == expected
    assert set(w.to_dict()) == expected | {0}
    v = any_secondi(frontier(2, 6) @ A).new()
    v(accum=gl.binary.plus) << any_secondi(frontier(2, 6) @ A)
    assert set(v.to_dict()) == expected
