"""Where the tests run: on the CPU, or (GRAPHLA_TEST_DEVICE=cuda) on a card or a simulated one.

A machine without a card, or GRAPHLA_SIMULATOR=plain|asan|tsan, means the simulator: its look-alike
of CuPy takes the place of CuPy, in every test process.
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
    """Whether the tests may use a card: there is one, and nobody asked for the simulator."""
    if os.environ.get("GRAPHLA_SIMULATOR"):
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 < count.value


def has_cuda() -> bool:
    """Whether the `cuda` backend can run, if only in the simulator, which needs g++."""
    return has_card() or shutil.which(os.environ.get("CXX", "g++")) is not None


def fewer(part: int) -> settings:
    """For a property whose examples take long: that part of those that others are given."""
    given = settings.default
    assert given is not None
    return settings(max_examples=max(10, given.max_examples // part))


def use_cuda() -> None:
    """Puts the simulator in the place of CuPy, unless there is a card."""
    if not has_card():
        import simulator

        simulator.install()
