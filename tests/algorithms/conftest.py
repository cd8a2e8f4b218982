"""Run every algorithm on the CPU, with NumPy alone and with compiled loops; or on CUDA."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from devices import DEVICE

import graphla as gl

ENGINES = ["cuda"] if DEVICE == "cuda" else ["numpy", "compiled"]


@pytest.fixture(scope="module", params=ENGINES, autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run each test module twice on the CPU (NumPy alone, compiled loops), and once on CUDA.

    In the run with NumPy alone, no graph counts as small. So only the run with compiled loops may
    use the dense arrays with which algorithms process tiny graphs.
    """
    if request.param == "compiled":
        pytest.importorskip("numba")
        with gl.config.set(compiled=True):
            yield request.param
    else:
        with gl.config.set(compiled=False, compile_threshold=0):
            yield request.param
