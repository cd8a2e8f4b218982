"""Provide the tests of `gl.jit` with an engine that records the programs that it runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jitting import Counting, compiling


@pytest.fixture
def engine() -> Iterator[Counting]:
    with compiling() as engine:
        yield engine
