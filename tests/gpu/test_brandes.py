"""Compare betweenness computed by teams of blocks, and PageRank, with definitions on the host."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import cupy
import numpy as np
import pytest
from devices import fewer
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import pagerank
from graphla.algorithms.betweenness import definition, sum_dependencies
from graphla.backends import backend
from graphla.backends.tuning import using

cuda: Any = backend("cuda")
teams: Any = import_module("graphla.backends.cuda.betweenness")
PersistentTuning: Any = import_module("graphla.backends.cuda.persistent").PersistentTuning
BetweennessTuning: Any = teams.BetweennessTuning
ranks: Any = import_module("graphla.backends.cuda.pagerank")


def drawn(seed: int, both_ways: bool) -> gl.Matrix:
    """Draw a graph with a few hundred vertices and a hub whose row is split into several parts."""
    numbers = np.random.default_rng(seed)
    n = int(numbers.integers(2, 700))
    i, j = numbers.integers(0, n, (2, n))
    hub = int(numbers.integers(n))
    i[: n // 2] = hub
    if both_ways:
        i, j = np.concatenate((i, j)), np.concatenate((j, i))
    lengths = numbers.integers(1, 5, n)
    lengths = np.concatenate((lengths, lengths)) if both_ways else lengths
    return gl.Matrix.from_coo(i, j, lengths, nrows=n, ncols=n, dup_op="first")


@fewer(3)
@given(
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
    st.sampled_from((1, 300, 1 << 13)),
    st.sampled_from((2, 5, 32)),
    st.sampled_from((0, 2**32 - 3)),
    st.sampled_from(("levels", "a full plan", "lengths")),
    st.sampled_from(((0, 0, 0), (2, 5, 40), (4, 1 << 20, 1 << 20))),
)
def test_dependencies_summed_by_teams_of_threads_equal_the_algebraic_definition(
    seed, both_ways, of_edges, edges, blocks, tickets, way, alone
):
    A = drawn(seed, both_ways)
    sources = np.unique(np.random.default_rng(seed).integers(0, A.nrows, 1 + seed % 7))
    options = {"of_edges": of_edges, "is_weighted": way == "lengths"}
    with gl.config.set(device="cpu"):
        expected = definition(A.to("cpu"), sources, **options)
    there = A.to("cuda")
    if way == "a full plan":
        there.prepare()
    few_parts, alone_parts, alone_edges = alone
    tuning = BetweennessTuning(
        edges=edges, few_parts=few_parts, alone_parts=alone_parts, alone_edges=alone_edges
    )
    launches = PersistentTuning(most_blocks=blocks, tickets=tickets)
    with using(tuning, launches), gl.config.set(device="cuda"):
        found = sum_dependencies(there, sources, reach=True, **options)
    for one, other in ((found.totals, expected.totals), (found.reached, expected.reached)):
        assert np.allclose(one.to("cpu").to_dense(), other.to_dense(), rtol=1e-9, atol=1e-12)
    assert (cuda.to_host(found.counts) == expected.counts).all()
    if of_edges:
        assert found.edges.to("cpu").isclose(expected.edges, rel_tol=1e-9, abs_tol=1e-12)


def comb(length: int, leaves: int) -> gl.Matrix:
    """Return a path with `leaves` extra neighbors per vertex; its last vertex has 600 more."""
    spine = np.arange(length)
    i = np.concatenate((spine[:-1], np.repeat(spine, leaves), np.full(600, length - 1)))
    j = np.concatenate((spine[1:], np.arange(length, length * (1 + leaves) + 600)))
    n = length * (1 + leaves) + 600
    numbers = np.random.default_rng(length).permutation(n)
    return gl.Matrix.from_coo(*(numbers[k] for k in (np.r_[i, j], np.r_[j, i])), nrows=n, ncols=n)


@pytest.mark.parametrize(
    "alone", [(0, 0, 0), (1, 4, 30), (2, 64, 300), (64, 0, 0), (32, 1024, 8192)]
)
@pytest.mark.parametrize("way", ["levels", "lengths"])
@pytest.mark.parametrize("blocks", [1, 3])
def test_dependencies_are_correct_if_one_block_processes_some_levels_alone(blocks, way, alone):
    A = comb(12, 20)
    options = {"of_edges": alone[0] == 2, "is_weighted": way == "lengths"}
    sources = np.array([5])
    with gl.config.set(device="cpu"):
        expected = definition(A.to("cpu"), sources, **options)
    few_parts, alone_parts, alone_edges = alone
    tuning = BetweennessTuning(
        edges=1, few_parts=few_parts, alone_parts=alone_parts, alone_edges=alone_edges
    )
    with using(tuning, PersistentTuning(most_blocks=blocks)), gl.config.set(device="cuda"):
        found = sum_dependencies(A.to("cuda"), sources, reach=True, **options)
    assert found.totals.to("cpu").isclose(expected.totals, rel_tol=1e-9, abs_tol=1e-12)
    assert (cuda.to_host(found.counts) == expected.counts).all()
    if options["of_edges"]:
        assert found.edges.to("cpu").isclose(expected.edges, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("there_is_room_for", [1, 2])
def test_fewer_teams_run_when_little_memory_is_free(there_is_room_for, monkeypatch):
    made = teams._memory

    def scratch(number, *sizes):
        if number > there_is_room_for:
            raise cupy.cuda.memory.OutOfMemoryError(1, 2, 3)
        return made(number, *sizes)

    monkeypatch.setattr(teams, "_memory", scratch)
    A, sources = drawn(3, True), np.arange(9)
    with gl.config.set(device="cpu"):
        expected = definition(A.to("cpu"), sources)
    with gl.config.set(device="cuda"):
        found = sum_dependencies(A.to("cuda"), sources)
    assert np.allclose(found.totals.to("cpu").to_dense(), expected.totals.to_dense(), rtol=1e-9)
    monkeypatch.setattr(teams, "_memory", lambda *sizes: scratch(9, *sizes))
    with gl.config.set(device="cuda"), pytest.raises(MemoryError):
        sum_dependencies(A.to("cuda"), sources)


@pytest.mark.parametrize("most", [1, 3, 1024])
def test_pagerank_with_any_number_of_blocks_matches_the_result_on_the_host(most):
    with using(ranks.PageRankTuning(most_blocks=most)):
        for both_ways in (False, True):
            A = drawn(7, both_ways)
            # The GPU does not update ranks in place. With this setting, neither does the CPU.
            with gl.config.set(device="cpu", deterministic=True):
                expected = pagerank(A.to("cpu"), tol=1e-12, max_iter=500)
            jumps = dict.fromkeys(range(A.nrows // 2), 1.0)
            there, favored = A.to("cuda"), None
            for _ in range(2):
                found = pagerank(there, tol=1e-12, max_iter=500)
                assert found.to("cpu").isclose(expected, rel_tol=1e-9)
                favored = pagerank(there, personalization=jumps, tol=1e-12, max_iter=500)
                there.prepare()
            again = pagerank(there, personalization=jumps, tol=1e-12, max_iter=500)
            assert favored is not None and again.isclose(favored, rel_tol=1e-9)
