"""Run every kernel briefly on small inputs, for the sanitizers.

`tour.py [STAGE...]` runs the named stages, or all stages. Each array is a separate allocation of
the CUDA driver, so that a sanitizer sees where the array ends. At the end, the program prints which
kernels ran.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

import graphla as gl
from graphla.backends import backend
from graphla.backends.tuning import using

SIZE, FEW, MANY = 300, 40, 3000
FEW_BLOCKS = 4
"""Number of blocks for kernels with many barriers. Barriers are very slow under a sanitizer."""
RAN = "ran: "
"""Prefix of the line that lists the kernels that ran."""


def matrix(dtype: str = "FP32", seed: int = 0, n: int = SIZE, entries: int = MANY) -> gl.Matrix:
    """Return a random matrix with many entries in a few rows and columns."""
    return _matrix(gl.config.device, dtype, seed, n, entries).dup()


@lru_cache(maxsize=9)
def _matrix(_device: str, dtype: str, seed: int, n: int, entries: int) -> gl.Matrix:
    rng = np.random.default_rng(seed)
    i, j = (np.minimum(rng.geometric(0.01, entries), n) - 1 for _ in range(2))
    i[: entries // 2], j[: entries // 2] = rng.integers(0, n, (2, entries // 2))
    values = rng.integers(1, 9, entries).astype(gl.dtypes.lookup_dtype(dtype).np_type)
    return gl.Matrix.from_coo(i, j, values, nrows=n, ncols=n, dup_op="first")


def pattern(seed: int = 0, n: int = SIZE, entries: int = MANY) -> gl.Matrix:
    """Return an iso-valued Boolean matrix with the pattern of the matrix that `matrix` returns."""
    rows, columns, _ = matrix("BOOL", seed, n, entries).to_coo()
    return gl.Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)


def vectors(dtype: str = "FP32", n: int = SIZE) -> list[gl.Vector]:
    """Return a sparse vector, a bitmap vector and a full vector."""
    rng = np.random.default_rng(3)
    kept = gl.dtypes.lookup_dtype(dtype).np_type
    found = []
    for entries in (min(FEW, n), (n + 1) // 2, n):
        places = np.sort(rng.choice(n, entries, replace=False))
        values = rng.integers(1, 9, entries).astype(kept)
        found.append(gl.Vector.from_coo(places, values, size=n))
    found[1][int(found[1].to_coo()[0][0])] = 1  # writing an entry converts the vector to a bitmap
    return found


@contextmanager
def settings(name: str, place: str = "backends.cuda", /, **constants: int) -> Iterator[None]:
    """Set tuning constants so low that small inputs take the code paths of large ones.

    If the module has a tuning object, the constants belong to this object, otherwise to the module.
    """
    if not gl.config.device.startswith("cuda"):
        yield
        return
    module = import_module(f"graphla.{place}.{name}")
    if hasattr(module, "TUNING"):
        with using(replace(module.TUNING, **constants)):
            yield
        return
    kept = {constant: getattr(module, constant) for constant in constants}
    vars(module).update(constants)
    try:
        yield
    finally:
        vars(module).update(kept)


def masks(noun: Any) -> Iterator[Any]:
    """Yield None, then each kind of mask that can be created from the object."""
    yield from (None, noun.S, ~noun.S, noun.V, ~noun.V)


# --- the stages ---------------------------------------------------------------------------------

# Depending on the semiring, kernels combine terms with atomic instructions, with compare-and-swap,
# or with plain stores. These semirings cover all three cases.
SEMIRINGS = (
    *(("plus_times", "FP32"), ("lor_land", "BOOL"), ("any_secondi", "INT32")),
    *(("times_second", "INT16"), ("any_pair", "BOOL")),
)


def products() -> None:
    """Run mxv and vxm in both directions under every kind of mask."""
    for name, dtype in SEMIRINGS:
        A, op = matrix(dtype), getattr(gl.semiring, name)
        A.T.new()
        for towards in ("push", "pull"):
            with gl.direction(towards):
                for u in vectors(dtype):
                    op(A @ u).new()
                    op(u @ A).new()
        u, m, _ = vectors(dtype)
        for mask in (*masks(m), u.S, ~u.S)[:: 1 if name == "plus_times" else 3]:
            for towards in ("push", "pull"):
                with gl.direction(towards):
                    op(A @ u).new(mask=mask)
                    op(m @ A).new(mask=mask)
    wide = gl.Matrix.from_dense(np.arange(6000.0).reshape(2, 3000))
    crowd = gl.Matrix.from_dense(np.arange(3200.0).reshape(8, 400))
    with settings("spmv", many=0):
        gl.semiring.plus_times(crowd @ vectors(n=400)[2]).new()
    for A in (wide, wide.T.new(), pattern()):
        for u, v in zip(vectors(n=A.ncols), vectors(n=A.nrows), strict=True):
            for op in (gl.semiring.plus_times, gl.semiring.any_second):
                op(A @ u).new()
                op(v @ A).new()
                op(A @ u).new(mask=~vectors(n=A.nrows)[0].S)


def products_that_keep_hubs() -> None:
    """Run products that cache hub columns. Also count the edges of the frontier in parts."""
    A, (u, _, full) = matrix(), vectors()
    with settings("hot_columns", slots=16, entries=1, samples=500, share=0), gl.direction("pull"):
        for mask in (None, u.S, ~u.S):
            gl.semiring.plus_times(A @ full).new(mask=mask)
        wide = gl.Matrix.from_dense(np.arange(18000.0).reshape(2, 9000))
        gl.semiring.min_plus(wide @ vectors(n=9000)[2]).new()
    if gl.config.device.startswith("cuda"):
        from graphla.backends.cuda.matvec import count_edges, edge_ends

        csr, sparse = A._store.csr, u._store.sparse()
        with settings("matvec", part=7):
            count_edges(csr, sparse.indices)
            edge_ends(csr, sparse.indices)


def products_in_one_order() -> None:
    """Run deterministic products in both directions."""
    with gl.config.set(deterministic=True):
        for u in vectors():
            for towards in ("push", "pull"):
                with gl.direction(towards):
                    gl.semiring.plus_times(matrix() @ u).new()
                    gl.semiring.plus_times(u @ pattern()).new()
        gl.semiring.plus_times(matrix() @ matrix(seed=1)).new()


def matrix_products() -> None:
    """Run kronecker, and mxm with short and long rows, with and without each kind of mask."""
    for name, dtype in SEMIRINGS:
        A, B, op = matrix(dtype), matrix(dtype, 1), getattr(gl.semiring, name)
        op(A @ B).new()
        op(A @ B.T).new()
        for mask in tuple(masks(matrix("INT8", 2)))[:: 1 if name == "plus_times" else 4]:
            op(A @ B).new(mask=mask)
            op(A @ B.T).new(mask=mask)


def matrix_products_of_patterns() -> None:
    """Run a triangle count, a product of dense matrices, and kronecker."""
    L = gl.select.tril(pattern(), -1).new()
    gl.semiring.plus_pair(L @ L.T).new(mask=L.S)
    dense = gl.Matrix.from_dense(np.arange(1.0, 8101).reshape(90, 90))
    gl.semiring.plus_times(dense @ dense).new()
    small, iso = matrix(n=20, entries=60), pattern(n=20, entries=60)
    small.kronecker(iso, gl.binary.times).new()
    iso.kronecker(iso, gl.binary.pair).new()


def matrix_products_of_large_ones() -> None:
    """Run products with many terms or many columns, which take the code paths for large inputs."""
    op = gl.semiring.plus_times
    rng = np.random.default_rng(8)
    A = gl.Matrix.from_dense(np.arange(1.0, 101).reshape(1, 100))
    rows, columns = np.repeat(np.arange(100), 40), rng.choice(1 << 24, 4000, replace=False)
    B = gl.Matrix.from_coo(rows, columns, 2.0, nrows=100, ncols=1 << 24)
    op(A @ B).new()
    gl.semiring.any_pair(A @ B).new()
    for tuning in ({"scratch": 0}, {"few_rows": 0}):
        with settings("spgemm", **tuning):
            op(matrix() @ matrix(seed=1)).new()
    mask = matrix("INT8", 2).S
    with settings("spgemm_masked", few=0):
        op(matrix() @ matrix(seed=1)).new(mask=mask)
    with settings("spgemm_masked", per_entry=0, transposing=0):
        op(matrix() @ matrix(seed=1).T.new().T).new(mask=mask)
        by_columns = gl.Matrix.from_csc(*matrix(seed=1).to_csc(), nrows=SIZE)
        op(matrix() @ by_columns).new(mask=mask)


def entry_by_entry() -> None:
    """Run ewise_add, ewise_mult and ewise_union on matrices and every form of vector."""
    for A, B in ((matrix(), matrix(seed=1)), (pattern(), pattern(1)), (matrix(), pattern(1))):
        A.ewise_add(B, gl.binary.plus).new()
        A.ewise_mult(B, gl.binary.times).new()
        A.ewise_union(B, gl.binary.minus, 1, 2).new()
        A.ewise_mult(A, gl.binary.firsti).new()
        A.ewise_union(gl.Matrix("INT8", SIZE, SIZE), gl.binary.minus, 1, 2).new()
        gl.Matrix("INT8", SIZE, SIZE).ewise_union(A, gl.binary.minus, 1, 2).new()
    for u in vectors():
        for v in vectors("INT16"):
            u.ewise_add(v, gl.binary.plus).new()
            u.ewise_mult(v, gl.binary.second).new()
            u.ewise_union(v, gl.binary.minus, 1, 2).new()


def maps() -> None:
    """Run apply in all its variants, select and casts."""
    for x in (matrix(), pattern(), *vectors()):
        x.apply(gl.unary.ainv).new()
        x.apply(gl.binary.minus, left=2).new()
        x.apply(gl.binary.minus, right=2).new()
        x.apply(gl.indexunary.rowindex, 1).new()
        x.apply(gl.unary.positioni).new()
        x.select(gl.select.valuegt, 3).new()
        x.select(gl.select.rowle, 30).new()
        x.dup("INT8")


def reductions() -> None:
    """Reduce to scalars, to rows and to columns, and with aggregators."""
    for dtype in ("FP32", "INT8", "BOOL"):
        for A in (matrix(dtype), pattern(), matrix(dtype, n=3, entries=9)):
            for name in ("plus", "min", "any", "times", "lor"):
                op = getattr(gl.monoid, name)
                A.reduce_rowwise(op).new()
                A.reduce_columnwise(op).new()
                A.reduce_scalar(op).new()
        for u in vectors(dtype):
            u.reduce(gl.monoid.plus).new()
            u.reduce(gl.monoid.any).new()
    for name in ("mean", "argmax", "count", "first", "last_index"):
        matrix().reduce_rowwise(getattr(gl.agg, name)).new()


def indices() -> None:
    """Run extract, assign, transpose and diag, and access single entries."""
    rng = np.random.default_rng(5)
    some, more = rng.permutation(SIZE)[:FEW], rng.integers(0, SIZE, 2 * SIZE)
    for A in (matrix(), pattern()):
        for rows in (slice(None), some, slice(5, 90, 3)):
            for columns in (slice(None), some):
                A[rows, columns].new()
        A[more, more].new()
        A.T.new()
        A.diag()
        B = matrix("FP64", 7)
        B[some, some] << A[some, some].new()
        B(mask=A.S)[:, :] << 3
        B[3, 4] = 5
        del B[3, 4]
        assert B.get(3, 4) is None
    for u in vectors():
        u[some].new()
        u[more].new()
        u[::2].new()
        u[some] << 7
        u(gl.binary.plus)[some] << u[some].new()
        u[4] = 1
        del u[4]
        u.diag()
    owned = vectors()[1]._store
    # Call the backend directly: it writes in place without checking whether the arrays are shared.
    backend(owned.device).set_element(owned.bitmap(), 4, np.float32(5))


def writes() -> None:
    """Run C⟨mask, replace⟩ = accum(C, T), with all kinds of masks and several accumulators."""
    targets = vectors()
    turns = itertools.cycle(((None, False), (gl.binary.plus, True), (gl.binary.second, False)))
    for k, T in enumerate((*vectors("INT16"), vectors()[0].apply(gl.unary.one).new())):
        for C_of, mask_of in itertools.product(range(3), vectors("INT8")):
            for mask in tuple(masks(mask_of))[(C_of + k) % 2 :: 2]:
                C, (accum, replace) = targets[(C_of + k) % 3].dup(), next(turns)
                given = {"mask": mask, "accum": accum, "replace": replace and mask is not None}
                C(**{name: x for name, x in given.items() if x is not None}) << T
    sparse = [vectors(dtype, 1 << 20)[0] for dtype in ("FP32", "INT16", "INT8")]
    for mask in (sparse[2].S, ~sparse[2].V):
        for given in ({}, {"accum": gl.binary.plus}, {"replace": True}):
            C = sparse[0].dup()
            C(mask, **given) << sparse[1]  # pyright: ignore[reportArgumentType]
    for mask in masks(matrix("INT8", 2)):
        for accum in (None, gl.binary.plus):
            C = matrix()
            given = {"mask": mask, "accum": accum, "replace": mask is not None}
            C(**{k: x for k, x in given.items() if x is not None}) << matrix("INT32", 1)


def building() -> None:
    """Build matrices and vectors from lists of entries with duplicates, and from dense arrays."""
    rng = np.random.default_rng(6)
    rows, columns = rng.integers(0, 50, (2, 900))
    values = rng.integers(0, 9, 900).astype(np.float32)
    shape: dict[str, Any] = {"nrows": 60, "ncols": 60}
    for dup in (gl.binary.plus, gl.binary.minus, gl.binary.first):
        gl.Matrix.from_coo(rows, columns, values, dup_op=dup, **shape)
        gl.Matrix.from_coo(rows, columns, 1, dup_op=dup, **shape)
        gl.Vector.from_coo(rows, values, dup_op=dup, size=60)
    for large in (9000, 9001):
        with settings("build", large=large):
            gl.Matrix.from_coo([0] * 9000, [1] * 9000, np.ones(9000, "f4"), dup_op="plus", **shape)
    gl.Matrix.from_dense(np.arange(12.0).reshape(3, 4)).to_dense()
    A = matrix()
    A.to_csr(), A.to_csc(), A.to_coo()


def plans() -> None:
    """Build full plans of a directed and a symmetric matrix, with long and short rows."""
    with settings("plan", long=5):
        matrix(entries=2 * MANY).prepare()
        gl.generators.kronecker(8, symmetric=True, seed=1).prepare()


def closures() -> None:
    """Run closures with one block and with several blocks, with and without a cutoff."""
    x, A = gl.Vector.from_coo([0, 5], [0, 3], "INT32", size=SIZE), matrix("INT32", entries=900)
    with settings("persistent", most_blocks=FEW_BLOCKS):
        for parents, limit in itertools.product((False, True), (None, 3)):
            gl.closure(x, A, "min_plus", parents=parents, cutoff=limit)
        for lowered in ({"alone_rows": 0}, {"fused_rows": 0, "alone_rows": 4}):
            with settings("closure", **lowered):
                gl.closure(x, A, "min_plus", parents=True)


def other_closures() -> None:
    """Run closures with 64-bit and 8-bit values, over several semirings, and with a mask."""
    x, real = gl.Vector.from_coo([0, 5], [0, 3], "FP64", size=SIZE), matrix("FP64", entries=900)
    with settings("persistent", most_blocks=FEW_BLOCKS):
        gl.closure(x, real, "max_times", cutoff=2)
        gl.closure(x, real, "min_plus", mask=~vectors()[0].S, parents=True)
        gl.closure(x.dup("BOOL"), matrix("BOOL", entries=900), "lor_land")


RESULTS: tuple[dict[str, Any], ...] = (
    {"levels": "UINT8"},
    {"parents": False},
    {"parents": "least"},
)


def searches() -> None:
    """Run breadth-first searches in both directions, with one block and with several blocks."""
    from graphla import algorithms

    A, few = gl.generators.kronecker(7, symmetric=True, seed=2), vectors("INT8", 128)[0]
    directed, mesh = pattern(2, entries=900), gl.generators.grid(9, 9)
    lowered = ({}, {"alone_edges": 0, "grid_edges": 0}, {"alone_edges": 9, "grid_edges": 90})
    for constants, towards in itertools.product(lowered, ("auto", "push", "pull")):
        with (
            settings("persistent", most_blocks=FEW_BLOCKS),
            settings("bfs", cluster=1, **constants),
            gl.direction(towards),
        ):
            algorithms.bfs(directed, [3, 4], cutoff=3)
            algorithms.bfs(A, 1, mask=~few.S)
    with settings("persistent", most_blocks=FEW_BLOCKS), settings("bfs", cluster=1):
        for given in RESULTS:
            algorithms.bfs(A, 0, **given)
        algorithms.bfs(mesh, 7)


def searches_with_plans() -> None:
    """Run breadth-first searches on matrices with plans, which relabel the vertices."""
    from graphla import algorithms

    A, directed = gl.generators.kronecker(7, symmetric=True, seed=2), pattern(2, entries=900)
    with settings("persistent", most_blocks=FEW_BLOCKS), settings("bfs", cluster=1):
        for given, B in zip(RESULTS, (A.prepare(), directed.prepare(), A), strict=True):
            algorithms.bfs(B, 0, **given)
        with settings("bfs", cluster=1, alone_edges=0, grid_edges=0):
            for towards in ("push", "pull"):
                with gl.direction(towards):
                    algorithms.bfs(A, 0)
                    algorithms.bfs(directed, [3, 4], cutoff=3)


def searches_in_clusters() -> None:
    """Search a mesh and a small graph with a cluster of two blocks."""
    from graphla import algorithms

    mesh, A = gl.generators.grid(9, 9), gl.generators.kronecker(6, symmetric=True, seed=2)
    with settings("persistent", most_blocks=2), settings("bfs", cluster=2):
        algorithms.bfs(mesh, 7)
        algorithms.bfs(mesh, [0, 80], cutoff=9, parents=False)
        for towards in ("push", "pull"):
            with gl.direction(towards):
                algorithms.bfs(A, 0)


def steps() -> None:
    """Multiply a vector that has only one entry by a matrix, as a step of a traversal does."""
    A = gl.generators.grid(40, 40, weights=(1, 9), seed=1)
    distance = gl.Vector(A.dtype, A.nrows)
    distance[0] = 0
    with gl.direction("push"):
        distance(gl.binary.min) << gl.semiring.min_plus(distance @ A)


def loop_preparation() -> None:
    """Prepare matrices with long and short rows for the products of compiled loops."""
    if not gl.config.device.startswith("cuda"):
        return
    from graphla.backends.cuda.program_products import pull_form, push_form

    for A in (pattern(), gl.generators.kronecker(6, symmetric=True, seed=1)):
        store = A._store
        with settings("program_products", push_chunk=8, pull_chunk=8):
            push_form(store.csr)
            pull_form(store.csc, columns=store.csr)


def algorithms() -> None:
    """Run algorithms through their public functions."""
    from graphla import algorithms

    A = gl.generators.kronecker(6, symmetric=True, seed=1)
    with settings("persistent", most_blocks=FEW_BLOCKS), settings("bfs", cluster=1):
        algorithms.bfs(A, 0)
        algorithms.connected_components(A)
        algorithms.triangle_count(A)
        algorithms.pagerank(A)
        algorithms.sssp(gl.generators.grid(9, 9, weights=(1, 9), seed=1), 0)
        algorithms.closeness(A)


def centrality() -> None:
    """Run betweenness with one block per source, and with all blocks working on one source."""
    from graphla import algorithms

    A = gl.generators.kronecker(6, symmetric=True, seed=1)
    with settings("persistent", most_blocks=FEW_BLOCKS), settings("betweenness", edges=64):
        algorithms.betweenness(A, 3, endpoints=True)
        algorithms.betweenness(A, sources=[0])
        algorithms.edge_betweenness(A, 3)


def centrality_by_lengths() -> None:
    """Run betweenness with edge lengths."""
    from graphla import algorithms

    mesh = gl.generators.grid(5, 5, weights=(1, 9), seed=1)
    with settings("persistent", most_blocks=FEW_BLOCKS), settings("betweenness", edges=64):
        algorithms.betweenness(mesh, 2, weight=True)
        algorithms.edge_betweenness(mesh, 1, weight=True)


def ranks() -> None:
    """Run PageRank in single and double precision."""
    from graphla import algorithms

    A = gl.generators.kronecker(6, symmetric=True, seed=1)
    for dtype in ("FP64", "FP32"):
        algorithms.pagerank(A, dtype=dtype)


def parts() -> None:
    """Run components, cores and forests with split rows.

    The runs use several grid sizes and several key widths.
    """
    from graphla import algorithms

    A = gl.generators.kronecker(6, symmetric=True, seed=1)
    directed = gl.select.offdiag(matrix("FP64", entries=900)).new()
    with settings("persistent", most_blocks=FEW_BLOCKS), settings("components", longest=3, part=5):
        algorithms.connected_components(A)
        algorithms.connected_components(directed)
        for alone, own in ((0, 0), (0, 2048), (64, 40)):
            with settings("cores", alone_edges=alone, own_edges=own):
                algorithms.core_numbers(A)
                algorithms.core_numbers(directed)
    chain = gl.select.triu(matrix(n=60, entries=150)).new()  # this graph has only small components
    chain[1, 0] = chain[0, 1] = chain[50, 49] = chain[49, 50] = 1
    with settings("persistent", most_blocks=FEW_BLOCKS):
        for alone in (0, 64):
            with settings("strong_components", block=64, alone_edges=alone):
                algorithms.strong_components(directed)
                algorithms.strong_components(chain)
    B = gl.binary.plus(directed | directed.T).new()
    for dtype in ("FP32", "FP64"):
        algorithms.spanning_forest(B.dup(dtype))


def groups() -> None:
    """Run communities, coloring and matching with rows of every length class."""
    from graphla import algorithms

    A = gl.generators.kronecker(5, symmetric=True, seed=1)
    B = gl.binary.plus(gl.unary.one["FP32"](A) | gl.select.diag(matrix(n=A.nrows))).new()
    classes = ("thread_entries", "lane_entries", "table_entries", "block_entries", "hub_slots")
    for rows in ((), (1, 2, 4, 8), (0, 1, 1, 32), (1, 2, 3, 4, 128)):
        with settings("communities", **dict(zip(classes, rows, strict=False))):
            for weight in (False, True):
                algorithms.label_propagation(B.dup(), weight, max_iter=1)
                algorithms.louvain(B.dup(), weight, max_level=1)
    algorithms.greedy_color(A)
    for wide in (2, 64):
        with settings("matching", wide=wide):
            algorithms.maximal_matching(A)
            algorithms.maximal_matching(B, weight=True)


def sorts() -> None:
    """Sort vectors and the rows of matrices, in one tile or in several.

    Some of the operators define no order.
    """
    rng = np.random.default_rng(5)
    for dtype in ("FP32", "INT64", "UINT8"):
        for tiles in ({}, {"threads": 64, "items": 1, "wide_items": 1}):
            with settings("sort", **tiles):
                for n in (FEW, SIZE):
                    values = rng.integers(0, 99, n).astype(gl.dtypes.lookup_dtype(dtype).np_type)
                    gl.Vector.from_dense(values).sort(gl.binary.gt)
                matrix(dtype).sort()
                gl.Vector.from_dense(values).sort(gl.binary.ne)


def many_searches() -> None:
    """Search from a few sources, and from more sources than a word has bits."""
    from graphla import algorithms

    A = gl.generators.kronecker(6, symmetric=True, seed=1)
    with settings("persistent", most_blocks=FEW_BLOCKS):
        algorithms.bfs_levels(A, np.arange(A.nrows).repeat(2))
        algorithms.bfs_levels(A, [3, 3], dtype="UINT8", cutoff=2)


LOW_RUNGS = {
    "edge-tuned": {"SIDE": 3, "LEAST": 0, "LAST": 1},
    "direction-optimised": {"ALPHA": 10**6, "BETA": 2},
    "privatised-queue": {"ROOM": 3},
    "hierarchical-queue": {"ROOM": 2, "BLOCK_ROOM": 5},
    "hubs-apart": {"HUB": 8, "PIECE": 4},
    "small-frontier": {"ROOM": 5, "FEW": 4, "MOST": 2, "THREADS": 64},
}
"""Constants that make a small graph overflow the queues of the ladder's strategies."""


