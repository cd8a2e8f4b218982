"""CUDA kernels and CuPy, simulated: the `cuda` backend runs on a CPU, and its faults are caught.

    import simulator
    simulator.install()          # before anything imports CuPy
    import cupy                  # the look-alike

Seeds: `machine.seed`, or GRAPHLA_SIMULATOR_SEED. Modes: GRAPHLA_SIMULATOR=plain|asan|tsan.
"""

from __future__ import annotations

import sys

from .machine import SimulatorFault, machine

__all__ = ["SimulatorFault", "install", "machine"]


def install() -> None:
    """Puts the look-alikes in the place of `cupy` and `cupyx`."""
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
