"""Compare breadth-first search on the device, in every direction, with a search on the host.

The thresholds are so low that even searches of small graphs switch from one block to all blocks,
from push to pull, and back. Some counters start shortly before they wrap around.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import cupy
import numpy as np
import pytest
from devices import fewer
from gpu.patterns import Pattern, on_host, pattern, patterns
from hypothesis import example, given
from hypothesis import strategies as st

from graphla.backends import backend
from graphla.backends.cuda import bfs, persistent
from graphla.backends.cuda.bfs import BfsTuning
from graphla.backends.cuda.persistent import PersistentTuning
from graphla.backends.cuda.plan import PlanTuning
from graphla.backends.requests import FOREVER, BfsResult, Search
from graphla.backends.tuning import using
from graphla.compilers.cuda import Kernel
from graphla.formats import Plan, VectorMask

cuda = backend("cuda")

CARD = cupy.cuda.Device().attributes
IN_CLUSTERS = {
    "cluster": min(BfsTuning.cluster, CARD["MultiProcessorCount"] // 2),
    "few_edges": 1 << 20,
}
SMALL = {**IN_CLUSTERS, "few_edges": 0}
SETTINGS: tuple[dict[str, Any], ...] = (
    {"room": BfsTuning.room},  # all constants have their default values
    # all blocks take part from the first level on
    {"small_edges": 0, "alone_edges": 0, "cluster_edges": 0, "grid_edges": 0},
    {"cluster": 1, "alone_edges": 6, "grid_edges": 40},  # switch between one block and all blocks
    {"cluster": 1, "alone_edges": 30, "grid_edges": 30, "push_cost": 1.0},
    # a single block works, with small queues
    {"cluster": 1, "alone_edges": 1 << 30, "grid_edges": 1 << 30, "room": 32},
    # pull as early as possible
    {"cluster": 1, "alone_edges": 0, "grid_edges": 0, "push_cost": 1e6, "unit": 0},
    {"cluster": 1, "alone_edges": 100, "grid_edges": 200, "push_cost": 0.1, "unit": 2, "room": 64},
    # The next four settings start with a cluster. The first one has default values otherwise, the
    # second switches early to the whole grid, and the last two have small queues that overflow.
    IN_CLUSTERS,
    {**IN_CLUSTERS, "cluster_edges": 30, "grid_edges": 60},
    {**IN_CLUSTERS, "room": 64},
    {**IN_CLUSTERS, "room": 8, "unit": 0},
    # The last two settings use only one cluster. The first has default values otherwise, and the
    # second pulls as early as possible.
    SMALL,
    {**SMALL, "small_push_cost": 1e6, "small_room": BfsTuning.least_small_room},
)
TOO_LARGE, INVALID = "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "CUDA_ERROR_INVALID_CLUSTER_SIZE"


@contextmanager
def settings(constants: dict[str, Any], tickets: int = 0) -> Any:
    """Set the thresholds of the search and the first ticket number."""
    with (
        using(BfsTuning(**constants), PersistentTuning(tickets=tickets)),
        patch.object(persistent, "_kept", persistent._Kept()),
    ):
        yield


def plan_of(graph: Pattern, tier: str) -> Plan | None:
    if tier == "none":
        return None
    with using(PlanTuning(most=1 << 20)):
        return cuda.plan(*graph, tier == "full", None)


def search(graph: Pattern, starts: Any, tier: str = "none", **options: Any) -> BfsResult:
    """Search for levels and arbitrary parents, unless the options request other results."""
    out, into = graph
    if options.pop("rows_only", False):
        into = None
    plan = None if into is None else plan_of(graph, tier)
    starts = np.asarray(starts, np.int32)
    starts = cuda.asarray(starts) if options.pop("on_card", False) else starts
    given: dict[str, Any] = {"levels": np.dtype(np.int32), "parents": "any", "plan": plan}
    return cuda.bfs(Search(out, into, starts, **{**given, **options}))


# --- host search ------------------------------------------------------------------------------


def neighbors(graph: Pattern) -> dict[int, list[int]]:
    indptr, indices = on_host(graph[0].indptr), on_host(graph[0].indices).tolist()
    pairs = zip(indptr.tolist(), indptr[1:].tolist(), strict=False)
    return {v: indices[a:b] for v, (a, b) in enumerate(pairs)}


def levels_on_host(
    graph: Pattern, starts: Any, allowed: set[int] | None = None, limit: int = FOREVER
) -> dict[int, int]:
    edges = neighbors(graph)
    level = dict.fromkeys(map(int, starts), 0)
    frontier, depth = list(level), 0
    while frontier and depth < limit:
        depth += 1
        reached = {u for v in frontier for u in edges[v]} - level.keys()
        frontier = sorted(reached if allowed is None else reached & allowed)
        level.update(dict.fromkeys(frontier, depth))
    return level


def assert_found(
    tree: BfsResult, graph: Pattern, want: dict[int, int], least: bool = False
) -> None:
    """Check the levels and the parents of a search; `want` holds the expected levels.

    If `least` is True, each parent must be the smallest of the possible parents.
    """
    present = on_host(tree.present)
    assert present.dtype == bool
    assert np.flatnonzero(present).tolist() == sorted(want)
    assert (tree.reached, tree.depth) == (len(want), max(want.values()))
    if tree.levels is not None:
        levels = on_host(tree.levels)
        assert {v: int(levels[v]) for v in want} == want
    if tree.parents is not None:
        parents = on_host(tree.parents)
        may = defaultdict(set)
        for v, ends in neighbors(graph).items():
            for u in ends:
                if v in want and want.get(u, -1) == want[v] + 1:
                    may[u].add(v)
        for v, level in want.items():
            allowed = may[v] if level else {v}
            allowed = {min(allowed)} if least else allowed
            assert int(parents[v]) in allowed, f"{v} of level {level}: {parents[v]}, not {allowed}"


# --- properties -------------------------------------------------------------------------------

TIERS = st.sampled_from(("none", "light", "full"))
DIRECTIONS = st.sampled_from(("auto", "push", "pull"))
WANTED = st.sampled_from(
    [(levels, parents) for levels in ("i4", "u1", None) for parents in ("any", "least", None)]
)


def starts_of(data: Any, n: int) -> np.ndarray:
    """Return a random selection of start vertices: one vertex, a few, or all n."""
    numbers = np.random.default_rng(data.draw(st.integers(0, 1 << 16)))
    count = data.draw(st.sampled_from((1, 1, min(3, n), min(70, n), n)))
    return numbers.choice(n, count, replace=False)


@given(patterns(), TIERS, DIRECTIONS, WANTED, st.sampled_from(SETTINGS), st.data())
def test_a_search_finds_correct_levels_and_parents(graph, tier, direction, wanted, constants, data):
    starts = starts_of(data, graph[0].nrows)
    levels, parents = wanted
    with settings(constants):
        tree: Any = search(
            graph,
            starts,
            tier,
            direction=direction,
            levels=None if levels is None else np.dtype(levels),
            parents=parents,
            on_card=data.draw(st.booleans()),
        )
    assert (tree.levels is None) == (levels is None)
    assert (tree.parents is None) == (parents is None)
    assert levels is None or tree.levels.dtype == np.dtype(levels)
    assert parents is None or tree.parents.dtype == np.int32
    assert tree.trace == []
    assert_found(tree, graph, levels_on_host(graph, starts), parents == "least")


@given(patterns(), TIERS, DIRECTIONS, st.sampled_from(SETTINGS), st.data())
def test_vertices_outside_the_mask_are_neither_reached_nor_expanded(
    graph, tier, direction, constants, data
):
    n = graph[0].nrows
    starts = starts_of(data, n)
    numbers = np.random.default_rng(data.draw(st.integers(0, 1 << 16)))
    chosen = numbers.random(n) < data.draw(st.sampled_from((0.0, 0.3, 0.8, 1.0)))
    present = cuda.asarray(chosen) if data.draw(st.booleans()) else None
    indices = cuda.asarray(np.flatnonzero(chosen).astype(np.int32)) if present is None else None
    complement = data.draw(st.booleans())
    mask = VectorMask(n, present, indices, complement)
    allowed = set(np.flatnonzero(chosen != complement).tolist())
    least = data.draw(st.booleans())
    with settings(constants):
        parents = "least" if least else "any"
        tree = search(graph, starts, tier, direction=direction, mask=mask, parents=parents)
    assert_found(tree, graph, levels_on_host(graph, starts, allowed), least)


@given(patterns(), TIERS, DIRECTIONS, st.sampled_from(SETTINGS), st.integers(0, 4), st.data())
def test_the_argument_limit_bounds_the_number_of_levels(
    graph, tier, direction, constants, limit, data
):
    starts = starts_of(data, graph[0].nrows)[:3]
    with settings(constants):
        tree = search(graph, starts, tier, direction=direction, limit=limit)
    assert_found(tree, graph, levels_on_host(graph, starts, None, limit))


@given(patterns(), st.sampled_from(SETTINGS), st.data())
def test_a_search_without_the_transpose_always_pushes(graph, constants, data):
    starts = starts_of(data, graph[0].nrows)
    with settings(constants):
        tree = search(graph, starts, rows_only=True, traced=True)
    assert_found(tree, graph, levels_on_host(graph, starts))
    assert all(level.direction.startswith("push") for level in tree.trace)


@given(patterns(), TIERS, DIRECTIONS, st.sampled_from(SETTINGS), st.data())
def test_the_trace_of_a_search_describes_each_level(graph, tier, direction, constants, data):
    starts = starts_of(data, graph[0].nrows)[:3]
    want = levels_on_host(graph, starts)
    with settings(constants):
        tree = search(graph, starts, tier, direction=direction, traced=True)
    assert_found(tree, graph, want)
    sizes = np.bincount(list(want.values())).tolist()
    # the last level is not expanded if no unreached vertices remain
    assert len(tree.trace) in (len(sizes), len(sizes) - 1)
    assert [level.frontier for level in tree.trace] == sizes[: len(tree.trace)]
    for level in tree.trace:
        assert level.seconds >= 0
        assert level.direction.split(",")[0] in ("push", "pull")
        assert direction in ("auto", level.direction.split(",")[0])


@fewer(2)
@given(patterns((33, 1500)), TIERS, st.sampled_from(SETTINGS[1:4]), st.integers(1, 40))
def test_the_ticket_numbers_of_a_search_may_wrap_around(graph, tier, constants, before):
    with settings(constants, (1 << 32) - before):
        tree = search(graph, [0], tier)
    assert_found(tree, graph, levels_on_host(graph, [0]))


# --- clusters ---------------------------------------------------------------------------------


class Refusal(cupy.cuda.driver.CUDADriverError):
    def __init__(self, text: str) -> None:
        RuntimeError.__init__(self, text)


@contextmanager
def a_card_that_takes(blocks: int, error: str) -> Any:
    """Simulate a GPU that rejects clusters with more than `blocks` blocks.

    Yield a list to which each successful launch adds its source file and the size of its grid.
    """
    grids: list[tuple[str, int]] = []
    launch = Kernel.__call__

    def perhaps(kernel: Kernel, grid: int, *args: Any, **options: Any) -> None:
        file = kernel.what.split(" of ")[1].split(" for ")[0]
        if file == "bfs_deep.cu" and grid > blocks:
            raise Refusal(error)
        grids.append((file, grid))
        launch(kernel, grid, *args, **options)

    with (
        patch.object(Kernel, "__call__", perhaps),
        patch.object(persistent, "_taken", {}),
        patch.object(bfs, "_refusing", set()),
        settings(IN_CLUSTERS),
    ):
        yield grids


def test_a_search_uses_as_many_blocks_per_cluster_as_the_gpu_accepts():
    edges = path(300)
    graph, start = pattern(300, edges, True), edges[0][0]
    size = IN_CLUSTERS["cluster"]
    with a_card_that_takes(size, TOO_LARGE) as grids:
        for _ in range(2):
            assert_found(search(graph, [start]), graph, levels_on_host(graph, [start]))
    assert grids == [("bfs_deep.cu", size)] * 2


@pytest.mark.parametrize("error", [TOO_LARGE, INVALID])
def test_a_search_runs_without_clusters_if_the_gpu_rejects_clusters(error):
    edges = path(300)
    graph, start = pattern(300, edges, True), edges[0][0]
    with a_card_that_takes(0, error) as grids:
        for _ in range(2):
            assert_found(search(graph, [start]), graph, levels_on_host(graph, [start]))
        assert [file for file, _ in grids] == ["bfs.cu"] * 2


@pytest.mark.parametrize("edges", [{}, {"cluster_edges": 1 << 20, "grid_edges": 1 << 20}])
@pytest.mark.parametrize("starts", [[280], [300], [5350, 290]])
def test_the_grid_expands_a_row_that_is_too_long_for_a_cluster(starts, edges):
    n = 6000
    star = np.stack([np.full(5000, 300), np.arange(301, 5301)], 1)
    line = np.stack([np.arange(300), np.arange(1, 301)], 1)
    graph = pattern(n, np.concatenate([star, line, line + 5300]), True)
    with settings({**IN_CLUSTERS, **edges}):
        tree = search(graph, starts, traced=True)
        assert_found(tree, graph, levels_on_host(graph, starts))


def test_a_frontier_larger_than_a_queue_is_expanded_in_parts():
    n = 12_000
    spokes = np.stack([np.zeros(n - 2, int), np.arange(1, n - 1)], 1)
    last = np.stack([np.arange(5000, n - 1), np.full(n - 5001, n - 1)], 1)
    graph = pattern(n, np.concatenate([spokes, last]), False)
    with settings({**SMALL, "small_room": BfsTuning.least_small_room}):
        for direction in ("push", "auto"):
            tree = search(graph, [0], direction=direction)
            assert_found(tree, graph, levels_on_host(graph, [0]))


# --- shapes -----------------------------------------------------------------------------------


def path(n: int) -> list[tuple[int, int]]:
    order = np.random.default_rng(n).permutation(n)
    return list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))


@pytest.mark.parametrize("constants", [SETTINGS[0], SETTINGS[1]])
@pytest.mark.parametrize("tier", ["none", "light", "full"])
def test_a_search_of_a_path_finds_one_level_per_vertex(tier, constants):
    n = 5000 if constants is SETTINGS[0] else 300
    edges = path(n)
    graph = pattern(n, edges, True)
    with settings(constants):
        tree = search(graph, [edges[0][0]], tier)
    assert tree.depth == n - 1
    assert on_host(tree.levels)[[v for _, v in edges]].tolist() == list(range(1, n))


@pytest.mark.parametrize("tier", ["none", "full"])
@pytest.mark.parametrize(
    ("length", "constants"),
    [
        *((254, constants) for constants in SETTINGS[:3]),
        *((255, constants) for constants in SETTINGS[:3:2]),
        pytest.param(255, SETTINGS[1], marks=pytest.mark.full),
    ],
)
def test_levels_up_to_254_are_stored_in_one_byte(length, tier, constants):
    edges = path(length + 1)
    graph = pattern(length + 1, edges, False)
    options = {"levels": np.dtype(np.uint8), "parents": None}
    with settings(constants):
        if length > 254:
            with pytest.raises(OverflowError, match="254"):
                search(graph, [edges[0][0]], tier, **options)
            tree = search(graph, [edges[0][0]], tier, limit=254, **options)
            assert (tree.depth, tree.reached) == (254, 255)
        else:
            tree = search(graph, [edges[0][0]], tier, **options)
        assert_found(tree, graph, levels_on_host(graph, [edges[0][0]], None, 254))


@pytest.mark.parametrize("k", range(len(SETTINGS)))
@pytest.mark.parametrize("way", range(3))
def test_a_star_and_a_complete_graph_are_searched_correctly(way, k):
    """Test every pair of a setting, a direction and a kind of plan, but not every triple."""
    n, constants, direction = 1200, SETTINGS[k], ("auto", "push", "pull")[way]
    tier = ("none", "light", "full")[(way + k) % 3]
    star = pattern(n, np.stack([np.full(n - 1, 700), np.delete(np.arange(n), 700)], 1), True)
    complete = pattern(60, np.argwhere(~np.eye(60, dtype=bool)), True)
    for graph, starts in ((star, [700]), (star, [3]), (star, [3, 8]), (complete, [59])):
        with settings(constants):
            tree = search(graph, starts, tier, direction=direction, parents="least")
        assert_found(tree, graph, levels_on_host(graph, starts), True)


def caterpillar(length: int, leaves: int) -> list[tuple[int, int]]:
    """Return a path with `leaves` additional neighbors per vertex, numbered randomly."""
    spine = np.arange(length)
    ends = np.arange(length, length * (1 + leaves))
    pairs = np.concatenate(
        [np.stack([spine[:-1], spine[1:]], 1), np.stack([np.repeat(spine, leaves), ends], 1)]
    )
    return np.random.default_rng(leaves).permutation(length * (1 + leaves))[pairs].tolist()


@pytest.mark.parametrize(("length", "leaves"), [(30, 15), (20, 40), (9, 700), (3, 5000)])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    "constants", [IN_CLUSTERS, {**IN_CLUSTERS, "room": 64}, SETTINGS[2], SMALL]
)
def test_long_rows_of_a_caterpillar_are_expanded_on_every_level(constants, wide, length, leaves):
    edges = caterpillar(length, leaves)
    graph, starts = pattern(length * (1 + leaves), edges, True, wide), [edges[0][0]]
    with settings(constants):
        tree = search(graph, starts, traced=True)
    want = levels_on_host(graph, starts)
    assert_found(tree, graph, want)
    sizes = np.bincount(list(want.values())).tolist()
    assert [level.frontier for level in tree.trace] == sizes[: len(tree.trace)]


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("hubs", "tier"), [(3, "none"), (3, "full"), (300, "light")])
def test_a_pull_reads_long_rows_completely(hubs, tier, symmetric):
    """Check that pulls read the long rows of hubs completely.

    When the pull reads the row of a hub, only the last neighbor in the row has been reached. One
    more long row belongs to a vertex in another component, whose neighbors are never reached. With
    300 hubs, the list of long rows overflows.
    """
    leaves, n = 500, 1700
    ends = np.arange(hubs, hubs + leaves)
    if hubs > 3:
        ends = ends[-160:]
    both = np.stack([np.tile(ends, hubs), np.repeat(np.arange(hubs), ends.size)], 1)
    line = np.stack([np.arange(1000, 1020), np.r_[1001:1020, ends[-1]]], 1)
    other = np.stack([np.arange(1200, 1600), np.full(400, 1100)], 1)
    graph = pattern(n, np.concatenate([both, line, other]), symmetric)
    want = levels_on_host(graph, [1000])
    outs = np.diff(on_host(graph[0].indptr))
    for direction in ("pull", "auto"):
        with settings(SETTINGS[5]):
            tree = search(graph, [1000], tier, direction=direction, traced=True)
        assert_found(tree, graph, want)
        for level, record in enumerate(tree.trace):
            assert record.edges == sum(int(outs[v]) for v, at in want.items() if at == level)


def test_the_grid_expands_the_long_rows_that_overflow_the_queue_of_a_block():
    children, leaves = 1200, 20
    n = 1 + children * (1 + leaves)
    first = np.stack([np.zeros(children, int), np.arange(1, children + 1)], 1)
    second = np.stack([np.repeat(first[:, 1], leaves), np.arange(children + 1, n)], 1)
    graph = pattern(n, np.concatenate([first, second]), True)
    with settings({**IN_CLUSTERS, "cluster_edges": 1 << 20, "grid_edges": 1 << 20, "room": 8192}):
        tree = search(graph, [0], traced=True)
        assert_found(tree, graph, levels_on_host(graph, [0]))


@given(st.integers(0, 1 << 16), TIERS, st.sampled_from(SETTINGS), st.booleans())
@example(0, "full", SETTINGS[1], True)
def test_a_mesh_with_many_components_is_searched_correctly(seed, tier, constants, wide):
    numbers = np.random.default_rng(seed)
    side = 12
    places = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [
            np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], 1),
            np.stack([places[:-1].ravel(), places[1:].ravel()], 1),
        ]
    )
    pairs = numbers.permutation(side * side)[pairs[numbers.random(len(pairs)) < 0.7]]
    graph = pattern(side * side, pairs, True, wide)
    starts = numbers.choice(side * side, numbers.integers(1, 4), replace=False)
    with settings(constants):
        tree = search(graph, starts, tier)
    assert_found(tree, graph, levels_on_host(graph, starts))


@pytest.mark.parametrize("constants", SETTINGS)
@pytest.mark.parametrize("tier", ["none", "light", "full"])
def test_start_vertices_without_edges_reach_only_themselves(tier, constants):
    graph = pattern(40, [(1, 2), (2, 3)], False)
    with settings(constants):
        for starts in ([0], [3], [0, 39, 3], range(40)):
            tree = search(graph, starts, tier)
            assert_found(tree, graph, levels_on_host(graph, starts))
        nothing = pattern(7, [], True)
        assert_found(search(nothing, [5], tier), nothing, {5: 0})


@pytest.mark.parametrize("tier", ["none", "light", "full"])
def test_a_search_of_an_empty_graph_finds_nothing(tier):
    graph = pattern(0, [], True)
    tree = search(graph, [], tier)
    assert (tree.reached, tree.depth, tree.present.size) == (0, 0, 0)
