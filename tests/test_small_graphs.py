"""Test that small operands use compiled loops only if the loops are loaded or in the cache on disk.

A Recorder shows which code ran. The definition of an algorithm records its matrix operations. A
compiled loop records none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import algorithms as algo
from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import machine_code, numba

pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(not numba.is_installed(), reason="Numba is not installed"),
    pytest.mark.skipif(
        not machine_code.is_supported(), reason="Numba loads loops on this platform"
    ),
]
SMALL = gl.generators.watts_strogatz(16, 4, 0.3, seed=1)

# The program makes three calls: it computes core numbers, runs a loop under `gl.jit`, and runs the
# same loop as a loop of the library. The program prints which calls ran as matrix operations, what
# the calls returned, and which compilers were imported.
PROGRAM = """
import sys

import graphla as gl
from graphla import algorithms as algo
from graphla.program.jit import jit_if_large


def spread(A, x):
    for _ in range(3):
        x << gl.semiring.max_second(A @ x)
    return x


def call_all():
    A = gl.generators.watts_strogatz(16, 4, 0.3, seed=1)
    ran = []
    for call in (
        lambda: algo.core_numbers(A).to_dense().tolist(),
        lambda: gl.jit(spread)(A, gl.Vector.from_dense(list(range(16)))).to_dense().tolist(),
        lambda: jit_if_large(spread)(A, gl.Vector.from_dense(list(range(16)))).to_dense().tolist(),
    ):
        with gl.Recorder() as recorder:
            found = call()
        operations = {event.operation for event in recorder}
        ran.append((bool(operations & {"mxv", "vxm", "push", "pull"}), found))
    return ran


if "fill" in sys.argv:
    with gl.config.set(compile_threshold=0):
        before = call_all()
else:
    before = call_all()
print([is_plain for is_plain, _ in before])
print([found for _, found in before])
print([name for name in ("llvmlite", "numba") if name in sys.modules])
"""


def run(program: Path, folder: Path, *arguments: str) -> list[Any]:
    """Return what the program prints in a new process with this cache folder."""
    root = Path(__file__).parent.parent
    environment = {**os.environ, "GRAPHLA_CACHE_DIR": str(folder), "PYTHONPATH": str(root)}
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [eval(line) for line in done.stdout.splitlines()]


def test_small_graphs_use_loops_from_the_cache_and_never_wait_for_a_compilation(
    tmp_path: Path,
) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "cache"
    program.write_text(PROGRAM)
    is_plain, plain, imported = run(program, folder)
    assert is_plain == [True] * 3
    assert not imported and not list(folder.iterdir()), "nothing is compiled"
    is_plain, compiled, imported = run(program, folder, "fill")
    assert is_plain == [False] * 3 and imported == ["llvmlite", "numba"]
    is_plain, loaded, imported = run(program, folder)
    assert is_plain == [False] * 3 and imported == ["llvmlite"]
    assert plain == compiled == loaded


# --- in this process ------------------------------------------------------------------------------


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Discard all loaded loops, and do not look for machine code in the cache folder."""
    monkeypatch.setattr(numba, "_loaded", {})
    monkeypatch.setattr(numba, "_absent", set())
    monkeypatch.setattr(numba, "_cached_files", set)


def count_records(call: Callable[[], Any]) -> int:
    with gl.Recorder() as recorder:
        call()
    return len(recorder.events)


def count_cores() -> Any:
    return algo.core_numbers(SMALL)


def test_small_graphs_use_a_loop_once_a_large_graph_has_caused_its_compilation(empty: None) -> None:
    assert count_records(count_cores) > 0
    with gl.config.set(compile_threshold=SMALL.nvals):
        assert count_records(count_cores) == 0
    assert count_records(count_cores) == 0


def test_the_values_false_and_true_of_the_setting_compiled_also_apply_to_small_graphs(
    empty: None,
) -> None:
    with gl.config.set(compiled=True):
        assert count_records(count_cores) == 0
    with gl.config.set(compiled=False):
        assert count_records(count_cores) > 0
    assert count_records(count_cores) == 0


