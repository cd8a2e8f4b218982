"""Test how NetworkX finds, configures and calls the backend."""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from networkx.utils import backends as nx_backends

import graphla as gl
from _graphla_networkx import FUNCTIONS, get_info
from graphla.networkx import backend, costs, rules
from networkx_backend import names_table

backends: Any = nx_backends
config: Any = nx.config


def run_program(program: str, **environment: str) -> Any:
    """Run a program in a new Python process, and return the value that it prints as JSON."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NETWORKX")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=kept | environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.fixture
def priority() -> Iterator[None]:
    """Give graphla priority for algorithms, for graphs of any size."""
    with config(fallback_to_nx=True, cache_converted_graphs=False):
        config.backend_priority.algos = ["graphla"]
        try:
            with config.backends.graphla(min_edges=0):
                yield
        finally:
            config.backend_priority.algos = []


# --- the table ------------------------------------------------------------------------------------


def test_importing_networkx_imports_only_the_function_table_of_the_backend() -> None:
    heavy = ["graphla", "semirings", "numpy", "scipy", "numba", "cupy", "_graphla_networkx"]
    program = f"import json, sys, networkx; print(json.dumps([m in sys.modules for m in {heavy}]))"
    assert run_program(program) == [False] * 6 + [True]


def test_the_function_table_imports_only_the_standard_library() -> None:
    program = (
        "import json, sys; before = set(sys.modules); import _graphla_networkx as table; "
        "table.get_info(); names = {m.split('.')[0] for m in set(sys.modules) - before}; "
        "print(json.dumps(sorted(names - set(sys.stdlib_module_names))))"
    )
    assert run_program(program) == ["_graphla_networkx"]


KNOWN = [name for name in FUNCTIONS if name in backends._registered_algorithms]
"""The functions that the installed version of NetworkX has."""


@pytest.mark.parametrize("name", KNOWN)
def test_each_function_has_the_same_parameters_as_in_networkx(name: str) -> None:
    expected = inspect.signature(backends._registered_algorithms[name].orig_func).parameters
    found = inspect.signature(getattr(backend, name)).parameters
    # This version of NetworkX may lack some of the keyword-only parameters.
    positional = [each.name for each in expected.values() if each.kind is not each.KEYWORD_ONLY]
    assert list(found)[: len(positional)] == positional
    for each in expected.values():
        assert found[each.name].kind is each.kind
        default = found[each.name].default
        assert default is each.default or default == each.default


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_a_known_conversion_rule_and_cost(name: str) -> None:
    function = FUNCTIONS[name]
    assert not function.rule or callable(getattr(rules, function.rule))
    assert function.cost in costs.LEAST_EDGES
    assert not function.note or function.note.endswith(".")


def test_the_documentation_lists_each_function() -> None:
    listed = set(re.findall(r"^\| `(\w+)`", names_table.PAGE.read_text("utf-8"), re.MULTILINE))
    assert listed == set(FUNCTIONS), "run tests/networkx_backend/names_table.py"


def test_networkx_shows_the_notes_of_the_function_table_in_its_docstrings() -> None:
    info = get_info()
    assert set(info["functions"]) == set(FUNCTIONS)
    pagerank: Any = nx.pagerank
    assert FUNCTIONS["pagerank"].note in pagerank.__doc__
    assert "graphla" in pagerank.backends


def test_the_backend_has_no_attribute_for_an_unknown_name() -> None:
    assert not hasattr(backend, "no_such_function")


# --- configuration --------------------------------------------------------------------------------

SETTINGS = (
    "import json, networkx as nx; c = nx.config; p = c.backend_priority; "
    "classes = getattr(p, 'classes', []); "  # NetworkX 3.6 is the first version that has it
    "print(json.dumps([p.algos, p.generators, classes, c.fallback_to_nx, "
    "c.cache_converted_graphs]))"
)


def test_autoconfig_sets_the_algorithm_priority_and_the_fallback_and_the_cache() -> None:
    assert run_program(SETTINGS) == [[], [], [], False, True]
    assert run_program(SETTINGS, GRAPHLA_AUTOCONFIG="True") == [["graphla"], [], [], True, True]


def test_autoconfig_respects_the_settings_of_the_user() -> None:
    chosen = {"GRAPHLA_AUTOCONFIG": "True", "NETWORKX_BACKEND_PRIORITY": "networkx"}
    assert run_program(SETTINGS, **chosen)[0] == ["networkx"]
    chosen = {"GRAPHLA_AUTOCONFIG": "False"}
    assert run_program(SETTINGS, **chosen)[0] == []


def test_an_unchanged_networkx_script_uses_graphla() -> None:
    program = (
        "import json, sys, networkx as nx; G = nx.path_graph(10_000); nx.pagerank(G); "
        "print(json.dumps('graphla.networkx.centrality' in sys.modules))"
    )
    assert run_program(program, NETWORKX_BACKEND_PRIORITY="graphla") is True
    assert run_program(program) is False


def test_the_device_of_the_backend_can_be_configured() -> None:
    G: Any = nx.path_graph(3)
    with config.backends.graphla(device="cpu"):
        assert backend.convert_from_nx(G).device == "cpu"
    with config.backends.graphla(device="abacus"), pytest.raises(gl.exceptions.InvalidValue):
        backend.convert_from_nx(G)


# --- should_run and can_run -----------------------------------------------------------------------


def test_small_graphs_are_not_converted_and_the_rejection_message_says_so() -> None:
    G: Any = nx.path_graph(100)
    G.__networkx_cache__ = None
    reason = backend.should_run("connected_components", (G,), {})
    assert isinstance(reason, str) and "about 96 edges" in reason
    assert backend.should_run("connected_components", (nx.path_graph(60_000),), {}) is True
    assert backend.should_run("pagerank", (), {"G": G}) is not True


def test_the_setting_min_edges_replaces_the_measured_minimum_sizes() -> None:
    G: Any = nx.path_graph(100)
    with config.backends.graphla(min_edges=0):
        assert backend.should_run("connected_components", (G,), {}) is True
    with config.backends.graphla(min_edges=1_000_000):
        assert backend.should_run("betweenness_centrality", (nx.path_graph(5000),), {}) is not True


@pytest.mark.parametrize("wrong", ["5", -1, [1], float("nan")])
def test_the_error_about_an_invalid_value_of_min_edges_names_the_setting(wrong: Any) -> None:
    with (
        config.backends.graphla(min_edges=wrong),
        pytest.raises(gl.exceptions.InvalidValue, match="min_edges is"),
    ):
        backend.should_run("triangles", (nx.path_graph(3),), {})


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_the_number_of_edges_is_estimated_within_a_factor_of_two(kind: Any) -> None:
    G = kind(nx.gnm_random_graph(500, 4000, seed=1, directed=True))
    for graph in (G, G.subgraph(range(499)), nx.subgraph_view(G)):
        assert G.number_of_edges() / 2 < costs.estimate_edges(graph, 10) < G.size() * 2
    assert costs.estimate_edges(kind(), 10) == 0


def test_the_number_of_edges_of_a_small_view_is_estimated_from_its_number_of_nodes() -> None:
    G = nx.gnm_random_graph(500, 4000, seed=1)
    assert 10 < costs.estimate_edges(G.subgraph(range(10)), 500) < 200


def test_a_rejected_call_that_names_the_backend_raises_an_error_that_gives_the_reason() -> None:
    G: Any = nx.path_graph(3)
    with pytest.raises(NotImplementedError, match="the weight is a function"):
        nx.pagerank(G, weight=lambda *edge: 1, backend="graphla")  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.usefixtures("priority")
def test_networkx_answers_the_calls_that_graphla_rejects() -> None:
    G: Any = nx.path_graph(3)
    shortest: Any = nx.shortest_path_length
    assert shortest(G, 0, 2, weight=lambda u, v, data: 5) == 10
    for u, v in pairwise(G):
        G[u][v]["weight"] = 2**70
    assert shortest(G, 0, 2, weight="weight") == 2**71


@pytest.mark.usefixtures("priority")
def test_a_rejected_call_does_not_consume_the_seed() -> None:
    G: Any = nx.karate_club_graph()
    for _, _, data in G.edges(data=True):
        data["weight"] = 2**70  # too large for graphla
    communities: Any = nx.community.louvain_communities
    found = communities(G, seed=random.Random(5))
    assert found == communities(G, seed=random.Random(5), backend="networkx")


def test_a_converted_graph_is_kept_in_the_cache_of_networkx() -> None:
    G: Any = nx.path_graph(5)
    nx.triangles(G, backend="graphla")  # pyright: ignore[reportCallIssue]
    (kept,) = G.__networkx_cache__["backends"]["graphla"].values()
    with config(warnings_to_ignore={"cache"}):
        nx.connected_components(G, backend="graphla")  # pyright: ignore[reportCallIssue]
    (same,) = G.__networkx_cache__["backends"]["graphla"].values()
    assert kept is same


def test_each_function_reads_its_own_attribute_of_a_cached_graph() -> None:
    G: Any = nx.Graph([(0, 1, {"a": 2, "b": 5}), (1, 2, {"a": 3})])
    shortest: Any = nx.shortest_path_length
    C = backend.convert_from_nx(G, preserve_edge_attrs=True)
    assert [shortest(C, 0, 2, weight=name) for name in (None, "a", "b", "c")] == [2, 5, 6, 2]


# --- graphla graphs as arguments of NetworkX functions -------------------------------------------


def test_the_error_about_a_function_that_graphla_lacks_names_the_fallback() -> None:
    G: Any = gl.Graph.from_edges([(0, 1), (1, 2)])
    assert "is_planar" not in FUNCTIONS
    with pytest.raises(NotImplementedError, match="fallback_to_nx"):
        nx.is_planar(G)
    with config(fallback_to_nx=True):
        assert nx.is_planar(G)


def test_a_matrix_is_not_accepted_as_a_graph_of_the_backend() -> None:
    A: Any = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    assert not hasattr(A, "__networkx_backend__") and not hasattr(A, "is_directed")


def test_the_exception_of_networkx_is_raised_if_an_iteration_does_not_converge() -> None:
    G: Any = nx.gnm_random_graph(30, 60, seed=1, directed=True)
    with pytest.raises(nx.PowerIterationFailedConvergence, match="within 1 iterations"):
        nx.pagerank(G, max_iter=1, tol=1e-15, backend="graphla")  # pyright: ignore[reportCallIssue]
