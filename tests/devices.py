"""Choose where the tests run: on the CPU, on a GPU, or on a simulated GPU.

GRAPHLA_TEST_DEVICE=cuda selects a GPU. If the machine has no GPU, or if GRAPHLA_SIMULATOR is plain,
asan or tsan, the tests use the simulator instead, which replaces CuPy in every test process.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from functools import cache

from hypothesis import settings

DEVICE = os.environ.get("GRAPHLA_TEST_DEVICE", "cpu")


@cache
def has_card() -> bool:
    """Return whether the tests use a real GPU: one exists, and GRAPHLA_SIMULATOR is not set."""
    if os.environ.get("GRAPHLA_SIMULATOR"):
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 < count.value


def has_cuda() -> bool:
    """Return whether the `cuda` backend can run, on a GPU or in the simulator (which needs g++)."""
    return has_card() or shutil.which(os.environ.get("CXX", "g++")) is not None


def fewer(part: int) -> settings:
    """Return settings for slow property tests.

    The number of examples is the default divided by `part`, but at least 10.
    """
    given = settings.default
    assert given is not None
    return settings(max_examples=max(10, given.max_examples // part))


def use_cuda() -> None:
    """Replace CuPy with the simulator, unless a real GPU is used."""
    if not has_card():
        import simulator

        simulator.install()
