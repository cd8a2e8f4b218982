"""Test that all BFS strategies of `graphla.ladder` on a GPU find the same levels as sequential BFS.

The tuning constants are so low that small graphs take the code paths of large graphs: queues
overflow, rows count as hubs, edges are processed in blocks, and levels do not fit in a byte.
"""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from devices import fewer
from gpu.patterns import Pattern, cuda, on_host, pattern, patterns
from hypothesis import given
from hypothesis import strategies as st

from graphla.ladder.sequential import Sequential
from graphla.ladder.strategies import STRATEGIES
from graphla.operations.operation import perform
from graphla.stores import MatrixStore
from semirings.dtypes import BOOL

ON_CARD = [name for name, strategy in STRATEGIES.items() if strategy.runs_on("cuda")]

LOW: dict[str, tuple[dict[str, Any], ...]] = {
    "direction-optimised": ({"ALPHA": 10**6, "BETA": 0}, {"ALPHA": 10**6, "BETA": 3}),
    "edge-tuned": (
        {"SIDE": 4, "LEAST": 0},
        {"SIDE": 3, "LEAST": 10**9, "LAST": 3},
    ),
    "privatised-queue": ({"ROOM": 3},),
    "hierarchical-queue": ({"GROUPS": 8, "ROOM": 2, "BLOCK_ROOM": 5},),
    "hubs-apart": ({"HUB": 3, "PIECE": 2}, {"HUB": 2, "PIECE": 40}),
    "small-frontier": ({"ROOM": 5, "FEW": 4, "MOST": 3, "THREADS": 64},),
}
"""For each strategy, values of its module's constants that are lower than usual."""

WAYS = [(name, low) for name in ON_CARD for low in ({}, *LOW.get(name, ()))]


def forms(graph: Pattern) -> MatrixStore:
    out, into = graph
    return MatrixStore("cuda:0", BOOL, out, into)


def levels(a: MatrixStore, rung: type[Any], sources: list[int]) -> list[tuple[list[int], int]]:
    """Return the levels and the depth of several searches by one strategy."""

    def found(a: MatrixStore) -> list[tuple[list[int], int]]:
        ready, each = rung(a), []
        for source in sources:
            search = ready.search(source)
            found, there = cuda.asarray(search.levels), cuda.asarray(search.reached())
            plain = np.where(on_host(there), on_host(found).astype(np.int64), -1)
            each.append((plain.tolist(), search.depth))
        return each

    return perform("ladder", found, a)


@st.composite
def deep(draw: Any) -> Pattern:
    """Draw a path with a few backward edges and more levels than a byte can store."""
    n = draw(st.sampled_from((254, 255, 256, 257, 700)))
    ends = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    back = np.random.default_rng(draw(st.integers(0, 99))).integers(0, n, (5, 2))
    back = np.sort(back, 1)[:, ::-1]
    return pattern(n, np.concatenate([ends, back]), draw(st.booleans()))


@pytest.mark.parametrize(("name", "low"), WAYS)
@fewer(2)
@given(st.one_of(patterns(sizes=(1, 2, 33, 200, 1500)), deep()), st.data())
def test_each_strategy_finds_the_same_levels_as_the_sequential_strategy(name, low, graph, data):
    n = graph[0].nrows
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
    strategy = STRATEGIES[name]
    rung, a = strategy.rung("cuda:0"), forms(graph)
    with ExitStack() as stack:
        if low:
            module = import_module(f"graphla.ladder.{strategy.cuda.partition('.')[0]}")
            stack.enter_context(patch.multiple(module, **low))
        assert levels(a, rung, sources) == levels(a, Sequential, sources)


@pytest.mark.parametrize(
    "name", ("frontier-queue", "privatised-queue", "hierarchical-queue", "small-frontier")
)
@fewer(2)
@given(patterns(sizes=(1, 33, 200, 700)))
def test_the_queue_of_a_level_contains_each_vertex_once(name, graph):
    """The queues include some that have overflowed, and some that one kernel passes to another."""
    strategy, source = STRATEGIES[name], graph[0].nrows // 2
    module = import_module(f"graphla.ladder.{strategy.cuda.partition('.')[0]}")

    def search(a: MatrixStore) -> None:
        ready: Any = strategy.rung("cuda:0")(a)
        expand, queues = ready.expand, []

        def watched(count: int, depth: int) -> tuple[int, int]:
            found, levels = expand(count, depth)
            queues.append((depth + levels, sorted(on_host(ready.following[:found]).tolist())))
            return found, levels

        ready.expand = watched
        levels = on_host(ready.search(source).levels)
        for depth, queue in queues:
            assert queue == np.flatnonzero(levels == depth).tolist()

    with ExitStack() as stack:
        for low in LOW.get(name, ()):
            stack.enter_context(patch.multiple(module, **low))
        perform("ladder", search, forms(graph))


@pytest.mark.parametrize("name", ON_CARD)
def test_a_strategy_reports_its_memory_use_and_its_number_of_launches(name):
    graph = pattern(40, [(v, v + 1) for v in range(39)], symmetric=True)

    def told(a: MatrixStore) -> Any:
        ready = STRATEGIES[name].rung("cuda:0")(a)
        return ready.search(7), ready.held, ready.moves(40, 78, 33)

    search, held, moved = perform("ladder", told, forms(graph))
    assert search.depth == 33
    assert held >= cuda.to_host(graph[0].indices).nbytes // 2
    assert (search.launches > 0) == (name != "sequential")
    assert moved is None or moved > 0
