"""Test that an interrupt (Ctrl-C) ends a traversal on a GPU."""

from __future__ import annotations

import pytest
from devices import has_card
from traversal.interrupting import run


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_an_interrupt_ends_a_traversal_on_a_gpu(name: str):
    assert has_card()
    assert run("cuda", 1_000_000, name).split() == ["stopped", "done"]
