"""Execute the modules generated for Numba in plain Python, so that tests need not compile them."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np
from numba.core import config

from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.program import Layout

_UFUNCS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}


def _without_errors(function: Any) -> Any:
    def call(x: float) -> float:
        try:
            return function(x)
        except (ArithmeticError, ValueError):
            return np.nan

    return call


class _Math:
    """A version of math that behaves as in compiled code: a domain error returns NaN."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, _UFUNCS.get(name, name), None) or _without_errors(getattr(math, name))


def view(address: int, size: int, dtype: Any) -> np.ndarray:
    """Return the array at an address."""
    size = int(size)
    if not size:
        return np.empty(0, dtype)
    memory: Any = (ctypes.c_byte * (size * np.dtype(dtype).itemsize)).from_address(int(address))
    return np.frombuffer(memory, dtype)


def _on_numbers(function: Any) -> Any:
    """Return a function that computes with NumPy numbers, which overflow as in compiled code."""
    kinds = {int: np.int64, float: np.float64}

    def call(*arguments: Any) -> Any:
        return function(*(kinds.get(type(x), lambda x: x)(x) for x in arguments))

    return call


@lru_cache(50)
def _compiled(text: str) -> Any:
    return compile(text, "program", "exec")


_lock = Lock()  # `config` belongs to the whole process


def load(layout: Layout, name: str) -> Any:
    """Load the library and a printed program as Python. Return their functions and the indices.

    In place of the address of a function, the program uses the index of the function.
    """
    names: dict[str, Any] = {"__name__": name}
    settings: Any = config
    with _lock:
        before, settings.DISABLE_JIT = settings.DISABLE_JIT, True
        try:
            exec(_compiled(layout.library), names)
            functions = names["FUNCTIONS"]
            exec(_compiled(layout.source), names)
        finally:
            settings.DISABLE_JIT = before
    functions += names["FUNCTIONS"]

    def call(address: int, *arguments: Any) -> Any:
        return np.int64(functions[address](*arguments))

    def start(function: int, record: int, w: Any, r: Any) -> Any:
        w[words.STATUS] = call(w[function], record, 0, 0, 0, w, r)
        return w[words.STATUS]

    names |= {"view": view, "call": call, "start": start, "math": _Math()}
    names["array"] = lambda w, record, field, *rest: view(w[record + field], *rest)
    names["prefetch"] = lambda address: None
    for each in dir(words):
        if each in names and isinstance(names[each], FunctionType):
            names[each] = _on_numbers(names[each])
    functions[:] = [_on_numbers(function) for function in functions]

    def from_python(number: int) -> Any:
        def run(a: int, b: int, c: int, d: int, w: int, r: int) -> int:
            state = view(w, 1 << 20, np.int64), view(r, 1 << 20, np.float64)
            with np.errstate(all="ignore"):
                return int(functions[number](a, b, c, d, *state))

        return run

    numbers = list(range(len(functions)))
    return [from_python(number) for number in numbers], numbers
