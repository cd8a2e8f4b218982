"""Measuring on the CPU: the machine in a line, and the least time of a few calls."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import graphla as gl


def milliseconds(call: Callable[[], Any], trials: int = 5) -> float:
    """The least of so many calls, after one that is not counted."""
    call()
    best = float("inf")
    for _ in range(trials):
        begin = perf_counter()
        call()
        best = min(best, perf_counter() - begin)
    return 1e3 * best


def machine(*libraries: str) -> str:
    """The processor, its cores, and the versions of Python, graphla and these."""
    versions = ", ".join(f"{name} {_version(name)}" for name in libraries)
    return (
        f"{processor()}, {_cores()} cores; Python {platform.python_version()}, "
        f"graphla {gl.__version__}, {versions}"
    )


def processor() -> str:
    """Its name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
