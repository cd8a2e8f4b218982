"""Many traversals in a row give correct results and leak no memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card
from effort import is_full
from gpu.tour import settings

import graphla as gl
from graphla import Matrix, Vector
from graphla.algorithms import bfs, sssp

SOURCES = 4


@dataclass(frozen=True)
class Known:
    """A graph on the GPU, and the results of searches on the CPU from some of its vertices."""

    A: Matrix
    # for each source, the levels, the smallest possible parents, and the distances of the vertices
    found: dict[int, tuple[Vector, Vector, Vector]]
    depth: dict[int, int]

    @classmethod
    def of(cls, rows: Any, columns: Any, n: int) -> Known:
        weights = 1 + (np.asarray(rows) * 7 + np.asarray(columns) * 11) % 5
        given: Any = rows, columns, weights.astype(np.int32)
        with gl.config.set(device="cpu"):
            A = Matrix.from_coo(*given, nrows=n, ncols=n, dup_op="first")
            sources = np.unique(A.to_coo()[0])
            sources = sources[np.linspace(0, sources.size - 1, SOURCES).astype(int)]
            found = {
                int(s): (*bfs(A, int(s), parents="least"), sssp(A, int(s)).distances)
                for s in sources
            }
        on_card = {s: (l.to("cuda"), p.to("cuda"), d.to("cuda")) for s, (l, p, d) in found.items()}
        return cls(
            A.to("cuda"), on_card, {s: int(l.to_coo()[1].max()) for s, (l, *_) in found.items()}
        )


@pytest.fixture(scope="module")
def graphs() -> list[Known]:
    """Return five graphs: a graph with hubs, a mesh, a path, a star, and a disconnected digraph.

    Without a GPU, the graphs are a third as large, unless the tests run without limits.
    """
    part = 1 if has_card() or is_full() else 3
    rng = np.random.default_rng(5)
    hubs = (1024 // part * rng.random((2, 6000 // part)) ** 3).astype(int)
    one_way, other_way = rng.integers(0, 900 // part, (2, 1100 // part))
    mesh_size = 1200 // part
    places = np.arange(mesh_size).reshape(-1, 40)
    mesh = (
        np.concatenate((places[:, :-1].ravel(), places[:-1].ravel())),
        np.concatenate((places[:, 1:].ravel(), places[1:].ravel())),
    )
    chain = np.arange(250 // part)
    return [
        Known.of(*both_ways(*hubs), 1100 // part),
        Known.of(*both_ways(*mesh), mesh_size),
        Known.of(*both_ways(chain[:-1], chain[1:]), len(chain)),
        Known.of(*both_ways(np.zeros(499, int), np.arange(1, 500)), 500),
        Known.of(one_way, other_way, 900 // part),
    ]


def both_ways(u: Any, v: Any) -> tuple[Any, Any]:
    return np.concatenate((u, v)), np.concatenate((v, u))


def search(known: Known, source: int, turn: int) -> Iterator[tuple[Any, Any]]:
    """Run a traversal, and yield each result together with the expected result.

    The number `turn` selects the direction, the kind of traversal and its options.
    """
    levels, parents, distances = known.found[source]
    with gl.direction(("auto", "push", "pull")[turn % 3]):
        if turn % 5 == 0:
            found = bfs(known.A, source, parents="least")
            yield found.levels, levels
            yield found.parents, parents
        elif turn % 5 == 1:
            dtype = "UINT8" if known.depth[source] < 255 else "INT32"
            found = bfs(known.A, source, levels=dtype, parents=False)
            yield found.levels.dup(levels.dtype), levels  # pyright: ignore[reportOptionalMemberAccess]
        elif turn % 5 == 2:
            yield bfs(known.A, source).levels, levels
        elif turn % 5 == 3:
            near = levels.select("<=", turn % 7).new()
            yield bfs(known.A, source, cutoff=turn % 7).levels, near
    if turn % 5 == 4:
        yield sssp(known.A, source).distances, distances


def wrong(found: Vector, wanted: Vector) -> Any:
    """Return whether two vectors differ, as a boolean on the GPU, without making the host wait."""
    x, y = found._store.bitmap(), wanted._store.bitmap()
    return ((x.present != y.present) | (x.present & (x.values != y.values))).any()


def traverse(graphs: list[Known], count: int) -> None:
    """Run `count` traversals, which cycle through the graphs and their sources."""
    cases = cycle([(known, source) for source in range(SOURCES) for known in graphs])
    answers: list[Any] = []
    for turn in range(count):
        known, k = next(cases)
        for found, wanted in search(known, list(known.found)[k], turn):
            assert found is not None and found.size == wanted.size
            answers.append(wrong(found, wanted))
        if len(answers) > 100 or turn == count - 1:
            assert not cupy.stack(answers).any(), f"one of the searches up to number {turn}"
            answers.clear()


def in_use() -> int:
    """Return the number of bytes of GPU memory in use."""
    gc.collect()
    cupy.cuda.Device().synchronize()
    return cupy.get_default_memory_pool().used_bytes()


def soak(graphs: list[Known], warm: int, count: int) -> None:
    with gl.config.set(device="cuda"):
        for known in graphs:  # create the cached data of the matrix before measuring
            known.A.to_csc(copy=False)
            known.A.prepare()
        traverse(graphs, warm)
        before, objects = in_use(), len(gc.get_objects())
        traverse(graphs, count)
        # Up to one block of zeroed counters is allocated in advance.
        assert in_use() <= before + (1 << 17)
        assert len(gc.get_objects()) < objects + 1000


def test_successive_traversals_are_correct_and_leak_no_memory(graphs: list[Known]):
    soak(graphs, 15, 20)


def test_successive_traversals_are_correct_when_ticket_numbers_wrap_around(graphs: list[Known]):
    for tickets in (2**32 - 1, 2**32 - 200, 2**31 - 5):
        with gl.config.set(device="cuda"), settings("persistent", tickets=tickets):
            traverse(graphs, 5)


@pytest.mark.gpu
def test_ten_thousand_traversals_are_correct_and_leak_no_memory(graphs: list[Known]):
    assert has_card()
    soak(graphs, 200, 10_000)
