"""Simulate CUDA and CuPy on the CPU, so that the `cuda` backend runs without a GPU.

    import simulator
    simulator.install()          # before anything imports CuPy
    import cupy                  # the simulated CuPy

The seed is `machine.seed`, or GRAPHLA_SIMULATOR_SEED. GRAPHLA_SIMULATOR=plain|asan|tsan selects
the mode.
"""

from __future__ import annotations

import sys

from .machine import SimulatorFault, machine

__all__ = ["SimulatorFault", "install", "machine"]


def install() -> None:
    """Register the simulated modules as `cupy` and `cupyx`."""
    from . import cupy, cupyx

    theirs = sys.modules.get("cupy")
    if theirs is not None and theirs is not cupy:
        raise RuntimeError("the real CuPy has been imported already")
    mine = f"{cupy.__name__}."
    known = {name: module for name, module in sys.modules.items() if name.startswith(mine)}
    sys.modules["cupy"] = cupy
    for name, module in known.items():
        sys.modules[f"cupy.{name.removeprefix(mine)}"] = module
    sys.modules["cupyx"] = cupyx
