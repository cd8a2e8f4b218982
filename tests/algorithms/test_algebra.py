"""Test the public names of the algorithms package, and the definitions behind device loops."""

from __future__ import annotations

import ast
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla import algorithms
from graphla.algorithms._shared.membership import lookup, selection
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.compilers.numba import is_installed
from graphla.operations.accelerate import Contraction, Degrees, accelerated
from semirings.semiring import any_second, plus_first

ROOM = Path(algorithms.__path__[0])
FILES = sorted(ROOM.glob("[a-z]*.py"))
BELOW = ("graphla.backends", "graphla.stores", "graphla.formats", "graphla.compilers")


def imports(file: Path) -> set[str]:
    """Return the modules that a file imports."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return names | {
        each.name for node in nodes if isinstance(node, ast.Import) for each in node.names
    }


def test_the_algorithms_package_exports_only_algorithms():
    assert sorted(dir(algorithms)) == sorted(algorithms.__all__)
    homes = {getattr(algorithms, name).__module__ for name in algorithms.__all__}
    assert {f"graphla.algorithms.{file.stem}" for file in FILES} <= homes


@pytest.mark.parametrize("file", sorted(ROOM.rglob("*.py")), ids=lambda file: file.stem)
def test_algorithm_modules_import_no_layer_below_the_operations(file):
    assert not [name for name in imports(file) if name.startswith(BELOW)]


def calls_accelerated(file: Path) -> bool:
    nodes = ast.walk(ast.parse(file.read_text()))
    return any(isinstance(node, ast.Name) and node.id == "accelerated" for node in nodes)


@pytest.mark.parametrize("file", list(filter(calls_accelerated, FILES)), ids=lambda file: file.stem)
def test_each_algorithm_with_a_device_loop_also_has_an_algebraic_definition(file):
    module = import_module(f"graphla.algorithms.{file.stem}")
    assert module.definition.__module__ == module.__name__


class Missing:
    """A request that no device implements, so its `run` returns None."""

    def run(self) -> Any:
        return None


def test_the_definition_of_an_algorithm_runs_if_no_device_has_a_loop_for_it():
    assert accelerated(Missing(), lambda: "algebra") == "algebra"
    A = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    found = accelerated(Degrees(A), partial(pytest.fail, "the device has this loop"))
    assert found.to_dense().tolist() == [1, 0]


@settings(max_examples=30)
@given(graphs(), st.booleans())
def test_degrees_equal_the_result_of_their_algebraic_definition(graph, of_columns):
    from graphla.algorithms.degree import definition, edges_in, edges_out

    A = graph.matrix()
    found = (edges_in if of_columns else edges_out)(A)
    assert found.isequal(definition(A, of_columns), check_dtype=True)


@settings(max_examples=30)
@given(graphs(weights=st.integers(0, 9), dtype="FP64"), st.data())
def test_a_contracted_graph_equals_a_product_with_the_membership_matrix(graph, data):
    contract = import_module("graphla.algorithms.louvain").contract
    A, n = graph.matrix(), graph.n
    A = gl.binary.plus(A | A.T).new()
    drawn = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    labels = gl.Vector.from_dense(np.array(drawn, np.int64))
    expected = contract(A, selection(labels))
    for compiled, threads in ((False, 1), *(((True, 1), (True, 3)) if is_installed() else ())):
        with gl.config.set(compiled=compiled, threads=threads), using(PartsTuning(parallel=1)):
            assert Contraction(A, labels, n).run().isequal(expected)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_looking_up_labels_equals_a_product_with_the_membership_matrix(drawn):
    labels, values = gl.Vector.from_dense(drawn), gl.Vector.from_dense([5, 3, 8, 1, 9])
    found = lookup(labels, values)
    assert found.isequal(any_second(selection(labels, 5) @ values).new())


@settings(max_examples=10)
@given(st.integers(0, 4), st.integers(1, 40), st.sampled_from(("INT32", "INT64")))
def test_a_single_label_for_all_vertices_gives_a_selection_with_one_nonempty_column(
    label, n, dtype
):
    labels = gl.Vector.from_scalar(label, n, dtype)  # the vector stores one value, not n values
    S = selection(labels, 5)
    assert S.to_dicts() == {i: {label: True} for i in range(n)}
    u, v = gl.Vector.from_dense(np.arange(n) + 1), gl.Vector.from_dense([5, 3, 8, 1, 9])
    assert plus_first(u @ S).new().to_dict() == {label: n * (n + 1) // 2}
    assert any_second(S @ v).new().to_dict() == dict.fromkeys(range(n), [5, 3, 8, 1, 9][label])
