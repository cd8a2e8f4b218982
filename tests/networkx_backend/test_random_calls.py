"""Compare graphla with NetworkX on random calls of functions that NetworkX's tests hardly call."""

from __future__ import annotations

import inspect

import pytest

from graphla.networkx.selections import VERSION
from networkx_backend.agreement import backends, call, difference
from networkx_backend.contracts import CONTRACTS
from networkx_backend.random_calls import CASES, NAMES, arguments


@pytest.mark.cpu
@pytest.mark.parametrize("name", NAMES)
def test_ten_random_calls_of_each_function_agree_with_networkx(name: str) -> None:
    if name not in backends._registered_algorithms:
        pytest.skip(f"NetworkX {VERSION} does not have it")
    signature = inspect.signature(backends._registered_algorithms[name].orig_func)
    for case in range(CASES):
        results = []
        for backend in ("networkx", "graphla"):
            args, kwargs = arguments(name, case)
            results.append(call(name, *args, backend=backend, **kwargs))
        expected, found = results
        assert not isinstance(found, Exception), f"case {case}: {found!r}"
        if name in CONTRACTS:
            args, kwargs = arguments(name, case)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            problem = CONTRACTS[name](expected, found, bound.arguments)
        else:
            problem = difference(expected, found)
        assert problem is None, f"case {case}: {problem}"
