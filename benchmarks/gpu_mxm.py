"""Measure matrix products on the GPU: triangle counts, and squares compared with cuSPARSE.

    DATA=folder python benchmarks/gpu_mxm.py [triangles squares]

The timed region is the whole public call with its output, with a warm memory pool and loaded
kernels. It excludes generating the random graph. Results are verified before timing: triangle
counts with a second formula, and squares (including those of cuSPARSE) by their row sums.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import cupy
import cupyx.scipy.sparse
import graphs
import numpy as np
from clock import Events, describe_card, report, take_turns
from gpu_products import csr_arrays, with_values

import graphla as gl
from graphla import Matrix, monoid, select, semiring
from graphla.algorithms import triangle_count

DATA = Path(os.environ.get("DATA", "data"))


# --- triangles ----------------------------------------------------------------------------------


def lower(A: Matrix) -> Matrix:
    """Renumber A by decreasing degree, and return L, its part below the diagonal."""
    order = np.argsort(-np.diff(csr_arrays(A)[0]))
    return select.tril(A[order, order], -1).new()


def count_on_edges(L: Matrix) -> Matrix:
    """Count, for each edge of L, the triangles that L Lᵀ finds at it: C⟨L⟩ = L plus.pair Lᵀ."""
    C = Matrix("INT64", L.nrows, L.ncols)
    C(L.S) << semiring.plus_pair["INT64"](L @ L.T)
    return C


def total(C: Matrix) -> int:
    """Return the number of all triangles."""
    return int(C.reduce_scalar(monoid.plus).get(0))


def triangles() -> None:
    """Measure `triangle_count`, a count with matrix products, and each step of this count."""
    for scale in (18, 20):
        A = graphs.kron(scale)
        L = lower(A)
        C = count_on_edges(L)
        by_rows = semiring.plus_pair["INT64"](L @ L).new(mask=L.S)  # j <- k <- i: rows of L
        assert total(C) == total(by_rows) == triangle_count(A), "triangles are wrong"
        times = take_turns(
            Events(),
            {
                "L, product and sum": lambda A: total(count_on_edges(lower(A))),
                "L from A by degree": lambda A: lower(A),
                "C(L.S) << plus_pair(L @ L.T)": lambda _, L=L: count_on_edges(L),
                "sum": lambda _, C=C: total(C),
                "triangle_count, A checked": triangle_count,
            },
            [A],
        )
        title = f"triangles, kron {scale}: {A.nvals // 2:,} edges, {total(C):,} triangles"
        report(title, times, "edges", A.nvals // 2)


# --- squares ------------------------------------------------------------------------------------


def squares() -> None:
    """Measure the squares A A of the adjacency matrices A of three graphs.

    The graphs are a Delaunay triangulation (if its file exists), the square of a grid graph, and a
    Kronecker graph.
    """
    A = graphs.grid(1024, 1024)
    G = semiring.plus_pair["FP32"](A @ A).new()
    if (DATA / "delaunay_n16.npz").exists():
        square("delaunay_n16", graphs.stored(DATA, "delaunay_n16"))
    else:
        print(f"\ndelaunay_n16 is left out: {DATA} (DATA=...) has no delaunay_n16.npz")
    square("G = square of the 1,024 x 1,024 grid", G)
    square("kron 16", graphs.kron(16))


def square(name: str, A: Matrix) -> None:
    """Measure the square of one graph, and print the times as a table."""
    rng = cupy.random.RandomState(2)
    indptr, indices = csr_arrays(A)
    values = rng.random_sample(indices.size, dtype=cupy.float32)
    F = with_values(A, values)
    degrees = cupy.diff(indptr).astype(cupy.int64)
    work = int(degrees[indices].sum())
    sums, places = expected(F, values)
    C = semiring.plus_times(F @ F).new()
    assert has_sums(*csr_arrays(C), C._store.csr.values, sums, places), "the square is wrong"
    calls = {
        "plus_times FP32": lambda _: semiring.plus_times(F @ F).new(),
        "min_plus FP32": lambda _: semiring.min_plus(F @ F).new(),
        "any_pair": lambda _: semiring.any_pair(F @ F).new(),
    }
    theirs = cupyx.scipy.sparse.csr_matrix((values, indices, indptr), shape=(A.nrows, A.ncols))
    entries = C.nvals
    del C
    if is_right(theirs, sums, places):
        calls = {"cupyx (cuSPARSE) FP32": lambda _: theirs @ theirs, **calls}
    times = take_turns(Events(), calls, [0])
    title = f"A A, {name}: {A.nvals:,} entries, {work:,} products, {entries:,} entries of C"
    report(title, times, "products", work)


def expected(F: Matrix, values: Any) -> tuple[Any, Any]:
    """Return two arrays of correct row sums for the product of the matrix F with itself.

    The first contains the sum of each row of the product. In the second, each entry is weighted by
    its column number divided by the number of columns.
    """
    indptr, indices = csr_arrays(F)
    M = cupyx.scipy.sparse.csr_matrix(
        (values.astype(cupy.float64), indices, indptr), shape=(F.nrows, F.ncols)
    )
    ones, weights = cupy.ones(F.ncols), cupy.arange(F.ncols) / F.ncols
    return M @ (M @ ones), M @ (M @ weights)


def has_sums(indptr: Any, indices: Any, values: Any, sums: Any, weighted: Any) -> bool:
    """Return whether a matrix has the row sums `sums` and `weighted`, defined as in `expected`."""
    n = indptr.size - 1
    ends = indptr.astype(cupy.int64)
    for wanted, weights in ((sums, None), (weighted, cupy.arange(n) / n)):
        total = cupy.zeros(values.size + 1)
        part = values.astype(cupy.float64)
        if weights is not None:
            part *= weights[indices]
        cupy.cumsum(part, out=total[1:])
        found = total[ends[1:]] - total[ends[:-1]]
        if not bool(cupy.allclose(found, wanted, rtol=1e-3, atol=1e-3 * float(wanted.max()) / n)):
            return False
    return True


def is_right(theirs: Any, sums: Any, weighted: Any) -> bool:
    """Return whether cuSPARSE computes the square correctly; if not, print the reason."""
    try:
        C = theirs @ theirs
    except Exception as error:
        print(f"\n  cuSPARSE: {type(error).__name__}: {str(error)[:100]}")
        return False
    if has_sums(C.indptr, C.indices, C.data, sums, weighted):
        return True
    print("\n  cuSPARSE: its result is wrong")
    return False


TABLES = {"triangles": triangles, "squares": squares}

if __name__ == "__main__":
    print(describe_card())
    with gl.config.set(device="cuda"):
        for each in sys.argv[1:] or TABLES:
            TABLES[each]()
