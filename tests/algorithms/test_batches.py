"""Searches from many sources run in batches; the progress bar advances after each batch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from devices import DEVICE, has_card

import graphla as gl
from graphla import algorithms as algo
from graphla import settings
from graphla.backends.tuning import using
from graphla.operations.accelerate import batches
from graphla.traversal import many

SIZE = (20, 60) if DEVICE == "cuda" and not has_card() else (66, 300)
"""The numbers of vertices and edges of the test graph. Searches from all 66 vertices of the larger
graph take two batches; searches from all 20 vertices of the smaller graph take one."""
CALLS: dict[str, Callable[[gl.Matrix], Any]] = {
    "average path length": algo.average_path_length,
    "average path length, weighted": lambda A: algo.average_path_length(A, weight=True),
    "betweenness": algo.betweenness,
    "betweenness, weighted": lambda A: algo.betweenness(A, weight=True, endpoints=True),
    "betweenness of edges": algo.edge_betweenness,
    "closeness": algo.closeness,
    "closeness, weighted": lambda A: algo.closeness(A, distance=True),
    "eccentricity": lambda A: algo.eccentricity(A, np.arange(A.nrows)),
    "eccentricity, weighted": lambda A: algo.eccentricity(A, np.arange(A.nrows), weight=True),
    "harmonic": algo.harmonic,
    "transitive closure": algo.transitive_closure,
}


class Bar:
    """A replacement for tqdm that records the arguments of `update`."""

    shown: list[Bar]

    def __init__(self, total: int, desc: str, **_: Any) -> None:
        self.total, self.description, self.counts = total, desc, []
        self.shown.append(self)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def update(self, count: int) -> None:
        self.counts.append(count)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Bar]]:
    """Return the list of bars shown so far."""
    Bar.shown = []
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(settings, "find_spec", lambda _: True)
    with gl.config.set(progress=True):
        yield Bar.shown


@pytest.fixture
def graph() -> gl.Matrix:
    return gl.generators.uniform(*SIZE, seed=1, weights=(1, 9))


def dense(found: Any) -> np.ndarray:
    if isinstance(found, gl.Matrix | gl.Vector):
        return found.to("cpu").to_dense(0)
    return np.asarray(found)


@pytest.mark.parametrize("name", CALLS)
def test_the_progress_steps_add_up_to_the_total_and_the_results_do_not_depend_on_the_batch_size(
    name: str, graph: gl.Matrix, bars: list[Bar]
) -> None:
    expected = dense(CALLS[name](graph))
    tuning = batches.BatchSizeTuning(edges=1, word=16, share=8, most=16)
    with using(tuning), using(many.ManyTuning(table=1, sums=1)):
        found = dense(CALLS[name](graph))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # If the device has no compiled loop for this algorithm, a first attempt creates a progress
    # bar and then stops. So only the last progress bar belongs to the actual computation.
    bar = bars[-1]
    assert bar.description == name.split(",")[0].removesuffix(" of edges")
    assert sum(bar.counts) == bar.total == graph.nrows
    assert len(bar.counts) > 1 or graph.nrows <= 64


@pytest.mark.cpu
def test_the_last_batch_is_at_least_as_large_as_the_others(graph: gl.Matrix) -> None:
    # A last batch much smaller than the other batches might be below the size from which batches
    # run in compiled code.
    expected = algo.betweenness(graph)
    threshold = 20 * graph.nvals
    tuning = batches.BatchSizeTuning(most=21)
    with using(tuning), gl.config.set(compile_threshold=threshold, compiled="auto"):
        parts = list(batches.batches(graph, graph.nrows, "test"))
        found = algo.betweenness(graph)
    assert [part.stop - part.start for part in parts] == [21, 21, 24]
    np.testing.assert_allclose(found.to_dense(), expected.to_dense(), rtol=1e-12)


def test_a_graph_without_vertices_reports_no_progress(bars: list[Bar]) -> None:
    empty = gl.Matrix("FP64", 0, 0)
    assert algo.closeness(empty).nvals == algo.betweenness(empty).nvals == 0
    assert all(sum(bar.counts) == bar.total == 0 for bar in bars)
