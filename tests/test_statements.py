"""Test the number of Python calls that one statement makes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphla as gl
import semirings
from graphla import Matrix, Vector, replace
from graphla.semiring import any_secondi

MOST = 60
"""The maximum number of Python calls of a masked product, on the CPU and on CUDA."""

FOLDERS = tuple(str(Path(str(package.__file__)).parent) for package in (gl, semirings))
"""Folders with graphla's source files; `count_calls` also counts generated functions."""


def count_calls(statement: Any) -> int:
    """Return the number of calls to graphla's Python functions that a statement makes."""
    count = 0

    def see(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        file = frame.f_code.co_filename
        is_ours = file.startswith(FOLDERS) or file == "<string>" or "graphla_" in file
        while frame is not None and "simulator" not in frame.f_code.co_filename:
            frame = frame.f_back
        # `frame` is None unless the simulator made the call.
        count += event == "call" and is_ours and frame is None

    sys.setprofile(see)
    try:
        statement()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", ["bitmap", "sparse list"])
def test_a_masked_product_takes_at_most_60_python_calls(kind, loops):
    n, rng = 1000, np.random.default_rng(1)
    columns = np.concatenate([rng.choice(n, 8, replace=False) for _ in range(n)])
    A = Matrix.from_coo(np.repeat(np.arange(n), 8), columns, 1 + columns, nrows=n, ncols=n)
    chosen = rng.choice(n, 50, replace=False)
    f = Vector.from_coo(chosen, chosen, size=n)
    w, p = Vector(int, n), Vector(int, n)
    p << f
    if kind == "bitmap":
        p[:300] << 1

    def statement() -> None:
        w(~p.S, replace) << any_secondi(f @ A)

    for _ in range(3):
        statement()
    assert 20 < count_calls(statement) <= MOST
