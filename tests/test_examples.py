"""Run each example script, and check its output."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from effort import is_full

import graphla as gl
from graphla.compilers.numba import is_installed

ROOT = Path(__file__).parent.parent


@pytest.fixture
def run_here(tmp_path, monkeypatch, capsys) -> Callable[..., str]:
    """Return a function that runs an example script in this process, because a new process is slow.

    In `make test`, the script runs with NumPy alone, so that no loops have to be compiled.
    """

    def run_script(script: str, *arguments: Any) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(ROOT / "examples")
        monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
        with gl.config.set(compiled=is_full() and is_installed()), warnings.catch_warnings():
            warnings.simplefilter("default")  # show warnings as a new process would
            runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
        return capsys.readouterr().out

    return run_script


def run(script: str, *arguments: Any, cwd: Path) -> str:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_bfs_example_prints_correct_levels(tmp_path):
    text = run("bfs_as_algebra.py", cwd=tmp_path)
    assert "264,346 of 264,346 crossings are reachable from 0, in 620 levels" in text
    assert "a shortest path from 1000 to 0: 19 roads" in text


def test_the_semiring_example_prints_correct_results(tmp_path):
    text = run("own_semiring.py", cwd=tmp_path)
    assert text.count("holds on [0, 1]") == 2
    assert "Finn  believes the rumor with 0.675, heard from Eve" in text


def test_the_routes_example_prints_correct_routes(tmp_path):
    text = run("routes.py", cwd=tmp_path)
    assert "shortest          800 m  via depot - market - bridge - harbor" in text
    assert "most reliable  0.9411    via depot - mill - school - harbor" in text
    assert text.count("without the market") == 4


# For each script, the lines that it prints and the name of its picture.
SCRIPTS = [
    ("arbitrage.py", ["no cycle makes a profit", "1,000 SEK become 1,003.99 SEK"], None),
    ("cheapest_network.py", ["10,531 km connect all 32"], "cheapest_network"),
    ("chip.py", ["19 of 22 nets are wired, with 1,596 cells"], "chip"),
    (
        "clubs.py",
        ["4 groups, modularity 0.4", "real split     2 groups, modularity 0.358"],
        "clubs",
    ),
    ("cores.py", ["The innermost core has 79 vertices, with core number 44"], "cores"),
    ("cpu_and_gpu.py", ["16,384 vertices, 213,166 edges", "triangles"], None),
    (
        "epidemic.py",
        ["       10%     85.7%          95.3%         40        76", "The first row took"],
        None,
    ),
    ("isochrones.py", ["60 minutes:   61,265,  23.2% of all"], "isochrones"),
    (
        "mountain_pass.py",
        ["shortest  12.59 km, highest point 2,209 m", "lowest    13.95 km, highest point 1,481 m"],
        "mountain_pass",
    ),
    ("patterns.py", ["roads of New York            264,346     730,100"], "patterns"),
    (
        "ranking.py",
        [
            "530 ordered pairs of strangers have a friend in common",
            "    31        6       8 (3/8)      23 (3/8)      14 (2/6)",
            "The most similar strangers: 14 and 15, who share 2 of 2 friends",
        ],
        None,
    ),
    ("resilience.py", ["R-MAT: 2,019 vertices", "     25%                    80.6%"], "resilience"),
    ("rumor.py", ["      5%     89.5%           104               679", "The last row took"], None),
    ("six_degrees.py", ["   1.00%              8.33               19       0.653"], "six_degrees"),
    (
        "who_matters.py",
        ["51 B          72 A          51 B          42 A         365 A"],
        "who_matters",
    ),
    (
        "toll.py",
        ["best                184        362      340", "The loads took"],
        None,
    ),
    ("timetable.py", ["60 courses, 526 clashing pairs", "11 hours are enough"], "timetable"),
]


@pytest.mark.parametrize(
    ("script", "said", "picture"), SCRIPTS, ids=[script for script, _, _ in SCRIPTS]
)
def test_each_example_script_prints_the_expected_lines(tmp_path, run_here, script, said, picture):
    text = run_here(script)
    assert all(line in text for line in said), text
    if picture and find_spec("matplotlib"):
        assert (tmp_path / "out" / f"{picture}.png").read_bytes().startswith(b"\x89PNG")


def test_every_example_script_has_a_test():
    named = (ROOT / "tests" / "test_examples.py").read_text(encoding="utf-8")
    scripts = {path.name for path in (ROOT / "examples").glob("*.py")} - {"picture.py"}
    assert all(f'"{script}"' in named for script in scripts)


def test_the_demo_searches_a_graph_with_few_levels_and_draws_rings(tmp_path):
    pytest.importorskip("matplotlib")
    text = run("demo.py", "karate", "--source", 16, cwd=tmp_path)
    assert "graph     karate: 34 vertices, 78 edges" in text
    assert "reached   34 vertices in 6 levels" in text
    assert "(78 undirected edges of the component, each once)" in text
    assert (tmp_path / "out" / "karate.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_searches_a_graph_with_many_levels_and_draws_a_map(tmp_path):
    pytest.importorskip("matplotlib")
    gl.io.write(tmp_path / "grid.mtx", gl.generators.grid(40, 30))
    text = run("demo.py", "grid.mtx", "--source", 0, "--output", "picture.png", cwd=tmp_path)
    assert "reached   1,200 vertices in 69 levels" in text
    assert "farthest  vertex 1199, 68 edges away" in text
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("edges", ["0 0\n", "0 1\n", "0 1\n1 0\n2 3\n", "0 1\n1 2\n2 0\n3 0\n"])
def test_the_demo_accepts_tiny_graphs(tmp_path, run_here, edges):
    pytest.importorskip("matplotlib")
    (tmp_path / "tiny.txt").write_text(edges)
    text = run_here("demo.py", "tiny.txt")
    assert "out-edges reached" in text or "undirected edges" in text


def test_the_demo_rejects_input_that_is_not_a_graph(tmp_path):
    for name, content in (("wide.mtx", "1 2 1\n1 1\n"), ("none.mtx", "2 2 0\n")):
        head = "%%MatrixMarket matrix coordinate pattern general\n"
        (tmp_path / name).write_text(head + content)
        with pytest.raises(AssertionError, match="demo: "):
            run("demo.py", name, cwd=tmp_path)