def rungs() -> None:
    """Run all strategies of the ladder that the device supports, two searches with each.

    Then run some strategies again, with constants so low that their queues overflow.
    """
    from graphla import ladder

    A = gl.generators.kronecker(6, symmetric=True, seed=1)
    for name, strategy in ladder.STRATEGIES.items():
        if strategy.runs_on(gl.config.device):
            ready = ladder.prepare(A, name)
            ready.bfs(0)
            ready.bfs(1)
    for name, low in LOW_RUNGS.items():
        if ladder.STRATEGIES[name].runs_on(gl.config.device):
            with settings(name.replace("-", "_"), "ladder", **low):
                ladder.prepare(A, name).bfs(0)
    for dtype in ("INT64", "FP32"):
        ladder.sssp(matrix(dtype), 0)


STAGES: tuple[Callable[[], None], ...] = (
    *(building, maps, entry_by_entry, reductions, indices, writes, products),
    *(products_that_keep_hubs, products_in_one_order),
    *(
        matrix_products,
        matrix_products_of_patterns,
        matrix_products_of_large_ones,
        plans,
        closures,
        other_closures,
    ),
    *(searches, searches_with_plans, searches_in_clusters, steps, loop_preparation),
    *(algorithms, many_searches),
    *(centrality, centrality_by_lengths, ranks, groups, parts, rungs, sorts),
)


def run() -> set[tuple[str, str]]:
    """Return the kernels that have been loaded."""
    from graphla.compilers.cuda import _loaded

    return {(file, entry) for file, entry, *_ in _loaded}


def not_run(seen: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the kernels that occur in the sources but not in `seen`."""
    from instances import in_the_sources

    return in_the_sources().keys() - seen


def main(*names: str) -> None:
    """Run the named stages, or all of them by default, on a GPU."""
    import cupy

    cupy.cuda.set_allocator(None)
    gl.config.device = "cuda"
    for stage in STAGES:
        if not names or stage.__name__ in names:
            stage()
    cupy.cuda.Device().synchronize()
    print(f"{RAN}{json.dumps(sorted(run()))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
