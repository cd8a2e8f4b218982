"""Run a loop that handles one vertex after another, compiled or as plain Python.

The loops are in the files `loops/serial_*`. Their text uses only the arithmetic that Python and
Numba share. So the same text runs on arrays if it is compiled, and otherwise on lists, where Python
reads elements several times as fast as in arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart


@try_loops
def run_serial(name: str, arrays: Sequence[np.ndarray], entries: int, *numbers: int) -> int:
    """Run the loop `name` ("file.function"), and return the integer that it returns.

    `arrays` are the first arguments of the loop. The loop writes to those whose parameters are
    named `out_*` or `kept_*`. After the arrays, the loop takes a flag `kept_stop`, and then the
    integers `numbers`. `entries` is the number of entries that the loop reads.
    """
    stop = np.zeros(1, np.int64)
    if compiles(entries):
        loop = load(name, (numba_ops.nothing,), (*arrays, stop))
        return apart(lambda: loop(*arrays, stop, *numbers), stop, 1, entries)
    file, function = name.split(".")
    loop = getattr(import_module(f"graphla.backends.cpu.loops.{file}"), function)
    lists = [array.tolist() for array in arrays]
    found = loop(*lists, stop.tolist(), *numbers)
    parameters = list(inspect.signature(loop).parameters)[: len(lists)]
    for parameter, array, values in zip(parameters, arrays, lists, strict=True):
        if parameter.startswith(("out_", "kept_")):
            array[:] = values
    return found
