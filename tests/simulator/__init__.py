"""Simulate CuPy and CUDA kernels, so that the `cuda` backend runs on a CPU and reports faults.

    import simulator
    simulator.install()          # before anything imports CuPy
    import cupy                  # the simulated CuPy

`machine.seed` or GRAPHLA_SIMULATOR_SEED sets the seed. GRAPHLA_SIMULATOR sets the mode, which is
plain, asan or tsan.
"""

from __future__ import annotations

import sys

from .machine import SimulatorFault, machine

__all__ = ["SimulatorFault", "install", "machine"]


def install() -> None:
    """Replace the modules `cupy` and `cupyx` with modules that simulate them."""
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
