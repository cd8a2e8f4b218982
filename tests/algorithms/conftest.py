"""Run every algorithm on the CPU, with NumPy alone and with compiled loops; or on CUDA."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from devices import DEVICE

import graphla as gl

ENGINES = ["cuda"] if DEVICE == "cuda" else ["numpy", "compiled"]


@pytest.fixture(scope="module", params=ENGINES, autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """On the CPU, run each test module with NumPy alone and with compiled loops; on CUDA, once.

    With NumPy alone, no graph counts as small, so that tiny graphs are not computed with dense
    arrays. With compiled loops, tiny graphs may be computed with dense arrays.
    """
    if request.param == "compiled":
        pytest.importorskip("numba")
        with gl.config.set(compiled=True):
            yield request.param
    else:
        with gl.config.set(compiled=False, compile_threshold=0):
            yield request.param
