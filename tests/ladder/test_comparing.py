"""Test comparisons of strategies: their counts and times, and the errors that they detect."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from algorithms.graphs import graphs
from devices import DEVICE, fewer
from hypothesis import given

import graphla as gl
from graphla import ladder
from graphla.exceptions import InvalidValue, Panic
from graphla.ladder import comparing, energy
from graphla.ladder.rows import Comparison, Row
from graphla.ladder.rung import OutOfTime
from graphla.ladder.sequential import Sequential

TWO = ["sequential", "closure"] if DEVICE == "cpu" else ["sequential", "vertex-push"]


def row(name="queue", seconds=(1.0, 0.25), **told):
    counts = {"levels": [3, 4], "launches": [3, 4], "moved": None, "held": 80, "preparing": 0.5}
    return Row(name, [100, 100], seconds, **{**counts, **told})


def test_a_row_of_a_comparison_contains_the_mean_speeds():
    found = row(moved=[30, 20], watts=8.0)
    assert found.teps == [100, 400]
    assert (found.mean, found.minimum, found.maximum) == (250, 100, 400)
    assert found.harmonic_mean == pytest.approx(200 / 1.25)
    assert found.time == 0.625
    assert found.bandwidth == 40
    assert found.teps_per_watt == pytest.approx(20)
    assert (row().bandwidth, row().teps_per_watt) == (None, None)
    assert row().facts()["mean_levels"] == 3.5


def test_the_fastest_strategy_has_the_largest_harmonic_mean_speed():
    rows = [row("even", (0.5, 0.5)), row("uneven", (0.05, 2.0))]
    assert rows[0].mean < rows[1].mean
    found = Comparison("here", 9, 9, True, [0, 1], rows)
    assert found.fastest is rows[0] is found["even"]


def test_a_comparison_is_displayed_as_a_table():
    shown = Comparison("<here>", 9, 12, True, [0, 1], [row("even", (0.5, 0.5))])._repr_html_()
    assert shown.startswith("<div>9 vertices, 12 entries; &lt;here&gt;<table><tr><th>strategy</th>")
    assert "<tr><td>even</td><td>500</td>" in shown


def test_power_is_computed_from_the_energy_between_two_steps_of_the_counter():
    samples = [(0.0, 5.0), (0.1, 5.0), (0.2, 25.0), (0.3, 25.0), (0.4, 65.0), (0.5, 65.0)]
    assert energy.between_steps(samples) == pytest.approx(200)
    assert energy.between_steps(samples[:4]) is None
    assert energy.between_steps([]) is None


def test_power_is_measured_only_if_the_energy_counter_changes():
    taken = iter(range(10**9))  # each reading of the counter is one joule higher
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(energy, "REGION", 0.02)
        found = energy.watts(lambda: None, lambda: float(next(taken)))
        assert found is not None
        assert found > 0
        patch.setattr(energy, "PATIENCE", 0.03)
        assert energy.watts(lambda: None, lambda: 7.0) is None  # a counter that never changes


def test_the_measured_power_is_none_without_an_energy_counter():
    assert energy.counter("cpu") is None
    assert energy.watts(pytest.fail, None) is None
    assert energy.watts(pytest.fail, lambda: None) is None


class Driver:
    """A stand-in for NVML; it reports that the GPU has consumed 7,500 mJ."""

    def __init__(self, handle=0, energy=0):
        self.handle, self.energy, self.asked = handle, energy, None

    def nvmlDeviceGetHandleByPciBusId_v2(self, bus, card):
        self.asked = bus
        return self.handle

    def nvmlDeviceGetTotalEnergyConsumption(self, card, found):
        found._obj.value = 7500
        return self.energy


def test_the_energy_is_read_from_the_gpu_with_the_matching_bus_id(monkeypatch):
    cuda = ModuleType("cupy.cuda")
    vars(cuda)["runtime"] = SimpleNamespace(deviceGetPCIBusId=lambda k: f"0000:0{k}:00.0")
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))
    for driver, told in ((Driver(), 7.5), (Driver(handle=6), None), (Driver(energy=3), None)):
        monkeypatch.setattr(energy, "_library", lambda driver=driver: driver)
        joules = energy.counter("cuda:3")
        assert (joules and joules()) == told
        assert driver.asked == b"0000:03:00.0"
    monkeypatch.setattr(energy, "_library", lambda: None)
    assert energy.counter("cuda:3") is None


@fewer(2)
@given(graphs())
def test_each_edge_of_the_reached_component_is_counted_once(drawn):
    nx = pytest.importorskip("networkx")
    A, G = drawn.matrix(), drawn.networkx()
    if not A.nvals:
        with pytest.raises(InvalidValue, match="A has no edge"):
            ladder.compare(A, ["sequential"])
        return
    found = ladder.compare(A, ["sequential"], sources=5)
    assert found.symmetric == all(G.has_edge(j, i) for i, j in G.edges)
    for source, edges in zip(found.sources, found["sequential"].edges, strict=True):
        part = G.subgraph({source, *nx.descendants(G, source)})
        assert edges == (nx.Graph(part) if found.symmetric else part).number_of_edges()


def test_sources_drawn_with_a_seed_are_reproducible_and_have_an_edge():
    A = gl.Matrix.from_coo(range(0, 200, 2), range(1, 201, 2), 1, nrows=201, ncols=201)
    first, again, other = (ladder.compare(A, ["sequential"], seed=seed) for seed in (3, 3, 4))
    assert first.sources == again.sources != other.sources
    assert len(set(first.sources)) == 32
    assert all(source % 2 == 0 for source in first.sources)
    few = ladder.compare(A, ["sequential"], sources=250).sources
    assert {few.count(source) for source in few} == {2, 3}


def test_the_comparison_prefers_sources_that_reach_the_vertex_of_largest_degree():
    # Vertex 0 is a hub on the ring. Each ray is a path of two edges that starts at the hub.
    ring, rays = np.arange(40), np.arange(40, 400)
    rows = np.concatenate((ring, np.zeros(180, int), rays[::2]))
    columns = np.concatenate((np.roll(ring, -1), rays[::2], rays[1::2]))
    A = gl.Matrix.from_coo(rows, columns, 1, nrows=400, ncols=400)
    found = ladder.compare(A, ["sequential"], sources=30)
    assert set(found.sources) <= set(range(40))
    assert set(found["sequential"].edges) == {40 + 2 * 180}
    assert set(ladder.compare(A, ["sequential"], sources=60).sources) > set(range(40))


def test_strategies_are_compared_using_the_same_sources_and_in_the_order_of_the_ladder():
    A = gl.generators.grid(12, 9)
    found = ladder.compare(A, TWO[::-1], sources=7)
    assert [each.strategy for each in found] == TWO
    assert all(len(each.seconds) == 7 for each in found)
    assert found["sequential"].watts is None  # the GPU is idle during a search on the host
    one, two = found
    assert (one.edges, one.levels) == (two.edges, two.levels)
    assert (one.launches, min(two.launches) > 0) == ([0] * 7, True)
    assert found.counted.startswith("undirected")


@pytest.mark.cpu
def test_by_default_all_strategies_of_the_device_are_compared():
    G = gl.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")], directed=True)
    found = ladder.compare(G, sources=2)
    assert [each.strategy for each in found] == [
        name for name, each in ladder.STRATEGIES.items() if each.runs_on("cpu")
    ]
    assert [row.edges for row in found] == [[3, 3]] * len(found.rows)
    assert not found.symmetric
    assert found.counted.startswith("edges out")


def test_a_slow_strategy_searches_from_fewer_sources(monkeypatch):
    A, name = gl.generators.grid(9, 9), "sequential"
    assert len(ladder.compare(A, [name], limit=1e-9)[name].seconds) == 1
    clock = iter(range(10**6))
    monkeypatch.setattr(comparing.time, "perf_counter", lambda: next(clock))
    assert 1 < len(ladder.compare(A, [name], limit=40)[name].seconds) < 32


def test_the_comparison_names_a_strategy_that_finishes_no_search(monkeypatch):
    class Slow(Sequential):
        def search(self, source):
            self.deadline = -1.0
            self.look_at_clock()
            raise AssertionError

    planted(monkeypatch, Slow)
    found = ladder.compare(gl.generators.grid(4, 4), ["sequential", "wrong"], sources=2)
    assert ([row.strategy for row in found], found.slow) == (["sequential"], ["wrong"])
    with pytest.raises(InvalidValue, match="limit is too short: no search was done by wrong"):
        ladder.compare(gl.generators.grid(4, 4), ["wrong"])


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["sequential", "vertex-push", "edge-centric"])
def test_searches_on_the_cpu_stop_at_their_deadline(name):
    with gl.config.set(compiled=False):
        ready = ladder.prepare(gl.generators.grid(4, 4), name)
        with pytest.raises(OutOfTime):
            ready.search(0, -1.0)
        assert ready.search(0).depth == 7


def planted(monkeypatch, rung):
    module = ModuleType("graphla.ladder.wrong")
    vars(module)["Wrong"] = rung
    monkeypatch.setitem(sys.modules, module.__name__, module)
    wrong = ladder.Strategy("wrong", "", "", cpu="wrong.Wrong", cuda="wrong.Wrong")
    monkeypatch.setitem(ladder.STRATEGIES, "wrong", wrong)


class TooFar(Sequential):
    def search(self, source):
        found = super().search(source)
        found.levels[(source + 1) % self.n] = 3
        return found


class TooDeep(Sequential):
    def search(self, source):
        found = super().search(source)
        return ladder.Search(found.levels, found.depth + 1)


def test_the_error_about_a_wrong_level_names_the_vertex_and_both_levels(monkeypatch):
    planted(monkeypatch, TooFar)
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], 1, nrows=4, ncols=4)
    said = r"wrong gives vertex \d level 3 from source \d, but sequential gives (no )?level"
    with pytest.raises(Panic, match=said):
        ladder.compare(A, ["sequential", "wrong"])
    # A wrong strategy is not detected if no other strategy runs, because nothing is compared with
    # it.
    assert ladder.compare(A, ["wrong"]).rows


def test_a_wrong_number_of_levels_is_detected(monkeypatch):
    planted(monkeypatch, TooDeep)
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], 1, nrows=4, ncols=4)
    with pytest.raises(Panic, match=r"wrong counts 4 levels .*, but sequential counts 3"):
        ladder.compare(A, ["sequential", "wrong"])


def test_invalid_arguments_are_rejected():
    A = gl.generators.grid(3, 3)
    told: dict[str, Any]
    for wrong, told, says in (
        (InvalidValue, {"strategies": ["fast"]}, "strategy is 'fast'"),
        (InvalidValue, {"strategies": []}, "strategies is empty, but the rungs are sequential, "),
        (TypeError, {"strategies": "closure"}, "strategies must be a list of names"),
        (InvalidValue, {"sources": 0}, "sources is 0, but must be at least 1"),
        (InvalidValue, {"sources": 10**12}, "sources is 1000000000000, but must be at most"),
        (TypeError, {"sources": 1.5}, "sources must be an integer"),
        (InvalidValue, {"limit": -1}, "limit is -1"),
        (InvalidValue, {"seed": -1}, "seed is -1"),
    ):
        with pytest.raises(wrong, match=says):
            ladder.compare(A, **told)
    with pytest.raises(InvalidValue, match="A has no edge"):
        ladder.compare(gl.Matrix(bool, 0, 0))


def test_an_error_names_a_strategy_that_is_missing_from_a_comparison():
    found = ladder.compare(gl.generators.grid(4, 4), ["sequential"], sources=1)
    with pytest.raises(KeyError, match="'closure' has no row; those timed are sequential"):
        found["closure"]


def test_a_comparison_does_not_change_the_matrix():
    A = gl.Matrix.from_coo([0, 1], [1, 2], np.array([2.5, 3.5]), nrows=3, ncols=3)
    ladder.compare(A, TWO, sources=2)
    assert A.to_dict() == {(0, 1): 2.5, (1, 2): 3.5}
    assert A.preparation is None
