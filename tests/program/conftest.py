"""Share the engine that counts the programs it runs with the tests of `gl.jit`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jitting import Counting, compiling


@pytest.fixture
def engine() -> Iterator[Counting]:
    with compiling() as engine:
        yield engine
