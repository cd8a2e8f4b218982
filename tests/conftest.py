"""Hypothesis profiles, the marks `full` and `gpu`, and the compiled backend as a fixture."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import graphla as gl

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile(
    "nightly", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=slow
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def numba() -> None:
    """Skips where Numba is not installed."""
    pytest.importorskip("numba")


@pytest.fixture(scope="module")
def compiled(numba: None) -> Iterator[None]:
    """Runs a module's tests on the compiled loops, however small the operands."""
    with gl.config.set(compiled=True):
        yield
