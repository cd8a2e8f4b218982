"""Test that Ctrl-C ends a traversal on the CPU."""

from __future__ import annotations

import pytest
from interrupting import run


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_an_interrupt_ends_a_traversal_on_the_cpu(name: str):
    # Without Numba, a traversal is Python code, which handles Ctrl-C itself.
    pytest.importorskip("numba")
    assert run("cpu", 4_000_000, name).split() == ["stopped", "done"]
