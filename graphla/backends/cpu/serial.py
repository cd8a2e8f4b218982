"""Run a sequential graph algorithm, compiled or as plain Python.

The loops are in the files `loops/serial_*`. Their source uses only arithmetic that has the same
result in Python and in Numba. So the same source runs compiled on arrays, or as plain Python on
lists. Lists are used because plain Python reads their elements several times as fast as elements of
arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart


@try_loops
def run_serial(
    name: str,
    arrays: Sequence[np.ndarray],
    entries: int,
    *numbers: int,
    plain: Callable[..., int] | None = None,
) -> int:
    """Run the loop `name` ("file.function"), and return the integer that it returns.

    `arrays` are the first arguments of the loop. The loop writes to the arrays whose parameters are
    named `out_*` or `kept_*`. After the arrays, the loop takes a flag `kept_stop`, and then the
    integers `numbers`. `entries` is the number of entries that the loop reads. `plain` is a Python
    function that computes the same result on lists. If it is given, it replaces the loop where the
    loop would run as plain Python, because it is faster there.
    """
    stop = np.zeros(1, np.int64)
    if compiles(entries):
        loop = load(name, (numba_ops.nothing,), (*arrays, stop))
        return apart(lambda: loop(*arrays, stop, *numbers), stop, 1, entries)
    loop, outputs = _find(name)
    lists = [array.tolist() for array in arrays]
    found = (plain or loop)(*lists, [0], *numbers)
    for k in outputs:
        arrays[k][:] = lists[k]
    return found


@cache
def _find(name: str) -> tuple[Callable[..., int], list[int]]:
    """Return the function of a loop, and the positions of the arrays that it writes to."""
    file, function = name.split(".")
    loop: Any = getattr(import_module(f"graphla.backends.cpu.loops.{file}"), function)
    parameters = inspect.signature(loop).parameters
    outputs = [k for k, each in enumerate(parameters) if each.startswith(("out_", "kept_"))]
    return loop, [k for k in outputs if k < list(parameters).index("kept_stop")]
