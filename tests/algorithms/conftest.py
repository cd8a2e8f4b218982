"""Every algorithm on NumPy alone, and compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import graphla as gl


@pytest.fixture(scope="module", params=["numpy", "compiled"], autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs each module twice: by NumPy alone, and on the compiled loops however small the graph."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    with gl.config.set(compiled=request.param == "compiled"):
        yield request.param
