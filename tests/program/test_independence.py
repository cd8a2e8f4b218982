"""Compiled loops use no algorithm of the library, and each is one launch on a GPU."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import graphla as gl
from graphla.program import running
from graphla.program.ir import Program
from graphla.program.running import Arguments, Outcome

pytest.importorskip("networkx")
from test_jit_programs import CHECKS, programs

HANDMADE = [
    *("bfs", "betweenness", "closure", "coloring", "communities", "components", "cores"),
    *("forest", "matching", "multi_source_bfs", "pagerank", "strong_components"),
]
"""The modules of each backend that contain a hand-written algorithm."""

OPERATIONS = ["spmv", "spmspv", "spgemm", "ewise", "apply", "select", "assign", "extract"]
"""The modules of each backend with single operations, which a compiled loop does not call."""

NAMES = [
    *("bfs", "bfs_own_semiring", "bfs_with_paths", "shortest_paths_by_frontier", "components"),
    *("betweenness_by_levels", "core_numbers_by_frontier", "independent_set", "pagerank", "katz"),
]

PACKAGE = Path(gl.__file__).parent


def refuse(*args: Any, **options: Any) -> Any:
    raise AssertionError("a compiled loop calls an algorithm or an operation of the library")


@contextmanager
def library_refused(kind: str) -> Iterator[None]:
    """Make each algorithm and each operation on vectors, except conversions, raise an error."""
    with pytest.MonkeyPatch.context() as patch:
        backend = import_module(f"graphla.backends.{kind}.backend")
        for name in HANDMADE + OPERATIONS:
            module = import_module(f"graphla.backends.{kind}.{name}")
            for each, value in vars(module).items():
                is_own = inspect.isfunction(value) and value.__module__ == module.__name__
                if is_own and not each.startswith("_") and vars(backend).get(each) is value:
                    patch.setattr(module, each, refuse)
                    patch.setattr(backend, each, refuse)
        for package in ("algorithms", "traversal"):
            module = import_module(f"graphla.{package}")
            for each, value in list(vars(module).items()):
                if inspect.isfunction(value):
                    patch.setattr(module, each, refuse)
        yield


class Alone:
    """An engine that runs programs while the algorithms of the library raise errors."""

    def __init__(self, engine: Any, kind: str) -> None:
        self.engine, self.kind, self.runs = engine, kind, 0

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        self.runs += 1
        with library_refused(self.kind):
            return self.engine.run(program, arguments)


@pytest.mark.cpu
@pytest.mark.parametrize("name", NAMES)
def test_a_loop_printed_for_numba_uses_no_algorithm_of_the_library(name: str):
    plain_numba = pytest.importorskip("plain_numba", exc_type=ImportError)
    from graphla.program import cpu

    load = plain_numba.load
    printed = SimpleNamespace(run=lambda program, given: cpu.run(program, given, load))
    engine = Alone(printed, "cpu")
    with running.use(engine):
        CHECKS[name](gl.jit(programs.PROGRAMS[name]))
    assert engine.runs


def imported(module: Path) -> set[str]:
    """Return the names of the modules that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


MODULES = [
    *(PACKAGE / "program").glob("*.py"),
    *(PACKAGE / "backends").glob("*/program*.py"),
    PACKAGE / "backends" / "cpu" / "loops" / "program.py",
]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: "/".join(path.parts[-2:]))
def test_no_module_of_the_compiler_imports_an_algorithm(module: Path):
    names = imported(module)
    handmade = {f"graphla.backends.{kind}.{name}" for kind in ("cpu", "cuda") for name in HANDMADE}
    assert not names & handmade
    assert not any(name.startswith(("graphla.algorithms", "graphla.traversal")) for name in names)


def included(file: Path, found: set[str]) -> set[str]:
    """Return the names of the CUDA files that a file includes, directly or indirectly."""
    for name in re.findall(r'#include "([^"]+)"', file.read_text()):
        path = file.parent / name
        if name not in found and path.exists():
            found.add(name)
            included(path, found)
    return found


def test_the_device_code_of_compiled_loops_includes_no_algorithm():
    files = included(PACKAGE / "backends" / "cuda" / "program.cuh", {"program.cuh"})
    stems = {Path(name).stem.split("_")[0] for name in files}
    assert not stems & set(HANDMADE), files
