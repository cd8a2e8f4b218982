"""Hypothesis profiles, and a fixture for both kinds of loops: NumPy's and those compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import graphla as gl

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", max_examples=150, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile(
    "nightly", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=slow
)
settings.register_profile(
    "quick", max_examples=20, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="module", params=["numpy", "numba"])
def loops(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test of a module runs on NumPy and, where it is installed, compiled by Numba."""
    if request.param == "numba":
        pytest.importorskip("numba")
    with gl.config.set(compiled=request.param == "numba", threads=2):
        yield
