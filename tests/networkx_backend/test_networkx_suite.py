"""Run NetworkX's own tests with the backend; see `run_networkx_tests.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphla.networkx.selections import VERSION
from networkx_backend.run_networkx_tests import find_failures_without_graphla, run
from networkx_backend.valid_answers import VALID

FEW = [
    "algorithms/components",
    "algorithms/link_analysis/tests/test_pagerank.py",
    "algorithms/shortest_paths/tests/test_unweighted.py",
    "algorithms/tests/test_core.py",
    "algorithms/tests/test_dag.py",
    "algorithms/traversal/tests/test_bfs.py",
    "tests/test_convert_numpy.py",
]
"""Tests of several families of functions, which take a few seconds."""


def check(paths: list[str], record: Path) -> Any:
    """Run the tests; assert that no answer differs, and that no test fails because of graphla."""
    found = run(paths, str(record))
    differing = {name: each for name, each in found["examples"].items() if each}
    assert not differing
    failed = set(found["failed"]) - set(VALID)
    assert failed <= (find_failures_without_graphla(sorted(failed)) if failed else set())
    return found


@pytest.mark.cpu
def test_each_answer_in_a_part_of_the_networkx_tests_agrees_with_networkx(tmp_path: Path) -> None:
    if VERSION < (3, 6):
        pytest.skip("the chosen tests are those of NetworkX 3.6")
    found = check(FEW, tmp_path / "record.json")
    assert len(found["touched"]) > 100


@pytest.mark.full
@pytest.mark.cpu
def test_each_answer_in_all_of_the_networkx_tests_agrees_with_networkx(tmp_path: Path) -> None:
    found = check(["."], tmp_path / "record.json")
    assert len(found["touched"]) >= 1500
    assert len(VALID) <= 25
