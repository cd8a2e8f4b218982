"""Run every algorithm with NumPy alone, then with compiled loops; or once, on CUDA."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from devices import DEVICE

import graphla as gl

ENGINES = ["cuda"] if DEVICE == "cuda" else ["numpy", "compiled"]


@pytest.fixture(scope="module", params=ENGINES, autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run each module with NumPy alone, then with compiled loops; or once, on CUDA."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    with gl.config.set(compiled=request.param == "compiled"):
        yield request.param
