"""Set up the `cuda` backend for these tests, on a GPU or on the simulated GPU.

The marker `gpu` is for tests that only a real GPU can run.
"""

from __future__ import annotations

import os

import pytest
from devices import has_cuda, use_cuda

use_cuda()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """If there is neither a GPU nor g++, skip all tests except those that only compile kernels."""
    if has_cuda() or os.environ.get("CI"):
        return
    for item in items:
        if "gpu" in item.path.parts and item.path.name != "test_compile.py":
            item.add_marker(pytest.mark.skip(reason="no card, and no g++ to simulate one"))