def test_a_function_is_called_again_without_compiled_loops_if_a_loop_is_missing(
    empty: None,
) -> None:
    threads = []

    @try_loops
    def compute(entries: int) -> str:
        threads.append(compiles(entries))
        if threads[-1]:
            numba.load("cores.peel", (), [np.zeros(1)])
        return "plain"

    assert compute(10) == "plain"
    assert threads == [gl.config.threads, 0]
    assert numba.policy.may_compile, "later loops of this thread wait again"
    with gl.config.set(compile_threshold=100):
        threads.clear()
        with pytest.raises(Exception, match=r"could not compile|unpack"):
            compute(100)  # this call compiles the loop, which fails
        assert threads == [gl.config.threads]


# --- the same results with and without loops ------------------------------------------------------

CALLS: dict[str, Callable[[gl.Matrix], Any]] = {
    "adamic_adar": algo.adamic_adar,
    "asyn_lpa_communities": lambda A: algo.asyn_lpa_communities(A, seed=1),
    "betweenness": algo.betweenness,
    "bfs": lambda A: algo.bfs(A, 0).levels,
    "biconnected_components": algo.biconnected_components,
    "closeness": algo.closeness,
    "average_neighbor_degree": algo.average_neighbor_degree,
    "clustering": algo.clustering,
    "connected_components": algo.connected_components,
    "constraint": algo.constraint,
    "core_numbers": algo.core_numbers,
    "eccentricity": algo.eccentricity,
    "eigenvector": lambda A: algo.eigenvector(A, max_iter=1000, tol=1e-13),
    "greedy_color": algo.greedy_color,
    "greedy_modularity_communities": algo.greedy_modularity_communities,
    "hits": lambda A: algo.hits(A, tol=1e-13).hubs,
    "jaccard": algo.jaccard,
    "k_core": lambda A: algo.k_core(A, 2),
    "katz": lambda A: algo.katz(A, 0.05, tol=1e-13),
    "label_propagation": algo.label_propagation,
    "label_propagation_communities": algo.label_propagation_communities,
    "leiden": lambda A: algo.leiden(A, seed=1),
    "louvain": lambda A: algo.louvain(A, seed=1),
    "maximal_independent_set": lambda A: algo.maximal_independent_set(A, seed=1),
    "maximal_matching": lambda A: algo.maximal_matching(A, seed=1),
    "pagerank": lambda A: algo.pagerank(A, tol=1e-13),
    "path_count": lambda A: algo.path_count(A, 0),
    "spanning_forest": algo.spanning_forest,
    "square_clustering": algo.square_clustering,
    "sssp": lambda A: algo.sssp(A, 0).distances,
    "strong_components": algo.strong_components,
    "triangles": algo.triangles,
    "truss_numbers": algo.truss_numbers,
    "weighted clustering": lambda A: algo.clustering(A, weight=True),
    "weighted lengths": lambda A: algo.all_pairs_lengths(A, weight=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_of_small_graphs_do_not_depend_on_the_cache(name: str) -> None:
    sizes = (1, 0, 4), (7, 9, 3), (16, 40, 10), (70, 200, 100)  # vertices, edges, greatest weight
    for seed, (n, edges, greatest) in enumerate(sizes):
        rng = np.random.default_rng(seed)
        i, j = rng.integers(0, n, (2, edges))
        keys = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
        i, j = keys[keys // n != keys % n] // n, keys[keys // n != keys % n] % n
        weights = rng.integers(1, greatest, i.size)
        rows, columns = np.concatenate((i, j)), np.concatenate((j, i))
        A = gl.Matrix.from_coo(rows, columns, np.tile(weights, 2), nrows=n, ncols=n)
        with gl.config.set(compiled=False, compile_threshold=0):
            expected = CALLS[name](A)
        for settings in ({}, {"compiled": True}, {"compiled": True, "compile_threshold": 0}):
            if settings.get("compile_threshold") == 0 and name in ("eigenvector", "hits"):
                continue  # other tests compile these programs
            with gl.config.set(**settings):
                found = CALLS[name](A)
            assert found.dtype == expected.dtype
            if found.dtype.is_float:
                assert found.isclose(expected, rel_tol=1e-9, abs_tol=1e-9), (name, n, settings)
            else:
                assert found.isequal(expected), (name, n, settings)
