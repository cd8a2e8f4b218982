"""Find NVIDIA GPUs, and report what is missing if they cannot be used.

The number of GPUs is read from the driver, without importing CuPy. This takes 3 ms.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

INSTALL = 'pip install "graphla[cuda13]" (or "graphla[cuda12]", as `nvidia-smi` shows the driver)'
LEAST = 75
"""The minimum compute capability that our kernels need, times 10: 75 means 7.5 (Turing)."""


@cache
def count() -> int:
    """Return the number of GPUs that this process may use, or 0 if there is no NVIDIA driver."""
    driver, found = _driver(), ctypes.c_int()
    if driver is None or driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(found)):
        return 0
    return found.value


def has_cupy() -> bool:
    """Return whether CuPy is installed, without importing it."""
    try:
        return "cupy" in sys.modules or find_spec("cupy") is not None
    except ImportError:
        return False


def find_problem() -> str | None:
    """Return a message if the GPUs cannot be used, otherwise None.

    The message explains the reason, and what to install.
    """
    try:
        from cupy.cuda import nvrtc, runtime
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cupy":
            return f"CuPy does not import ({error}); install it anew: {INSTALL}"
        return f"CuPy is not installed: {INSTALL}"
    except ImportError as error:
        return f"CuPy does not import ({error}); install it anew: {INSTALL}"
    try:
        runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        return _trouble(error)
    try:
        nvrtc.getVersion()
    except Exception as error:  # loading CuPy may raise any error
        return (
            f"the CUDA compiler NVRTC is not found ({error}): "
            'pip install "cupy-cuda13x[ctk]" (or "cupy-cuda12x[ctk]")'
        )
    return None


def _trouble(error: Any) -> str:
    """Return an explanation of an error that the driver reports."""
    if _driver() is None:
        return (
            "no NVIDIA driver is installed (libcuda.so.1 is not found): install the driver from "
            "nvidia.com/drivers, after which `nvidia-smi` lists the card; in a container, start "
            "it with --gpus all"
        )
    if error.status == 100:
        return (
            "the driver shows no card: see `nvidia-smi`, and whether CUDA_VISIBLE_DEVICES hides it"
        )
    if error.status == 35:
        return (
            "the NVIDIA driver is older than the CUDA that CuPy was built for: update the "
            'driver, or pip install "graphla[cuda12]" in the place of cuda13'
        )
    return f"the driver refuses: {error}; see whether `nvidia-smi` works"


@cache
def _driver() -> Any:
    """Return the driver's shared library, or None if it cannot be loaded."""
    try:
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
