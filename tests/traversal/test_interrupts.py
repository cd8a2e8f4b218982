"""Ctrl-C in the midst of a traversal on the CPU."""

from __future__ import annotations

import pytest
from interrupting import run


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_an_interrupt_ends_a_traversal(name: str):
    pytest.importorskip("numba")  # without it a traversal is Python, which hears of it by itself
    assert run("cpu", 4_000_000, name).split() == ["stopped", "done"]
